/// The time by which calls end: a clock without the gaps in which the process did not run, because it was stopped, or
/// its machine was frozen. The process could hear no peer in a gap, so gaps do not count for callers that wait.
public struct AwakeTime: Sendable {
  /// A timer that is this much later than it was set for did not run.
  public static let tolerance = Duration.seconds(1)

  /// The sum of all gaps so far.
  private var gaps = Duration.zero
  /// The clock's last reading.
  private var last = Duration.zero

  /// Creates a time without gaps, from the same moment as the clock.
  public init() {}

  /// Returns when a timer for this time has to fire, on the clock.
  public func clock(at time: Duration) -> Duration { time + gaps }

  /// Returns the time while the clock stands at `clock`. After a gap it continues where it stood at the last call.
  /// - Parameter due: the time for which a timer is set; nil if none is.
  public mutating func time(at clock: Duration, due: Duration?) -> Duration {
    if let due, max(due + gaps, last) + Self.tolerance < clock { gaps += clock - last }
    last = max(last, clock)
    return clock - gaps
  }
}
