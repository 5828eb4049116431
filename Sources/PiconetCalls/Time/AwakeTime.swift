/// The time by which calls end: a clock without the gaps in which the process did not run, because it was stopped, or
/// its machine was frozen. Nobody could be heard meanwhile, so a gap is no time to those who wait for an answer.
public struct AwakeTime: Sendable {
  /// A timer that is this much later than it was set for did not run.
  public static let tolerance = Duration.seconds(1)

  /// All gaps so far.
  private var gaps = Duration.zero
  /// The clock when it was last looked at.
  private var last = Duration.zero

  /// A time without gaps, from the same moment as the clock.
  public init() {}

  /// When a timer for this time has to go off, on the clock.
  public func clock(at time: Duration) -> Duration { time + gaps }

  /// The time while the clock stands at `clock`. After a gap it goes on where it stood when it was last asked for.
  /// - Parameter due: the time for which a timer is set; nil if none is.
  public mutating func time(at clock: Duration, due: Duration?) -> Duration {
    if let due, max(due + gaps, last) + Self.tolerance < clock { gaps += clock - last }
    last = max(last, clock)
    return clock - gaps
  }
}
