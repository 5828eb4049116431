/// The records that a link has sealed and not yet written: they map written ciphertext to plaintext. A value.
struct UnwrittenRecords {
  /// Where each flush's ciphertext ends in the link's whole output, and how many plaintext bytes it holds.
  private var flushes: [(end: UInt64, plaintextCount: Int)] = []
  /// The index of the first one that is not written.
  private var start = 0
  private var written: UInt64 = 0

  /// Notes that plaintext was sealed.
  /// - Parameter waiting: the bytes of ciphertext that wait to be written, these included.
  mutating func sealed(_ plaintextCount: Int, waiting: Int) {
    flushes.append((written + UInt64(waiting), plaintextCount))
  }

  /// Notes that the kernel has taken this many bytes of ciphertext.
  mutating func wrote(_ count: Int) { written += UInt64(count) }

  /// Returns how many more bytes of plaintext the kernel has than at the last call.
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
