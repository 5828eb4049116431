/// What may be said without a pause, and then once in a while. A value: whoever has it brings the time.
struct NoticeAllowance: Sendable {
  /// At most so many at once.
  let burst: Int
  /// After which one more may be said.
  let interval: Duration
  private(set) var left: Int
  /// When `left` was last made more, or was at its most.
  private var refilled: ContinuousClock.Instant
  /// What was not said since the last that was.
  var suppressed = 0

  init(_ burst: Int, then interval: Duration, _ now: ContinuousClock.Instant) {
    (self.burst, self.interval, left, refilled) = (burst, interval, burst, now)
  }

  /// Nothing has been taken for so long that all is as at the beginning.
  var isRested: Bool { left == burst }

  mutating func refill(at now: ContinuousClock.Instant) {
    guard left < burst, refilled + interval <= now else { return }
    let more = min(Int((now - refilled) / interval), burst - left)
    left += more
    refilled = left == burst ? now : refilled + interval * more
  }

  /// Whether one may be said; if so, it counts as said.
  mutating func take(at now: ContinuousClock.Instant) -> Bool {
    refill(at: now)
    guard left > 0 else { return false }
    if isRested { refilled = now }
    left -= 1
    return true
  }
}
