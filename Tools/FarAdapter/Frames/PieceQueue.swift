import PiconetWire

/// Pieces of bytes in order; part of the first one may be taken.
struct PieceQueue {
  private var pieces: [Bytes] = []
  private var head = 0
  /// Bytes in all.
  private(set) var byteCount = 0

  var isEmpty: Bool { head == pieces.count }
  var first: Bytes? { isEmpty ? nil : pieces[head] }

  /// An empty piece is ignored.
  mutating func append(_ piece: Bytes) {
    guard !piece.isEmpty else { return }
    pieces.append(piece)
    byteCount += piece.count
  }

  /// Takes a prefix of the first piece; nothing of the next one.
  mutating func take(_ count: Int) {
    guard !isEmpty else { return }
    let count = min(count, pieces[head].count)
    pieces[head] = pieces[head].dropFirst(count)
    byteCount -= count
    guard pieces[head].isEmpty else { return }
    head += 1
    if head == pieces.count {
      removeAll()
    } else if head >= 256, head * 2 >= pieces.count {
      pieces.removeFirst(head)
      head = 0
    }
  }

  mutating func removeAll() {
    pieces = []
    head = 0
    byteCount = 0
  }
}
