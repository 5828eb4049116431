import PiconetWire

/// Which refusals of peers are reported: a few at once, then one now and then, however many come and with however many
/// keys.
struct RefusalBudget: Sendable {
  private var reports = Allowance(burst: 8, interval: .seconds(10))
  private var suppressed = 0

  /// Tells the application of a peer that has come by this link and was refused, if it is told of another one.
  mutating func report(_ link: Link, _ ending: Ending, _ turn: Turn) {
    guard let node = link.node, let hello = link.hello, let suppressed = take(at: turn.now) else { return }
    turn.deliver(.peerRefused(node, name: hello.name, link.opening.traits, ending, suppressed: suppressed))
  }

  /// Another refusal.
  /// - Returns: how many went unreported since the last report; nil: this one goes unreported, too.
  mutating func take(at now: Instant) -> Int? {
    guard reports.take(at: now) else {
      suppressed += 1
      return nil
    }
    defer { suppressed = 0 }
    return suppressed
  }
}
