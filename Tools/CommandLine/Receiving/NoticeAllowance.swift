/// A rate limiter for notices: a burst, and then one per interval. A value: its owner supplies the time.
struct NoticeAllowance: Sendable {
  /// The most notices at once.
  let burst: Int
  /// The time after which one more notice is allowed.
  let interval: Duration
  private(set) var left: Int
  /// When `left` last grew, or was at its maximum.
  private var refilled: ContinuousClock.Instant
  /// The number of notices that were suppressed since the last one.
  var suppressed = 0

  init(_ burst: Int, then interval: Duration, _ now: ContinuousClock.Instant) {
    (self.burst, self.interval, left, refilled) = (burst, interval, burst, now)
  }

  /// Whether nothing has been taken for so long that everything is as at the beginning.
  var isRested: Bool { left == burst }

  mutating func refill(at now: ContinuousClock.Instant) {
    guard left < burst, refilled + interval <= now else { return }
    let more = min(Int((now - refilled) / interval), burst - left)
    left += more
    refilled = left == burst ? now : refilled + interval * more
  }

  /// Takes a notice; returns whether it may be given.
  mutating func take(at now: ContinuousClock.Instant) -> Bool {
    refill(at: now)
    guard left > 0 else { return false }
    if isRested { refilled = now }
    left -= 1
    return true
  }
}
