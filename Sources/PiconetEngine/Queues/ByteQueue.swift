import PiconetWire

/// Bytes in pieces, in the order in which they came, taken from the front in any amounts.
struct ByteQueue {
  private var pieces = FirstInFirstOut<Bytes>()
  /// How many bytes of the first piece have been taken already.
  private var firstOffset = 0
  private(set) var count = 0

  mutating func append(_ bytes: Bytes) {
    guard !bytes.isEmpty else { return }
    pieces.append(bytes)
    count += bytes.count
  }

  /// Moves this many bytes to the end of `bytes`. The queue must have that many.
  mutating func take(_ wanted: Int, into bytes: inout [UInt8]) {
    var left = wanted
    while left > 0, let piece = pieces.first {
      let start = piece.startIndex + firstOffset
      let taken = min(left, piece.endIndex - start)
      bytes.append(contentsOf: piece[start..<(start + taken)])
      left -= taken
      if start + taken == piece.endIndex {
        _ = pieces.popFirst()
        firstOffset = 0
      } else {
        firstOffset += taken
      }
    }
    count -= wanted - left
  }

  mutating func removeAll() {
    pieces.removeAll()
    firstOffset = 0
    count = 0
  }
}
