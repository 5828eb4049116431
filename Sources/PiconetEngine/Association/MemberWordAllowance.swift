/// How many words about other members may come to nothing: removals that are not followed, and requests to be
/// introduced. They hold nothing, but each is looked at and acknowledged, and some ask a third node.
struct MemberWordAllowance: Sendable {
  /// How many may come at once.
  let burst: Int
  /// After this time one more may come.
  let interval: Duration

  /// Of what one member says ([wire-format.md, section 12](../../../Documentation/wire-format.md)).
  static let received = MemberWordAllowance(burst: 1_024, interval: .seconds(1))
  /// Of removals of our own: far below what any member of ours takes.
  static let sent = MemberWordAllowance(burst: 512, interval: .seconds(2))

  private var used = 0
  /// When `used` last shrank, or began to grow.
  private var since: Instant?

  init(burst: Int, interval: Duration) {
    self.burst = burst
    self.interval = interval
  }

  /// - Returns: whether there was one left.
  mutating func take(at now: Instant) -> Bool {
    while used > 0, let last = since, last + interval <= now {
      used -= 1
      since = last + interval
    }
    if used == 0 { since = now }
    guard used < burst else { return false }
    used += 1
    return true
  }

  /// The last one came to something, and does not count.
  mutating func giveBack() { used = max(0, used - 1) }
}
