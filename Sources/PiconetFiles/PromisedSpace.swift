/// Bytes that files being received will still write and have no blocks for. They are not promised to another file.
///
/// Sizes are what peers claim: a few offers can add up to more than 64 bits hold. Fewer than 2^64 promises are ever
/// open, so this sum is exact, and what one file gives back is never taken from another's share.
struct PromisedSpace: Sendable {
  private var sum: UInt128 = 0

  /// The largest number there is, if the sum is larger.
  var byteCount: UInt64 { UInt64(clamping: sum) }

  mutating func promise(_ byteCount: UInt64) { sum += UInt128(byteCount) }

  mutating func endPromise(_ byteCount: UInt64) { sum -= min(UInt128(byteCount), sum) }
}
