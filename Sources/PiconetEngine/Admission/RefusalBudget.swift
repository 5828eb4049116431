import PiconetWire

/// Rate limiter for reports of refused peers: eight at once, then one every ten seconds. It applies to all keys
/// together.
struct RefusalBudget: Sendable {
  private var reports = Allowance(burst: 8, interval: .seconds(10))
  private var suppressed = 0

  /// Reports to the application that the peer on this link was refused, if the budget allows it.
  mutating func report(_ link: Link, _ ending: Ending, _ turn: Turn) {
    guard let node = link.node, let hello = link.hello, let suppressed = take(at: turn.now) else { return }
    turn.deliver(.peerRefused(node, name: hello.name, link.opening.traits, ending, suppressed: suppressed))
  }

  /// Counts a refusal.
  /// - Returns: how many refusals have gone unreported since the last report; nil if this one goes unreported too.
  mutating func take(at now: Instant) -> Int? {
    guard reports.take(at: now) else {
      suppressed += 1
      return nil
    }
    defer { suppressed = 0 }
    return suppressed
  }
}
