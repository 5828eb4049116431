/// A point on the monotonic clock of the engine's driver: CLOCK_MONOTONIC in the runtime, virtual in the simulator.
public struct Instant: Hashable, Comparable, Sendable {
  /// Nanoseconds since an origin that only the driver knows.
  public let nanoseconds: UInt64

  public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

  public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

  /// Returns the instant after this duration, but never before the origin nor past the end of the clock.
  public static func + (instant: Instant, duration: Duration) -> Instant {
    let delta = duration.wholeNanoseconds
    if delta < 0 {
      let (difference, overflow) = instant.nanoseconds.subtractingReportingOverflow(delta.magnitude)
      return Instant(nanoseconds: overflow ? 0 : difference)
    }
    let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(UInt64(delta))
    return Instant(nanoseconds: overflow ? .max : sum)
  }

  public static func - (later: Instant, earlier: Instant) -> Duration {
    later >= earlier
      ? .nanoseconds(Int64(clamping: later.nanoseconds - earlier.nanoseconds))
      : .zero - .nanoseconds(Int64(clamping: earlier.nanoseconds - later.nanoseconds))
  }
}

extension Duration {
  /// The duration in human-readable form, to the millisecond: `30 s`, `1.5 s`, `100 ms`.
  public var inWords: String {
    let milliseconds = wholeNanoseconds / 1_000_000
    let rest = milliseconds.magnitude % 1_000
    if milliseconds.magnitude < 1_000 { return milliseconds == 0 ? "0 s" : "\(milliseconds) ms" }
    var digits = rest == 0 ? "" : ".\(String(1_000 + rest).dropFirst())"
    while digits.last == "0" { digits.removeLast() }
    return "\(milliseconds / 1_000)\(digits) s"
  }

  /// The duration in spoken form, rounded up, so that a remaining time is never 0: `45 seconds`, `1 minute`, `1 hour`,
  /// `1 hour 20 minutes`.
  public var spoken: String {
    func words(_ count: Int64, _ unit: String) -> String { "\(count) \(unit)\(count == 1 ? "" : "s")" }
    let seconds = max(1, wholeNanoseconds / 1_000_000_000 + (wholeNanoseconds % 1_000_000_000 > 0 ? 1 : 0))
    if seconds < 60 { return words(seconds, "second") }
    let minutes = seconds / 60 + (seconds % 60 > 0 ? 1 : 0)
    if minutes < 60 { return words(minutes, "minute") }
    let hours = words(minutes / 60, "hour")
    return minutes % 60 == 0 ? hours : "\(hours) \(words(minutes % 60, "minute"))"
  }

  /// Nanoseconds, clamped to the range of 64 bits (292 years).
  public var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    if overflow { return seconds < 0 ? .min : .max }
    let (sum, overflowed) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
    return overflowed ? (seconds < 0 ? .min : .max) : sum
  }
}
