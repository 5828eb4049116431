/// The time at which a resource's content was last changed: seconds and nanoseconds since 1970-01-01 00:00 UTC, without
/// leap seconds.
public struct ResourceTime: Hashable, Sendable {
  public let seconds: Int64
  /// 0 to 999,999,999.
  public let nanoseconds: UInt32

  static let nanosecondsOfSecond: UInt32 = 1_000_000_000

  /// Returns nil if there are 1,000,000,000 nanoseconds or more.
  public init?(seconds: Int64, nanoseconds: UInt32) {
    guard nanoseconds < Self.nanosecondsOfSecond else { return nil }
    (self.seconds, self.nanoseconds) = (seconds, nanoseconds)
  }

  public init(nanosecondsSince1970 nanoseconds: Int64) {
    let divisor = Int64(Self.nanosecondsOfSecond)
    let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: divisor)
    seconds = remainder < 0 ? quotient - 1 : quotient
    self.nanoseconds = UInt32(remainder < 0 ? remainder + divisor : remainder)
  }

  /// The time as one number; nil before 1677 and after 2262, which 64 bits do not hold.
  public var nanosecondsSince1970: Int64? {
    let divisor = Int64(Self.nanosecondsOfSecond)
    // Rounds towards zero, so that the smallest number does not overflow on the way.
    let (whole, part) = seconds < 0 ? (seconds + 1, Int64(nanoseconds) - divisor) : (seconds, Int64(nanoseconds))
    let (product, overflow) = whole.multipliedReportingOverflow(by: divisor)
    let (sum, isBeyond) = product.addingReportingOverflow(part)
    return overflow || isBeyond ? nil : sum
  }

  /// The value of `nanosecondsSince1970`, or the nearest representable number.
  public var nearestNanosecondsSince1970: Int64 { nanosecondsSince1970 ?? (seconds < 0 ? .min : .max) }
}
