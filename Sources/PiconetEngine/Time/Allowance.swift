/// A rate limiter for events that nothing else bounds: `burst` at once, and one more after each interval. More can be
/// earned.
struct Allowance: Sendable {
  /// The number of events that may come at once.
  let burst: Int
  /// The time after which one more may come.
  let interval: Duration

  private var used = 0
  /// When `used` last shrank, or began to grow.
  private var since: Instant?
  /// The number of events that were earned and not used yet. They are used first, regardless of the time.
  private var earned = 0

  init(burst: Int, interval: Duration) {
    self.burst = burst
    self.interval = interval
  }

  /// - Returns: whether one was left.
  mutating func take(at now: Instant) -> Bool {
    if earned > 0 {
      earned -= 1
      return true
    }
    refill(now)
    if used == 0 { since = now }
    guard used < burst else { return false }
    used += 1
    return true
  }

  /// Takes back the count of the last event, which had an effect after all.
  mutating func giveBack() { used = max(0, used - 1) }

  /// Allows this many more events, at any time.
  mutating func earn(_ count: Int) { earned += count }

  /// When `take` next succeeds; nil if it succeeds at once.
  var nextTake: Instant? { earned > 0 || used < burst ? nil : since.map { $0 + interval } }

  private mutating func refill(_ now: Instant) {
    while used > 0, let last = since, last + interval <= now {
      used -= 1
      since = last + interval
    }
  }
}
