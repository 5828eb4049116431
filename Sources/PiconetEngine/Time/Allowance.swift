/// Limits how often something may happen that nothing else bounds: `burst` times at once, and once more after each
/// interval. More can be earned.
struct Allowance: Sendable {
  /// How many may come at once.
  let burst: Int
  /// After this time one more may come.
  let interval: Duration

  private var used = 0
  /// When `used` last shrank, or began to grow.
  private var since: Instant?
  /// How many were earned and not used yet. They are used first, whatever the time.
  private var earned = 0

  init(burst: Int, interval: Duration) {
    self.burst = burst
    self.interval = interval
  }

  /// - Returns: whether there was one left.
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

  /// The last one had an effect after all, and does not count.
  mutating func giveBack() { used = max(0, used - 1) }

  /// This many more may come, at any time.
  mutating func earn(_ count: Int) { earned += count }

  /// When `take` next succeeds; nil: at once.
  var nextTake: Instant? { earned > 0 || used < burst ? nil : since.map { $0 + interval } }

  private mutating func refill(_ now: Instant) {
    while used > 0, let last = since, last + interval <= now {
      used -= 1
      since = last + interval
    }
  }
}
