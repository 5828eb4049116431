/// How long a program waits for the other side. A value: its owner supplies the time, and looks when the time is over.
///
/// A check that comes far too late shows that this process did not run: it was stopped, or its machine slept. The other
/// side could not be heard meanwhile, so it gets its whole time anew.
struct WaitingTime: Sendable {
  /// An owner that is this much later than it wanted did not run.
  static let tolerance = Duration.seconds(1)

  let limit: Duration
  /// When it is over.
  private(set) var end: ContinuousClock.Instant

  init(_ limit: Duration, at now: ContinuousClock.Instant) {
    self.limit = limit
    end = now + limit
  }

  /// Begins again.
  mutating func restart(at now: ContinuousClock.Instant) { end = now + limit }

  /// The owner wanted to go on at `planned`: if it is far later, the time begins anew.
  mutating func resumed(at now: ContinuousClock.Instant, planned: ContinuousClock.Instant) {
    if now - planned > Self.tolerance { restart(at: now) }
  }

  /// Whether it is over, asked at `end` at the latest.
  mutating func isOver(at now: ContinuousClock.Instant) -> Bool {
    if now < end { return false }
    if now - end <= Self.tolerance { return true }
    restart(at: now)
    return false
  }
}
