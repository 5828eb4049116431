import PiconetWire

/// The search for a link to a peer: rounds of dials on all transports, with pauses between them that grow.
struct LinkSearch: Sendable {
  /// The round under way.
  var race: ConnectRace?
  /// When the round under way is given up.
  var roundEnds: Instant?
  /// A link that a dial of ours has opened and whose handshake is under way.
  var link: LinkID?
  /// When the next round may begin.
  var nextRound: Instant
  var rounds = 0
  /// Transports on which nobody listens any more, or another incarnation of the peer does.
  var goneKinds: Set<TransportKind> = []
  /// Another incarnation of the peer has answered.
  var isOtherSeen = false
  /// Where a better way was looked for. What is there is worth another round before its time only where it is new.
  var tried: Set<TransportAddress> = []
  /// Transports on which nobody lets us in there, as long as they lead nowhere else: each dial may ask the peer's user
  /// again.
  var refusing: Set<TransportKind> = []

  /// Whether the next round may begin when its time has come.
  var isWaiting: Bool { race == nil && link == nil }

  /// The pause after so many rounds, between a half and one and a half of what doubles each time, so that two sides
  /// that dial each other do not go on colliding.
  static func pause(after rounds: Int, within timeout: Duration, _ random: inout SeededRandom) -> Duration {
    let most = min(Duration.seconds(4), timeout / 8)
    let plain = min(most, .milliseconds(200 << min(rounds, 6)))
    return plain / 2 + .nanoseconds(Int64(random.next() % UInt64(max(1, plain.wholeNanoseconds))))
  }
}
