/// Limits how often something is reported or redrawn. One for each thing; the clock is an argument.
package struct ProgressThrottle: Sendable {
  /// The least time between two reports.
  package let interval: Duration
  private var last: ContinuousClock.Instant?

  package init(interval: Duration = TerminalLimits.progressInterval) { self.interval = interval }

  /// Whether a report may be made now; if so, it counts as made. The first always may.
  package mutating func admits(at now: ContinuousClock.Instant) -> Bool {
    if let last, now < last + interval { return false }
    last = now
    return true
  }
}
