import PiconetWire

/// The search for a link to a peer: rounds of dials on all transports, with growing pauses between them.
struct LinkSearch: Sendable {
  /// The purpose of a round and its bounds.
  struct Terms {
    /// Whether there is a link, so that the search is for a better one.
    let isForBetter: Bool
    let disconnectTimeout: Duration
    let preference: [TransportKind]
    let headStart: Duration
  }

  private let node: NodeID
  /// The round under way.
  private var race: ConnectRace?
  /// When the round under way will be given up.
  private var roundEnds: Instant?
  /// The link that our dial has opened and whose handshake is under way.
  private var link: LinkID?
  /// When the next round may begin.
  private var nextRound: Instant
  private var rounds = 0
  /// Transports on which nothing listens any more, or only another incarnation of the peer.
  private(set) var goneKinds: Set<TransportKind> = []
  /// When a host last refused on a transport.
  private(set) var goneAt: Instant?
  /// A round was cut short once to ask a host again.
  private var hasAskedAgain = false
  /// Another incarnation of the peer has answered.
  private(set) var isOtherSeen = false
  /// The addresses of the last round for a better link. Only new ones justify an early round.
  private var tried: Set<TransportAddress> = []
  /// Transports on which the peer does not let us in. They are not dialled until they have a new address,
  /// because each dial may prompt the peer's user again.
  private var refusing: Set<TransportKind> = []

  init(for node: NodeID, nextRound: Instant) {
    self.node = node
    self.nextRound = nextRound
  }

  /// Whether the next round may begin when it is due.
  var isWaiting: Bool { race == nil && link == nil }

  /// When the search continues; nil while a link's handshake is under way.
  var nextDeadline: Instant? {
    if link != nil { return nil }
    guard let race else { return nextRound }
    return [race.nextDeadline, roundEnds].compactMap { $0 }.min()
  }

  /// Returns the pause after this many rounds. Its base doubles with each round, up to 4 s or an eighth of the timeout.
  /// The pause is drawn between half and one and a half of the base, so that two sides that dial each other do not keep
  /// colliding.
  static func pause(after rounds: Int, within timeout: Duration, _ random: inout SeededRandom) -> Duration {
    let most = min(Duration.seconds(4), timeout / 8)
    let plain = min(most, .milliseconds(200 << min(rounds, 6)))
    return plain / 2 + .nanoseconds(Int64(random.next() % UInt64(max(1, plain.wholeNanoseconds))))
  }

  // MARK: Rounds

  /// Continues the search as time has passed.
  /// - Parameters:
  ///   - addresses: the addresses that the next round dials.
  ///   - isLeftOut: called once for each address when that round begins.
  /// - Returns: whether a round has ended without a link.
  mutating func proceed(
    to addresses: @autoclosure () -> [TransportAddress], unless isLeftOut: (TransportAddress) -> Bool, _ terms: Terms,
    _ turn: Turn
  ) -> Bool {
    if link != nil { return false }
    if race == nil {
      guard nextRound <= turn.now else { return false }
      beginRound(addresses(), unless: isLeftOut, terms, turn)
    } else if let roundEnds, roundEnds <= turn.now {
      endRound(terms, turn)
      return true
    }
    return dialOn(terms, turn)
  }

  private mutating func beginRound(
    _ addresses: [TransportAddress], unless isLeftOut: (TransportAddress) -> Bool, _ terms: Terms, _ turn: Turn
  ) {
    // These include the addresses left out: they don't justify an early round.
    if terms.isForBetter { tried = Set(addresses) }
    goneKinds = []
    let dialled = addresses.filter { !isLeftOut($0) }
    race = ConnectRace(addresses: dialled, preference: terms.preference, headStart: terms.headStart)
    roundEnds = turn.now + max(terms.disconnectTimeout / 2, .milliseconds(50))
  }

  /// - Returns: whether the round has ended without a link.
  private mutating func dialOn(_ terms: Terms, _ turn: Turn) -> Bool {
    while let (kind, addresses) = race?.next(at: turn.now) { turn.dial(kind, addresses, for: .search(node)) }
    guard race?.isLost == true else { return false }
    endRound(terms, turn)
    return true
  }

  private mutating func endRound(_ terms: Terms, _ turn: Turn) {
    // A peer that has not answered may be waiting for its user.
    for kind in race?.running ?? [] where kind.mayAskUser { refusing.insert(kind) }
    stopDialling(turn)
    pause(terms, turn)
  }

  private mutating func stopDialling(_ turn: Turn) {
    turn.cancelDials(for: .search(node))
    race = nil
    roundEnds = nil
  }

  private mutating func pause(_ terms: Terms, _ turn: Turn) {
    let pause =
      terms.isForBetter
      ? Duration.seconds(10 << min(rounds, 5))
      : Self.pause(after: rounds, within: terms.disconnectTimeout, &turn.random)
    rounds += 1
    nextRound = turn.now + pause
  }

  /// Ends the search and cancels its dials.
  mutating func end(_ turn: Turn) { stopDialling(turn) }

  // MARK: Answers

  /// - Returns: whether the round has ended without a link.
  mutating func dialFailed(
    _ dial: DialTable.Dial, _ failure: LinkFailure, at address: String?, _ terms: Terms, _ turn: Turn
  ) -> Bool {
    let kind = dial.kind
    switch failure.code {
    case .refused, .authentication: refusing.insert(kind)
    case .timedOut where kind.mayAskUser: refusing.insert(kind)
    case .timedOut, .unreachable, .reset, .busy, .noService, .hostDown, .permission, .notAvailable, .cancelled,
      .tooManyDescriptors, .connectionLimit, .other:
      break
    }
    // A dial may end after its round.
    race?.failed(kind, dial.addresses, failure, at: address)
    // A refusal at some of several addresses means nothing: those addresses may have been invented.
    if failure.code == .refused, kind != .relay, race?.isRefusedEverywhere(kind) == true {
      goneKinds.insert(kind)
      goneAt = turn.now
    }
    return dialOn(terms, turn)
  }

  /// Notes that a dial has opened a link to the peer.
  mutating func dialled(_ link: LinkID, _ turn: Turn) {
    stopDialling(turn)
    self.link = link
  }

  /// Handles an answer by another peer at one of the addresses, which may have been planted. The other addresses are
  /// dialled in the same round.
  /// - Returns: whether the round has ended without a link.
  mutating func strangerAnswered(_ dial: DialTable.Dial, at address: String, _ terms: Terms, _ turn: Turn) -> Bool {
    refusing.insert(dial.kind)
    race?.answeredByStranger(
      dial.kind, dial.addresses, at: address, LinkFailure(.authentication, "another key answers there"))
    return dialOn(terms, turn)
  }

  /// Handles the end of a link. If the search had opened it, the link was of no use.
  mutating func linkEnded(_ link: LinkID, _ terms: Terms, _ turn: Turn) {
    guard self.link == link else { return }
    self.link = nil
    pause(terms, turn)
  }

  /// Notes that another incarnation of the peer has answered where this one was.
  mutating func otherAnswered(over kind: TransportKind) {
    isOtherSeen = true
    goneKinds.insert(kind)
  }

  /// Brings the next round forward because the peer was sighted. The round is brought forward only to a limit, since
  /// any device can make up a sighting.
  mutating func sighted(_ terms: Terms, _ turn: Turn) {
    guard isWaiting else { return }
    nextRound = min(nextRound, turn.now + Self.pause(after: 0, within: terms.disconnectTimeout, &turn.random))
  }

  /// Makes the next round begin at this time at the latest. The present round is over by then.
  mutating func goOn(by time: Instant) {
    if isWaiting { nextRound = min(nextRound, time) }
    if let end = roundEnds { roundEnds = min(end, time) }
  }

  /// The round under way is over by this time, so that the next one asks over this transport again: but once only,
  /// since dials over other transports are cut short by that, and only if nothing more is dialled over this one.
  mutating func askAgain(over kind: TransportKind, by time: Instant) {
    guard !hasAskedAgain, let race, !race.running.contains(kind) else { return }
    hasAskedAgain = true
    goOn(by: time)
  }

  // MARK: A better way

  /// Returns whether the search has not dialled this address yet.
  func isNew(_ address: TransportAddress) -> Bool { !tried.contains(address) }

  /// Returns the addresses that justify a round.
  func worthTrying(_ addresses: [TransportAddress]) -> [TransportAddress] {
    if refusing.isEmpty { return addresses }
    return addresses.filter { address in
      !refusing.contains(address.kind) || addresses.contains { $0.kind == address.kind && isNew($0) }
    }
  }
}
