import PiconetWire

/// Which refusals of peers are reported: a few at once, then one now and then, however many come and with however many
/// keys.
struct RefusalBudget: Sendable {
  /// How many are reported without a pause.
  static let burst = 8
  /// After this time one more may be reported.
  static let interval = Duration.seconds(10)

  private var left = burst
  /// When `left` last grew.
  private var refilled: Instant?
  private var suppressed = 0

  /// Tells the application of a peer that has come by this link and was refused, if it is told of another one.
  mutating func report(_ link: Link, _ ending: Ending, _ turn: Turn) {
    guard let node = link.node, let hello = link.hello, let suppressed = take(at: turn.now) else { return }
    turn.deliver(.peerRefused(node, name: hello.name, link.opening.traits, ending, suppressed: suppressed))
  }

  /// Another refusal.
  /// - Returns: how many went unreported since the last report; nil: this one goes unreported, too.
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
