/// The time of an engine, or of a loop's dials. It is the driver's clock without the gaps in which the process did not
/// run, because it was stopped or its machine was frozen.
///
/// A driver calls when the announced deadline has come. If it calls far later, neither side had a chance meanwhile: the
/// remote side could not be heard, and did not hear us. Such a gap does not count as time for anything that waits here.
public struct AwakeTime: Sendable {
  /// The delay beyond its deadline after which a driver counts as not having run. A busy machine is rarely so late, and
  /// every timeout of an engine is longer.
  public static let tolerance = Duration.seconds(1)

  /// All gaps so far, in nanoseconds.
  private var gaps: UInt64 = 0
  /// The driver's clock in the last turn.
  private var last: Instant?

  /// Makes a time without gaps.
  public init() {}

  /// Returns the engine's time at this time of the driver's clock.
  public func time(at clock: Instant) -> Instant {
    Instant(nanoseconds: clock.nanoseconds - min(gaps, clock.nanoseconds))
  }

  /// Returns the time of the driver's clock at this time of the engine.
  public func clock(at time: Instant) -> Instant {
    let (sum, overflow) = time.nanoseconds.addingReportingOverflow(gaps)
    return Instant(nanoseconds: overflow ? .max : sum)
  }

  /// Moves to the time `clock` of the driver's clock. The driver had to call at `due` at the latest; nil: at any time.
  /// After a gap, the engine's time continues from the last turn.
  /// - Returns: whether there was a gap.
  public mutating func pass(to clock: Instant, due: Instant?) -> Bool {
    defer { last = clock }
    guard let last, let due, max(due, last) + Self.tolerance < clock else { return false }
    gaps += clock.nanoseconds - last.nanoseconds
    return true
  }
}
