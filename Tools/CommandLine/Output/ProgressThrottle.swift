/// Limits how often a file's progress is let through. One for each file; the clock is an argument.
struct ProgressThrottle: Sendable {
  /// The least time between two reports.
  let interval: Duration
  private var last: ContinuousClock.Instant?

  init(interval: Duration = CommandLineLimits.progressInterval) { self.interval = interval }

  /// Whether a report may be made now; if so, it counts as made. The first always may.
  mutating func admits(at now: ContinuousClock.Instant) -> Bool {
    if let last, now < last + interval { return false }
    last = now
    return true
  }
}
