/// Bytes that files being received will still write and that have no blocks yet. They are not promised to another file.
///
/// Sizes are what peers claim: a few offers can add up to more than 64 bits hold. Fewer than 2^64 promises are ever
/// open, so this sum is exact, and releasing one file's bytes never takes from another's share.
struct PromisedSpace: Sendable {
  private var sum: UInt128 = 0

  /// The sum, or the largest number if it is larger.
  var byteCount: UInt64 { UInt64(clamping: sum) }

  mutating func promise(_ byteCount: UInt64) { sum += UInt128(byteCount) }

  mutating func endPromise(_ byteCount: UInt64) { sum -= min(UInt128(byteCount), sum) }
}
