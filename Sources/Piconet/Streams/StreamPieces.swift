import PiconetWire

/// Bytes of a stream that wait for their reader, in pieces, so that nothing is moved when more come.
struct StreamPieces: Sendable {
  /// The pieces before `head` have been taken.
  private var pieces: [[UInt8]] = []
  private var head = 0
  /// The number of bytes of the first piece that have been taken already.
  private var offset = 0
  private(set) var count = 0

  /// Small parts are joined up to this size in bytes.
  private static let pieceCount = 16 << 10

  var isEmpty: Bool { count == 0 }

  /// Copies the bytes: a slice, however small, would keep alive everything that was read from the link with it.
  mutating func append(_ bytes: Bytes) {
    guard !bytes.isEmpty else { return }
    count += bytes.count
    if head < pieces.count, pieces[pieces.count - 1].count + bytes.count <= Self.pieceCount {
      pieces[pieces.count - 1].append(contentsOf: bytes)
    } else {
      pieces.append(Array(bytes))
    }
  }

  /// Takes the first piece as it is; empty if there are no pieces.
  mutating func takePiece() -> Bytes {
    guard head < pieces.count else { return [] }
    var piece: [UInt8] = []
    swap(&piece, &pieces[head])
    let taken = piece[offset...]
    count -= taken.count
    dropFirst()
    return taken
  }

  /// Takes the first bytes: all of them, or at most `limit`.
  mutating func take(upTo limit: Int) -> Bytes {
    guard head < pieces.count else { return [] }
    let first = pieces[head].count - offset
    if first == limit || first == count && first < limit { return takePiece() }
    // Copied, so that what comes later can be appended in place.
    let taken = min(limit, count)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(taken)
    while bytes.count < taken {
      let part = pieces[head][offset...].prefix(taken - bytes.count)
      bytes += part
      offset += part.count
      if offset == pieces[head].count { dropFirst() }
    }
    count -= taken
    return bytes[...]
  }

  private mutating func dropFirst() {
    pieces[head] = []
    offset = 0
    head += 1
    if head == pieces.count || head >= 64 {
      pieces.removeFirst(head)
      head = 0
    }
  }
}
