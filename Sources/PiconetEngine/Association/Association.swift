import PiconetWire

/// What two nodes share while they are connected: sequence numbers, credit, membership, what waits to be sent. It
/// belongs to one engine, and is an object for the reason given at `Link`.
///
/// Fields on the path of every message skip the exclusivity check (78 instructions each). That is safe: one engine owns
/// them and hands over one fact at a time, and their methods can't reach the association again.
final class Association {
  let id: AssociationID
  let node: NodeID
  /// The active link, or the one on which the association is to go on; nil while there is none.
  private(set) var link: Link? { didSet { watch.changed() } }
  /// The settings it began with. The disconnect timeout may have changed since.
  let configuration: EngineConfiguration
  /// Removed from every table.
  private(set) var isOver = false
  private(set) var peer: ProvenPeer
  let begunAt: Instant
  /// The remote side's limits.
  let limits: PeerLimits

  /// How many associations the remote side had begun with us when it confirmed this one; nil until then.
  private var remoteBegun: UInt64?

  /// Counters, for statistics.
  var counts = AssociationCounts()

  @exclusivity(unchecked) var sequenced: SequencedFrames
  /// Both sides resume: the association outlives its links.
  let isDurable: Bool
  /// There is no link.
  private(set) var suspension: Suspension? { didSet { watch.changed() } }
  /// How long that may last.
  private(set) var disconnectTimeout: Duration { didSet { watch.changed() } }
  /// Another link is looked for: because there is none, or for a better one. Only `Association+Search` changes it.
  var search: LinkSearch? { didSet { watch.changed() } }
  private(set) var addresses: PeerAddresses { didSet { watch.changed() } }
  /// The remote side knows of ports of ours.
  var hasToldPorts = false
  /// At least one link has been taken over: chunks may begin anywhere that a `position` says.
  private(set) var hasResumed = false

  // Membership.
  private(set) var isMember = false { didSet { watch.changed() } }
  /// Which membership of this run it is (`Turn.membershipCount`); 0: none.
  private(set) var membershipNumber: UInt64 = 0
  /// What may lead to it, changed by `negotiate` alone.
  private(set) var invitations: Invitations
  /// What the trust policy has said on the last link.
  private(set) var judgement: TrustJudgement?
  /// When anything but a heartbeat was last sent or received.
  private(set) var lastMoved: Instant
  @exclusivity(unchecked) private(set) var leaving: Leaving? { didSet { watch.changed() } }
  /// The member that wanted us removed, as the remote side says.
  private(set) var removedBy: NodeID?
  /// What either side may still say that neither credit nor an answer bounds.
  var allowances = WordAllowances()
  /// Pauses wait until then.
  var pausesHeldUntil: Instant? { didSet { watch.changed() } }
  /// What the remote side can do beyond its version.
  let capabilities: Capabilities

  // Messages.
  @exclusivity(unchecked) var outbox: Outbox
  @exclusivity(unchecked) var inbox: Inbox
  /// Queues of the other channels; `outbox` and `inbox` serve channel 0.
  @exclusivity(unchecked) var outgoingChannels: OutgoingChannels
  @exclusivity(unchecked) var incomingChannels: IncomingChannels
  /// Numbers and counts of unreliable messages.
  var unreliable = UnreliableTraffic()
  @exclusivity(unchecked) var streams: StreamTable
  @exclusivity(unchecked) var tunnels: TunnelTable
  @exclusivity(unchecked) var transfers = AssociationTransfers()
  /// The bounds of what is kept until it is acknowledged.
  let keeping: KeepingLimits
  /// Told of changes to what `nextDeadline` depends on.
  private let watch: DeadlineWatch

  struct Leaving: Sendable {
    let command: CommandID?
    let reason: Reason
    /// The node that wanted it, if the reason is a removal.
    let by: NodeID?
    let deadline: Instant
    /// The leave frame was sent; the remote side closes the link.
    fileprivate(set) var isTold = false
  }

  /// A new one, on the terms of both hellos.
  init(
    id: AssociationID, node: NodeID, of ownNode: NodeID, on link: Link, _ hello: Hello,
    _ configuration: EngineConfiguration,
    _ watch: DeadlineWatch, at now: Instant
  ) {
    let traits = link.opening.traits
    let messageLimit = min(configuration.messageLimit, Int(clamping: hello.limits.message))
    let frameLimit = min(configuration.frameLimit, Int(clamping: hello.limits.frame))
    self.id = id
    self.node = node
    self.link = link
    self.configuration = configuration
    self.watch = watch
    peer = ProvenPeer(
      node: node, name: hello.name, traits: traits, association: id, isKnown: link.judgement == .known,
      messageLimit: messageLimit, unreliableLimit: min(messageLimit, frameLimit - UnreliableTraffic.numberCount))
    peer.greeting = hello.greeting
    peer.channelLimit = Int(clamping: hello.limits.channels)
    // Our windows are made for frames of our own limit: a longer one, legal for the remote side, might never fit into
    // them.
    var limits = hello.limits
    limits.frame = min(limits.frame, UInt64(configuration.frameLimit))
    self.limits = limits
    capabilities = hello.capabilities
    isDurable = hello.capabilities.contains(.resume)
    disconnectTimeout = configuration.disconnectTimeout
    judgement = link.judgement
    begunAt = now
    lastMoved = now
    sequenced = SequencedFrames(isDurable: isDurable)
    outbox = Outbox(limit: limits.messageWindow)
    inbox = Inbox(window: UInt64(configuration.messageWindow(on: traits)))
    outgoingChannels = OutgoingChannels(
      limit: limits.channels, window: limits.channelWindow, priorities: configuration.channelPriorities)
    incomingChannels = IncomingChannels(
      limit: configuration.channelLimit, window: UInt64(configuration.channelWindow(on: traits)))
    streams = StreamTable(
      limit: hello.capabilities.contains(.streams) ? limits.streams : nil, outgoingWindow: limits.streamWindow,
      incomingWindow: UInt64(configuration.firstStreamWindow(on: traits)))
    tunnels = TunnelTable(isSmaller: ownNode < node)
    addresses = PeerAddresses(linkedOver: traits, transports: configuration.transports)
    invitations = Invitations(configuration, watch, provesCodes: capabilities.contains(.typedCodes), at: now)
    keeping = KeepingLimits(configuration)
  }

  /// The active link; nil while there is none.
  var activeLink: Link? { link?.association === self ? link : nil }

  /// The remote side believes that it is a member, by an invitation that we had withdrawn, and we are leaving it:
  /// frames that only a member may send break no rule, and are dropped.
  var dropsMemberFrames: Bool { !isMember && leaving != nil }

  /// The longest frame body that we may send.
  var frameLimit: Int { Int(clamping: min(limits.frame, UInt64(WireLimits.largestFrame))) }

  /// One side has accepted, and waits for the other: a place is reserved, so that there is one when both have.
  var holdsPlace: Bool { !isMember && leaving == nil && invitations.holdsPlace }

  /// Grows with the sequenced frames, unreliable messages and chunks that come.
  var movedCount: UInt64 { sequenced.received &+ unreliable.counts.received &+ transfers.chunkCount }

  // MARK: Time

  /// Not a member, and no invitation waits for an answer.
  var isIdle: Bool { !isMember && invitations.isIdle }

  /// Idle, not being left, and not about to be invited by us.
  var isUnused: Bool { isIdle && leaving == nil && invitations.own == nil }

  /// When something is due if nothing happens before. It depends on nothing that a message changes.
  func nextDeadline(_ surroundings: Surroundings) -> Instant? {
    var next = suspensionDeadline(surroundings)
    func consider(_ instant: Instant?) {
      if let instant { next = next.map { min($0, instant) } ?? instant }
    }
    consider(invitations.nextDeadline(node, surroundings.budgets))
    consider(leaving?.deadline)
    consider(pausesHeldUntil)
    if isUnused { consider(invitations.idleSince + configuration.idleTimeout) }
    return next
  }
}

extension Association {
  /// Something may be due.
  /// - Returns: why the association ends; nil where it does not.
  func deadlineReached(_ surroundings: Surroundings, _ turn: Turn) -> Ending? {
    if let held = pausesHeldUntil, held <= turn.now { sendPauses(turn) }
    return endInTime(turn) ?? search(.timePassed, surroundings, turn)
  }

  private func endInTime(_ turn: Turn) -> Ending? {
    if let leaving { return leaving.deadline <= turn.now ? Ending(leaving.reason, .us, by: leaving.by) : nil }
    if let due = invitations.nextIncomingDeadline(node, turn.budgets), due <= turn.now {
      negotiate(.incomingTimedOut, turn)
      return nil
    }
    return isUnused && invitations.idleSince + configuration.idleTimeout <= turn.now ? Ending(.idle, .nobody) : nil
  }
}

// MARK: - Membership

extension Association {
  /// Tells the invitations of both sides of something, and does what comes of it here.
  /// - Returns: what is left to the engine.
  func negotiate(_ fact: InvitationFact, _ turn: Turn) -> MembershipRequest? {
    let (steps, request) = invitations.handle(fact, remote(turn), turn)
    carryOut(steps, turn)
    return request
  }

  /// The same for what ends them, which leaves nothing to the engine.
  private func negotiate(_ end: InvitationEnd, _ turn: Turn) {
    carryOut(invitations.handle(end, remote(turn), turn), turn)
  }

  /// What invitations need to know about the remote side.
  private func remote(_ turn: Turn) -> Invitations.Remote {
    // Vouched for by a member and accepted by the application: no code, no question.
    let introduction = turn.introduced.entries[node]
    let isAccepted = introduction?.isAccepted == true
    return Invitations.Remote(
      peer: peer, judgement: judgement != nil && isAccepted ? .known : judgement,
      isIntroduced: introduction != nil && (isAccepted || configuration.holdsIntroducedInvitations),
      link: activeLink?.id, isMember: isMember, membershipNumber: membershipNumber,
      isLeaving: leaving != nil)
  }

  private func carryOut(_ steps: [Invitations.Step], _ turn: Turn) {
    for step in steps {
      switch step {
      case .send(let frame): send(frame, turn)
      case .leave(let ending): beginLeaving(ending, turn)
      case .join(let agreement): join(agreement, turn)
      }
    }
  }

  /// The node is a member.
  private func join(_ agreement: Invitations.Agreement, _ turn: Turn) {
    isMember = true
    membershipNumber = turn.countMembership()
    moved(turn.now)
    if let context = agreement.context { peer.invitationContext = context }
    if let introduction = turn.introduced.entries[node], introduction.isAccepted {
      peer.introducedBy = introduction.firstIntroducer
    }
    peer.code = agreement.code
    if agreement.isProven { peer.isProven = true }
    turn.deliver(.connected(peer))
    if let suspension { turn.deliver(.suspended(node, suspension.cause)) }
    tellListening(turn)
    agreement.own?.succeed(node, turn)
    if let command = agreement.accepting { turn.reply(command, .done) }
  }
}

// MARK: - The end

extension Association {
  /// From here on nothing new begins, and transfers and streams end; the goodbye goes when the messages before it have
  /// gone.
  func beginLeaving(_ ending: Ending, command: CommandID? = nil, _ turn: Turn) {
    leaving = Leaving(
      command: command, reason: ending.reason, by: ending.by, deadline: turn.now + configuration.leaveTimeout)
    turn.flush(link)
    endTraffic(Ending(ending.reason, ending.blame), turn)
  }

  /// Leaves at our own wish; the command is answered at the end.
  /// - Returns: false where there is no link to say so on. The remote side learns it when it finds us, or by its
  ///   timeout.
  func leave(_ ending: Ending, command: CommandID?, _ turn: Turn) -> Bool {
    if suspension != nil { return false }
    beginLeaving(ending, command: command, turn)
    negotiate(.leaving(ending.reason), turn)
    return true
  }

  /// The leave frame has been sent.
  func leavingIsTold() {
    guard var leaving else { return }
    leaving.isTold = true
    self.leaving = leaving
  }

  /// The leave that follows is the wish of another member.
  func receivedRemoved(_ member: MemberName, _ turn: Turn) throws(Breach) {
    guard try speaksAsMember() else { return }
    try countMemberWord(turn)
    removedBy = NodeID(member)
  }

  /// What the application has under way with the remote side ends now.
  private func endTraffic(_ ending: Ending, _ turn: Turn) {
    for transfer in transfers.order { abandon(transfer, ending, turn) }
    refuseTransfers(ending, turn)
    resetStreams(ending, turn)
    stopStreams(ending, turn)
    // Links of ours in tunnels end first, where all end.
    closeTunnels(ending, turn) { ending.reason != .shuttingDown || $0.isRelayed }
  }

  /// Removed from every table: all that it carried ends.
  func end(_ ending: Ending, _ turn: Turn) {
    isOver = true
    endSearch(turn)
    dropTransfers(ending, turn)
    dropStreams(ending, turn)
    dropTunnels(ending, turn)
    negotiate(.associationEnded(ending), turn)
    if isMember { turn.deliver(.disconnected(node, ending)) }
    if let command = leaving?.command { turn.reply(command, .done) }
  }
}

// MARK: - Another link

extension Association {
  /// How it ends here when the remote side no longer knows it.
  static let lostByPeer = Ending(.linkFailed, .link, "the other side lost the connection")

  /// In answer to a new association. That to a resumed one comes before the link is active.
  /// - Parameter node: our own, which has asked only if it is the smaller one.
  func receivedAssociated(_ count: UInt64, at node: NodeID) throws(Breach) {
    guard node < self.node, remoteBegun == nil else { throw Breach("associated twice, or without an associate") }
    remoteBegun = count
  }

  /// Whether the remote side's count is that of this association; otherwise it has begun another one.
  func isCounted(as begun: UInt64) -> Bool { remoteBegun ?? begun == begun }

  /// In answer to a resumed one, of which the remote side has received this many frames.
  func confirmed(begun count: UInt64, _ received: UInt64, on link: Link) {
    remoteBegun = count
    if received == 0, let limits = link.hello?.limits { agree(on: link, limits) }
  }

  /// Anything but a heartbeat was sent or received.
  func moved(_ now: Instant) { lastMoved = now }

  /// Another link takes the place of its own, which no longer counts.
  /// - Returns: the previous one; nil where there was none, or it is the same.
  func take(_ link: Link) -> Link? {
    defer { self.link = link }
    return self.link === link ? nil : self.link
  }

  /// The remote side has received nothing yet, and may have begun with the hellos of this link rather than with those
  /// of the one on which we began: what either allows is taken, and no more is sent than both allow.
  private func agree(on link: Link, _ limits: PeerLimits) {
    let window = UInt64(configuration.firstStreamWindow(on: link.opening.traits))
    streams.agree(outgoingWindow: limits.streamWindow, incomingWindow: window)
    outgoingChannels.agree(window: limits.channelWindow)
    incomingChannels.agree(window: UInt64(configuration.channelWindow(on: link.opening.traits)))
    if !isMember { outbox.restrict(to: limits.messageWindow) }
  }

  /// Whether it goes on without its link.
  private func outlives(_ ending: Ending) -> Bool {
    guard isDurable, disconnectTimeout > .zero else { return false }
    // After a goodbye we wait for the remote side to close the link.
    return leaving?.isTold != true || ending.blame != .peer
  }

  /// What becomes of another link whose handshake is complete, where there is an association already.
  enum LinkUse {
    /// The association goes on here.
    case resume
    /// It waits until it is known whether the active link lives.
    case wait
    case refuse
    /// The remote side has lost the association, and another one may begin.
    case begin
  }

  /// The smaller node decides.
  func use(of link: Link, _ hello: Hello) -> LinkUse {
    if goesOn(on: link, hello) { return .resume }
    let isHeld = hello.held?.id == id
    if isDurable, isHeld, self.link != nil { return .wait }
    // A hello that counts this association but does not hold it came from a node that has lost it. One that does not
    // even count it was sent before our `associate` arrived: the remote side has dialled us as we dialled it.
    guard !isHeld, let counted = remoteBegun, hello.associationsBegun >= counted else { return .refuse }
    return .begin
  }

  /// The remote side may have lost the link that we take for alive: we ask for a sign of life on it, and another one
  /// waits for that.
  func probe(for link: Link, _ turn: Turn) {
    guard let current = self.link, current.phase == .active else { return }
    let time = min(.seconds(1), configuration.silence(isDurable: true) / 8)
    link.waitForSign(of: current, until: turn.now + time, turn)
  }

  /// Whether it can go on where the remote side has this many of our frames; false if that has begun anew.
  func resumes(at received: UInt64) throws(Breach) -> Bool {
    guard isDurable, received <= sequenced.sent else { throw Breach("has received frames that were not sent") }
    return received >= sequenced.acknowledged
  }

  /// Whether it is to go on over a link whose handshake is complete.
  private func goesOn(on link: Link, _ hello: Hello) -> Bool {
    guard isDurable, hello.capabilities.contains(.resume) else { return false }
    let isHeld = hello.held?.id == id
    guard let current = self.link else {
      // A hello that does not even count the association was sent before the remote side had it.
      return isHeld || remoteBegun.map { hello.associationsBegun < $0 } ?? true
    }
    return isHeld && current.phase == .active && isBetter(link, than: current)
  }

  /// What is under way on the link no longer counts: it is sent again on the next one, or stated anew.
  func detach(_ turn: Turn) {
    negotiate(.linkLost, turn)
    sequenced.detach()
    inbox.restateCredit(isLinked: false)
    incomingChannels.restateCredits(isLinked: false)
    dropChunksUnderWay()
  }

  /// Its link is gone.
  /// - Parameter mayGoOn: without one, until there is another.
  /// - Returns: whether it does.
  func lost(_ former: Link, _ cause: Ending, mayGoOn: Bool, _ turn: Turn) -> Bool {
    link = nil
    guard mayGoOn, outlives(cause) else { return false }
    suspend(on: former, cause, turn)
    return true
  }

  private func suspend(on former: Link, _ cause: Ending, _ turn: Turn) {
    detach(turn)
    if suspension != nil { return }
    suspension = Suspension(cause: cause, lastHeard: former.lastReceived, since: turn.now)
    if isMember { turn.deliver(.suspended(node, cause)) }
  }

  /// Goes on over another link; the remote side has this many of our frames.
  /// - Parameter addresses: where that link was dialled.
  func resume(
    on link: Link, remoteHas received: UInt64, dialled addresses: [TransportAddress], _ surroundings: Surroundings,
    _ turn: Turn
  ) {
    link.activate(self)
    suspension = nil
    hasResumed = true
    judgement = link.judgement
    endSearch(turn)
    peer.traits = link.opening.traits
    self.addresses.linked(over: link.opening.traits)
    dialled(at: addresses)
    inbox.resize(UInt64(configuration.messageWindow(on: link.opening.traits)))
    sendAgain(above: received)
    closeDeepTunnels(turn)
    restateTransfers(turn)
    turn.flush(link)
    tellListening(turn)
    if isMember { turn.deliver(.resumed(node, link.opening.traits)) }
    lookForBetter(surroundings, turn)
  }

  private func sendAgain(above received: UInt64) {
    let repeated = sequenced.resume(remoteHas: received)
    counts.retransmitted.add(frames: repeated.frames, bytes: Int(repeated.bytes))
    inbox.restateCredit(isLinked: true)
    incomingChannels.restateCredits(isLinked: true)
    streams.restateCredits()
    tunnels.restateCredits()
    transfers.holdOffersBack()
  }

  // MARK: Time

  func setDisconnectTimeout(_ timeout: Duration) { disconnectTimeout = timeout }

  // MARK: Addresses

  /// We have dialled the peer at these addresses, and a link resulted, ours or the peer's.
  func dialled(at addresses: [TransportAddress]) { self.addresses.dialled(at: addresses) }

  /// Only a member's ports are noted: a stranger must not make us dial.
  func receivedListening(_ ports: [ListeningPort]) {
    if isMember { addresses.told(ports) }
  }
}
