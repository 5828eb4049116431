/// What a link has sealed and not yet written: how much plaintext has gone to the kernel once this much ciphertext has.
/// A value.
struct UnwrittenRecords {
  /// Where each flush's ciphertext ends in the link's whole output, and how many plaintext bytes it holds.
  private var flushes: [(end: UInt64, plaintextCount: Int)] = []
  /// The first of those that is not written.
  private var start = 0
  private var written: UInt64 = 0

  /// Plaintext was sealed.
  /// - Parameter waiting: the bytes of ciphertext that wait to be written, this included.
  mutating func sealed(_ plaintextCount: Int, waiting: Int) {
    flushes.append((written + UInt64(waiting), plaintextCount))
  }

  /// The kernel has taken this many bytes of ciphertext.
  mutating func wrote(_ count: Int) { written += UInt64(count) }

  /// How many more bytes of plaintext are with the kernel than when this was last called.
  mutating func takeWritten() -> Int {
    var count = 0
    while start < flushes.count, flushes[start].end <= written {
      count += flushes[start].plaintextCount
      start += 1
    }
    if start == 1, flushes.count == 1 {
      // The usual case, and cheaper than removing all.
      flushes.removeLast()
      start = 0
    } else if start > 0, start == flushes.count || start >= 64 {
      flushes.removeSubrange(..<start)
      start = 0
    }
    return count
  }
}
