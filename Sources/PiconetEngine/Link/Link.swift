import PiconetWire

/// One secured link of one engine, which alone has it: an object, because copying it for each look at it costs more
/// than the message that it carries. Its handshake, which frames are legal on it, its liveness, and what waits to be
/// transmitted.
///
/// What every message passes is not checked for exclusive access at run time, for the reason of `Association`.
final class Link {
  /// What has happened so far. The dialling side speaks first.
  enum Phase: Equatable, Sendable {
    /// The remote side's hello has not come.
    case awaitingHello
    /// The driver judges whether the peer is trusted. Nothing is decoded meanwhile.
    case awaitingTrust
    /// Everything is known; the peer with the smaller id decides whether this link is used.
    case ready
    /// An association goes on here: we have sent `associate` with its name, and the remote side's count has not come.
    case resuming
    /// The active link of the association with its node.
    case active
  }

  let id: LinkID
  let opening: LinkOpening
  let openedAt: Instant
  private(set) var phase: Phase = .awaitingHello { didSet { watch.changed() } }
  @exclusivity(unchecked) var decoder: FrameDecoder

  /// The remote side, once its hello came.
  private(set) var node: NodeID?
  private(set) var hello: Hello?
  private(set) var judgement: TrustJudgement?

  private(set) var lastReceived: Instant
  private var lastSent: Instant
  /// When the last ping went out that nothing has answered yet.
  private var pingedAt: Instant?
  private let handshakeEnds: Instant
  /// The engine's, of which silence may take a part.
  private var disconnectTimeout: Duration { didSet { watch.changed() } }
  /// Told by what `nextDeadline` looks at, but for traffic, which only puts it off.
  private let watch: DeadlineWatch

  /// Pings that wait for their answers.
  var pings = PingTable() { didSet { if pings.nextDeadline != oldValue.nextDeadline { watch.changed() } } }

  /// The association whose active link this is.
  @exclusivity(unchecked) private(set) var association: Association? { didSet { watch.changed() } }
  /// Something of the association has gone over this link.
  private(set) var hasCarried = false
  /// The member for whose association we have dialled this link, rather than for an invitation.
  private(set) var searchedFor: NodeID?
  /// The remote side holds the association over this link, too: the active one is asked for a sign of life.
  private(set) var probe: Probe? { didSet { watch.changed() } }

  struct Probe {
    let token: UInt64
    /// When this link takes the place of one that is silent.
    let ends: Instant
  }
  /// The engine has let it go: nothing that still comes from it counts.
  private(set) var isForgotten = false

  /// Encoded frames that go before everything else.
  @exclusivity(unchecked) var control: [UInt8] = []
  /// Encoded unreliable messages that go with the next flush, or not at all, and how many they are.
  var unreliable: [UInt8] = []
  var unreliableCount = 0
  /// Bytes handed to the driver and not yet with the kernel.
  var outstanding = 0

  /// The most of them for a member.
  let largestWindow: Int

  /// How much bulk may be among them; nil: as much as of anything else.
  var bulkPace: BulkPace?
  /// Bulk frames are cut short on a slow path: a message waits for the rest of one of them.
  var bulkFrameLimit: Int {
    bulkPace.map { max(WireLimits.smallestFrame, $0.bound / 4) } ?? .max
  }

  var isDialler: Bool { opening.dial != nil }
  /// The driver has to answer before the next frame is looked at.
  var isDecodingPaused: Bool { phase == .awaitingTrust }

  /// Control frames that may wait for a link that takes none; more is the remote side's doing (pings, offers).
  static let controlLimit = 256 << 10
  /// No offer is made while more control frames than this wait: offers are the longest of them, and the only ones of
  /// which we may have many ourselves.
  static let offerLimit = 64 << 10
  /// No ping of the application is sent while more than this waits: the frames of those that were given up are still
  /// there, and the remote side is not to answer for them.
  static let pingLimit = 128 << 10
  /// Bytes that may come in while decoding is paused: `associate`, an invitation and some pings, and what is read at
  /// once.
  static let pausedLimit = 64 << 10

  init(
    id: LinkID, opening: LinkOpening, at now: Instant, _ configuration: EngineConfiguration, _ watch: DeadlineWatch
  ) {
    self.id = id
    self.opening = opening
    self.watch = watch
    openedAt = now
    lastReceived = now
    lastSent = now
    handshakeEnds = now + configuration.handshakeTimeout
    disconnectTimeout = configuration.disconnectTimeout
    decoder = FrameDecoder(frameLimit: configuration.frameLimit)
    largestWindow = min(configuration.transmitWindow, opening.traits.transmitWindow ?? .max)
  }

  /// Whether the frame may come in this phase. Version 1 has two stages: before and after `associate`.
  func isLegal(_ frame: Frame) -> Bool {
    switch frame {
    case .close: true
    case .hello: phase == .awaitingHello
    case .ping, .pong: phase == .ready || phase == .resuming || phase == .active
    case .associate: phase == .ready
    case .associated: phase == .resuming || phase == .active
    case .unknownOptional: phase != .awaitingHello
    case .message, .fragment, .unreliableMessage, .messageCredit, .acknowledge, .invite, .accept, .decline, .withdraw,
      .codeNonce, .codeReveal, .admit, .inviteByCode, .codeAnswer, .codeConfirm, .leave, .removeMember,
      .removed, .offer, .acceptOffer, .declineOffer, .chunk, .position, .transferCredit, .end, .stored, .present,
      .restart, .comparing, .abandon, .refuse, .senderPaused, .receiverPaused, .openStream, .streamData, .endStream,
      .resetStream, .streamCredit, .stopStream, .streamDone:
      phase == .active
    }
  }

  // MARK: Handshake

  func sendHello(
    as node: NodeID, begun: UInt64, holding held: Association?, _ configuration: EngineConfiguration, _ turn: Turn
  ) {
    let hello = Hello(
      incarnation: node.incarnation, name: configuration.name, scope: configuration.scope,
      capabilities: [.resume, .removal, .streams, .typedCodes],
      limits: configuration.peerLimits(on: opening.traits), associationsBegun: begun,
      held: held.map { HeldAssociation(id: $0.id, received: $0.sequenced.received) },
      greeting: configuration.greeting)
    queue(.hello(hello))
    turn.flush(self)
  }

  /// Takes the remote side's hello: everything else goes by it.
  /// - Returns: why the link can't be used, and in which words; nil where it can.
  func received(_ hello: Hello, at node: NodeID, _ scope: String) -> (reason: Reason, words: String)? {
    guard hello.versions.overlaps(Hello.supportedVersions) else {
      return (.version, "versions \(hello.versions) and \(Hello.supportedVersions)")
    }
    guard hello.scope.utf8.elementsEqual(scope.utf8) else { return (.wrongSession, "") }
    let remote = NodeID(peer: opening.peer, incarnation: hello.incarnation)
    guard remote != node else { return (.selfConnection, "this is our own address") }
    self.node = remote
    self.hello = hello
    return nil
  }

  /// The driver judges whether the peer is trusted.
  func awaitTrust() { phase = .awaitingTrust }

  /// It is trusted.
  func judged(_ judgement: TrustJudgement) {
    self.judgement = judgement
    phase = .ready
  }

  /// A search has dialled it.
  func search(for node: NodeID) { searchedFor = node }

  /// The association begins or goes on here.
  func activate(_ association: Association) {
    phase = .active
    self.association = association
  }

  /// The first bytes of the association go.
  func carry() { hasCarried = true }

  /// The engine lets it go.
  func forget() {
    isForgotten = true
    association = nil
  }

  /// The association is to go on here: the remote side is asked.
  func askToResume(_ association: Association, _ turn: Turn) {
    probe = nil
    phase = .resuming
    queue(.associate(association.id, received: association.sequenced.received))
    turn.flush(self)
  }

  /// This link takes the place of the active one if that gives no sign of life.
  func waitForSign(of active: Link, until ends: Instant, _ turn: Turn) {
    let token = active.pings.begin(nil, at: turn.now)
    probe = Probe(token: token, ends: ends)
    active.queue(.ping(token))
    turn.flush(active)
  }

  /// The active link has given no sign of life.
  func endProbe() { probe = nil }

  // MARK: Liveness

  /// Bytes have come.
  func heard(_ now: Instant) {
    lastReceived = now
    pingedAt = nil
  }

  /// Frames go to the driver.
  func spoke(_ now: Instant) { lastSent = now }

  func setDisconnectTimeout(_ timeout: Duration) { disconnectTimeout = timeout }

  /// When something has to happen if nothing does: the end of the handshake, a ping, or the end of patience.
  var nextDeadline: Instant {
    let own =
      phase == .active
      ? min(lastReceived + patience, nextPing) : probe.map { min($0.ends, handshakeEnds) } ?? handshakeEnds
    return pings.nextDeadline.map { min($0, own) } ?? own
  }

  enum Due: Equatable {
    /// The handshake has taken too long.
    case handshake
    /// The active link has given no sign of life.
    case probe
    /// Nothing was heard for so long.
    case silence(Duration)
    case ping
  }

  /// What is due now, or soon in the case of a ping; nothing else depends on it.
  func due(at now: Instant, soon: Instant) -> Due? {
    guard phase == .active else {
      if handshakeEnds <= now { return .handshake }
      return probe.map { $0.ends <= now } == true ? .probe : nil
    }
    if lastReceived + patience <= now { return .silence(patience) }
    return nextPing <= soon ? .ping : nil
  }

  /// A ping of the heartbeat.
  func ping(_ now: Instant) {
    queue(.ping(pings.begin(nil, at: now)))
    pingedAt = now
    // Counted as sent although the link may not take it now: a ping a quarter of the timeout is enough.
    lastSent = now
  }

  /// The silence after which this link is dead.
  private var patience: Duration {
    EngineConfiguration.silence(isDurable: association?.isDurable == true, within: disconnectTimeout)
  }

  /// The remote side must hear of us well within its patience, and we want to hear of it within ours.
  private var nextPing: Instant {
    let stated = hello?.limits.silence ?? PeerLimits().silence
    let legal = min(max(stated, WireLimits.silence.lowerBound), WireLimits.silence.upperBound)
    let theirs = Duration.milliseconds(Int64(clamping: legal)) / 4
    let ours = patience / 4
    let toBeHeard = lastSent + theirs
    let toHear = max(lastReceived, pingedAt ?? lastReceived) + ours
    return min(toBeHeard, toHear)
  }
}
