/// How much may be said without a pause, and then once in a while. A value: its owner supplies the time.
struct NoticeAllowance: Sendable {
  /// The most that are said at once.
  let burst: Int
  /// After this time one more may be said.
  let interval: Duration
  private(set) var left: Int
  /// When `left` last grew, or was at its maximum.
  private var refilled: ContinuousClock.Instant
  /// How many were not said since the last one that was.
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

  /// Whether one may be said; if so, it counts as said.
  mutating func take(at now: ContinuousClock.Instant) -> Bool {
    refill(at: now)
    guard left > 0 else { return false }
    if isRested { refilled = now }
    left -= 1
    return true
  }
}
