/// Which refusals of peers are told: a few at once, then one now and then, however many come with however many keys.
struct RefusalBudget: Sendable {
  /// Told without a pause.
  static let burst = 8
  /// After which one more may be told.
  static let interval = Duration.seconds(10)

  private var left = burst
  /// When `left` was last made more.
  private var refilled: Instant?
  private var suppressed = 0

  /// Another refusal.
  /// - Returns: how many since the last told one were not told; nil: this one isn't, either.
  mutating func take(at now: Instant) -> Int? {
    while let last = refilled, left < Self.burst, last + Self.interval <= now {
      left += 1
      refilled = last + Self.interval
    }
    if left == Self.burst { refilled = now }
    guard left > 0 else {
      suppressed += 1
      return nil
    }
    left -= 1
    defer { suppressed = 0 }
    return suppressed
  }
}
