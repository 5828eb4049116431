/// The time of an engine, or of a loop's dials: the driver's clock without the gaps in which the process did not run,
/// because it was stopped, or its machine was frozen.
///
/// A driver calls when the announced deadline has come. If it calls far later, neither side had a chance meanwhile:
/// the remote side could not be heard, and did not hear us. Such a gap is no time to anything that waits here.
public struct AwakeTime: Sendable {
  /// A driver that is this much later than its deadline did not run. A busy machine is rarely so late, and every
  /// patience of an engine is longer than that.
  public static let tolerance = Duration.seconds(1)

  /// All gaps so far, in nanoseconds.
  private var gaps: UInt64 = 0
  /// The driver's clock in the last turn.
  private var last: Instant?

  /// Time without gaps so far.
  public init() {}

  /// The engine's time at this time of the driver's clock.
  public func time(at clock: Instant) -> Instant {
    Instant(nanoseconds: clock.nanoseconds - min(gaps, clock.nanoseconds))
  }

  /// The time of the driver's clock at this time of the engine.
  public func clock(at time: Instant) -> Instant {
    let (sum, overflow) = time.nanoseconds.addingReportingOverflow(gaps)
    return Instant(nanoseconds: overflow ? .max : sum)
  }

  /// The driver's clock stands at `clock`, and the driver was to call at `due` at the latest; nil: at any time. After a
  /// gap the engine's time goes on where it stood in the last turn.
  /// - Returns: whether there was a gap.
  public mutating func pass(to clock: Instant, due: Instant?) -> Bool {
    defer { last = clock }
    guard let last, let due, max(due, last) + Self.tolerance < clock else { return false }
    gaps += clock.nanoseconds - last.nanoseconds
    return true
  }
}
