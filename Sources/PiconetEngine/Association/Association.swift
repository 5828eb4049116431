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
  /// Whether it has ended, and was removed from every table.
  private(set) var isOver = false
  private(set) var peer: ProvenPeer
  let begunAt: Instant
  /// The remote side's limits.
  let limits: PeerLimits

  /// How many associations the remote side had begun with us when it confirmed this one; nil until then.
  private(set) var remoteBegun: UInt64?

  /// Counters, for statistics.
  var counts = AssociationCounts()

  @exclusivity(unchecked) var sequenced: SequencedFrames
  /// Whether both sides can resume, so that the association outlives its links.
  let isDurable: Bool
  /// Whether the remote side has named it in the hello of a link over which it went.
  private(set) var isNamedThere: Bool
  /// Set while there is no link.
  private(set) var suspension: Suspension? { didSet { watch.changed() } }
  /// How long a suspension may last, counted from when the remote side was last heard.
  private(set) var disconnectTimeout: Duration { didSet { watch.changed() } }
  /// The search for another link: because there is none, or for a better one. Only `Association+Search` changes it.
  var search: LinkSearch? { didSet { watch.changed() } }
  private(set) var addresses: PeerAddresses { didSet { watch.changed() } }
  private(set) var group = GroupStanding()
  /// Whether the remote side was told of ports on which we listen.
  private(set) var hasToldPorts = false
  /// Whether the association has resumed over another link: from then on chunks may begin anywhere that a `position`
  /// says.
  private(set) var hasResumed = false

  // Membership.
  private(set) var isMember = false { didSet { watch.changed() } }
  /// The number of its membership in this run (`Turn.membershipCount`); 0 if it is not a member.
  private(set) var membershipNumber: UInt64 = 0
  /// Since when it has been a member; nil if it is none.
  private(set) var memberSince: Instant?
  /// The invitations that may lead to membership. Only `negotiate` changes them.
  private(set) var invitations: Invitations
  /// The short code that the two users compare. Only `compare` changes it.
  private(set) var comparisons: Comparisons
  /// What the trust policy said of the peer on the last link.
  private(set) var judgement: TrustJudgement?
  /// When anything but a heartbeat was last sent or received.
  private(set) var lastMoved: Instant
  @exclusivity(unchecked) private(set) var leaving: Leaving? { didSet { watch.changed() } }
  /// The member that asked for our removal, according to the remote side.
  private(set) var removedBy: NodeID?
  /// What is left to either side of frames that neither credit nor an answer bounds.
  private var allowances = WordAllowances()
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
  @exclusivity(unchecked) var transfers: AssociationTransfers
  /// The bounds of what is kept until it is acknowledged.
  let keeping: KeepingLimits
  /// Told of changes to what `nextDeadline` depends on.
  private let watch: DeadlineWatch

  struct Leaving: Sendable {
    let command: CommandID?
    let reason: Reason
    /// The node that asked for it, if the reason is a removal.
    let by: NodeID?
    let deadline: Instant
    /// Whether the leave frame was sent. The remote side then closes the link.
    fileprivate(set) var isTold = false
  }

  /// Begins an association on the terms of both hellos.
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
    isNamedThere = hello.held?.id == id
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
    transfers = AssociationTransfers(watch)
    addresses = PeerAddresses(linkedOver: traits, transports: configuration.transports)
    invitations = Invitations(configuration, watch, provesCodes: capabilities.contains(.typedCodes), at: now)
    comparisons = Comparisons(configuration, watch)
    keeping = KeepingLimits(configuration)
  }

  /// The active link; nil while there is none.
  var activeLink: Link? { link?.association === self ? link : nil }

  /// Whether frames that only a member may send are dropped instead of breaking a rule: the remote side may believe
  /// that it is a member, by an invitation that we had withdrawn, and we are leaving it.
  var dropsMemberFrames: Bool { !isMember && leaving != nil }

  /// The longest frame body that we may send.
  var frameLimit: Int { Int(clamping: min(limits.frame, UInt64(WireLimits.largestFrame))) }

  /// Whether a place is reserved for the peer: one side has accepted and waits for the other, and there must be a place
  /// once both have.
  var holdsPlace: Bool { !isMember && leaving == nil && invitations.holdsPlace }

  /// Grows with the sequenced frames, unreliable messages and chunks that come.
  var movedCount: UInt64 { sequenced.received &+ unreliable.counts.received &+ transfers.chunkCount }

  // MARK: Time

  /// Whether the peer is not a member and no invitation waits for an answer.
  var isIdle: Bool { !isMember && invitations.isIdle }

  /// Whether it is idle, and we are neither leaving it nor about to invite it.
  var isUnused: Bool { isIdle && leaving == nil && invitations.own == nil }

  /// Whether the remote side may dial us to resume the association.
  var mayComeBack: Bool { isDurable && disconnectTimeout > .zero && !isUnused }

  /// When something is due if nothing happens before. It depends on nothing that a message changes.
  func nextDeadline(_ surroundings: Surroundings) -> Instant? {
    var next = suspensionDeadline(surroundings)
    func consider(_ instant: Instant?) {
      if let instant { next = next.map { min($0, instant) } ?? instant }
    }
    consider(invitations.nextDeadline(node, surroundings.budgets))
    consider(comparisons.nextDeadline(node, surroundings.budgets))
    consider(leaving?.deadline)
    consider(transfers.pausesHeldUntil)
    consider(transfers.storeLook)
    if isUnused { consider(invitations.idleSince + configuration.idleTimeout) }
    return next
  }
}

extension Association {
  /// Does what is due now.
  /// - Returns: why the association ends; nil where it does not.
  func deadlineReached(_ surroundings: Surroundings, _ turn: Turn) -> Ending? {
    if let held = transfers.pausesHeldUntil, held <= turn.now { sendPauses(turn) }
    if let look = transfers.storeLook, look <= turn.now { tellStoresAtWork(turn) }
    if !comparisons.isIdle { _ = compare(.timePassed, turn) }
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
  /// Passes a fact to the invitations between the two nodes, and carries out the steps that concern this association.
  /// - Parameter view: what the remote side is told of our group before a frame about a place; nil in a session of
  ///   pairs.
  /// - Returns: what is left for the engine to do; nil if nothing is.
  func negotiate(_ fact: InvitationFact, _ view: GroupView?, _ turn: Turn) -> MembershipRequest? {
    let (steps, request) = invitations.handle(fact, remote(turn), turn)
    carryOut(steps, view, turn)
    return request
  }

  /// Passes an end to the invitations between the two nodes, and carries out its steps. Nothing is left for the engine
  /// to do, and no end speaks of a place.
  private func negotiate(_ end: InvitationEnd, _ turn: Turn) {
    carryOut(invitations.handle(end, remote(turn), turn), nil, turn)
  }

  /// Passes a fact to the comparison of codes with the member, and carries out its steps.
  /// - Returns: what is left for the engine to do; nil if nothing is.
  func compare(_ fact: ComparisonFact, _ turn: Turn) -> ComparisonRequest? {
    let remote = Comparisons.Remote(peer: peer, link: activeLink?.id, isLeaving: leaving != nil)
    let (steps, request) = comparisons.handle(fact, remote, turn)
    for step in steps {
      switch step {
      case .send(let word): send(.comparison(word), turn)
      case .succeeded(let code): peer.code = code
      }
    }
    return request
  }

  /// The link of a comparison is gone, or it is over: that leaves nothing to the engine.
  private func endComparison(_ fact: ComparisonFact, _ turn: Turn) {
    if !comparisons.isIdle { _ = compare(fact, turn) }
  }

  /// What invitations need to know about the remote side.
  private func remote(_ turn: Turn) -> Invitations.Remote {
    // A node that a member has introduced and the application has accepted counts as known: no code, no question.
    let introduction = turn.introduced.entries[node]
    let isAccepted = introduction?.isAccepted == true
    return Invitations.Remote(
      peer: peer, judgement: judgement != nil && isAccepted ? .known : judgement,
      isIntroduced: introduction != nil && (isAccepted || configuration.holdsIntroducedInvitations),
      link: activeLink?.id, isMember: isMember, membershipNumber: membershipNumber,
      isLeaving: leaving != nil, yields: yields(at: turn.node))
  }

  private func carryOut(_ steps: [Invitations.Step], _ view: GroupView?, _ turn: Turn) {
    for step in steps {
      switch step {
      case .send(let frame):
        if frame.isAboutPlace, let view { tell(view, turn) }
        send(frame, turn)
      case .leave(let ending): beginLeaving(ending, turn)
      case .join(let agreement): join(agreement, turn)
      }
    }
  }

  /// Makes the node a member.
  private func join(_ agreement: Invitations.Agreement, _ turn: Turn) {
    isMember = true
    membershipNumber = turn.countMembership()
    memberSince = turn.now
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

// MARK: - The group

extension Association {
  /// Tells the remote side of our group, unless it knows.
  func tell(_ view: GroupView, _ turn: Turn) {
    // One that is no member and acknowledges nothing is told no more.
    guard isOfGroup, group.toldView != view,
      isMember || sequenced.unacknowledged.byteCount < KeepingLimits.strangerControl
    else { return }
    group.told(view)
    send(.groupView(view), turn)
  }

  /// The remote side tells of its group.
  /// - Returns: whether that is news.
  func received(_ view: GroupView) -> Bool { isOfGroup && group.received(view) }

  /// It has become a member, with this rank unless it says another one.
  func admitted(rank: UInt64) { group.admitted(rank: rank) }
}

// MARK: - What no credit bounds

extension Association {
  /// Counts a word about another member as one that comes to nothing.
  func countMemberWord(_ turn: Turn) throws(Breach) { try allowances.countMemberWord(at: turn.now) }

  /// The last word about another member came to something after all, and does not count.
  func giveBackMemberWord() { allowances.giveBackMemberWord() }

  /// Counts a frame from the remote side, before it is handled.
  func countUncredited(_ frame: Frame, _ turn: Turn) throws(Breach) {
    switch frame.creditBound {
    case .begins:
      allowances.countBeginning()
      if case .offer = frame { transfers.countOffer() }
    case .none: try allowances.countUncredited(at: turn.now)
    case .other: break
    }
  }

  /// Counts an offer of our own: the remote side may pause it, too.
  func countOffer() { allowances.countBeginning() }
}

// MARK: - The end

extension Association {
  /// Begins to leave: from here on nothing new begins, transfers and streams end, and the goodbye goes when the
  /// messages before it have gone.
  func beginLeaving(_ ending: Ending, command: CommandID? = nil, _ turn: Turn) {
    let timeout =
      ending.reason == .removed ? min(configuration.leaveTimeout, Removals.leaveTimeout) : configuration.leaveTimeout
    leaving = Leaving(command: command, reason: ending.reason, by: ending.by, deadline: turn.now + timeout)
    turn.placesChanged()
    turn.flush(link)
    endComparison(.ended(ending), turn)
    endTraffic(Ending(ending.reason, ending.blame), turn)
  }

  /// Leaves because we want to. The command is answered at the end.
  /// - Returns: false if there is no link to say so on. The remote side learns it when it finds us, or gives up after
  ///   its timeout.
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

  /// The remote side is about to leave because another member has asked for our removal.
  func receivedRemoved(_ member: NodeID, _ turn: Turn) throws(Breach) {
    guard try speaksAsMember() else { return }
    try countMemberWord(turn)
    removedBy = member
  }

  /// Ends what the application has under way with the remote side.
  private func endTraffic(_ ending: Ending, _ turn: Turn) {
    for transfer in transfers.order { abandon(transfer, ending, turn) }
    refuseTransfers(ending, turn)
    resetStreams(ending, turn)
    stopStreams(ending, turn)
    // When we shut down, links of ours inside tunnels must end first: only relayed tunnels are closed now.
    closeTunnels(ending, turn) { ending.reason != .shuttingDown || $0.isRelayed }
  }

  /// Ends everything that the association carried, after it was removed from every table.
  func end(_ ending: Ending, _ turn: Turn) {
    isOver = true
    turn.placesChanged()
    endSearch(turn)
    dropTransfers(ending, turn)
    dropStreams(ending, turn)
    dropTunnels(ending, turn)
    negotiate(.associationEnded(ending), turn)
    endComparison(.ended(ending), turn)
    if isMember { turn.deliver(.disconnected(node, ending)) }
    if let command = leaving?.command { turn.reply(command, .done) }
  }
}

// MARK: - Another link

extension Association {
  /// How an association ends here when the remote side no longer has it.
  static let lostByPeer = Ending(.linkFailed, .link, "the other side lost the connection")

  /// Takes the `associated` that answers a new association. The one for a resumed association comes before the link is
  /// active.
  /// - Parameter node: our own node. It has sent `associate` only if it is the smaller one.
  func receivedAssociated(_ count: UInt64, at node: NodeID) throws(Breach) {
    guard node < self.node, remoteBegun == nil else { throw Breach("associated twice, or without an associate") }
    remoteBegun = count
  }

  /// The remote side has confirmed that it resumes this association, of which it has received this many frames.
  func confirmed(begun count: UInt64, _ received: UInt64, on link: Link) {
    remoteBegun = count
    if received == 0, let limits = link.hello?.limits { agree(on: link, limits) }
  }

  /// Notes that something other than a heartbeat was sent or received.
  func moved(_ now: Instant) { lastMoved = now }

  /// Puts another link in the place of the association's own, which no longer counts.
  /// - Returns: the previous link; nil if there was none, or if it is the same.
  func take(_ link: Link) -> Link? {
    defer { self.link = link }
    return self.link === link ? nil : self.link
  }

  /// Reconciles the limits of two links. The remote side has received nothing yet, and may have begun with the hellos
  /// of this link rather than with those of the link on which we began: we accept what either pair allows, and send no
  /// more than both allow.
  private func agree(on link: Link, _ limits: PeerLimits) {
    let window = UInt64(configuration.firstStreamWindow(on: link.opening.traits))
    streams.agree(outgoingWindow: limits.streamWindow, incomingWindow: window)
    outgoingChannels.agree(window: limits.channelWindow)
    incomingChannels.agree(window: UInt64(configuration.channelWindow(on: link.opening.traits)))
    if !isMember { outbox.restrict(to: limits.messageWindow) }
  }

  /// Whether the association goes on after its link has ended in this way.
  private func outlives(_ ending: Ending) -> Bool {
    guard isDurable, disconnectTimeout > .zero else { return false }
    // It learns of its removal when it comes back.
    if leaving?.reason == .removed { return false }
    // After a goodbye we wait for the remote side to close the link.
    return leaving?.isTold != true || ending.blame != .peer
  }

  /// The remote side may have lost the link that we take for alive: we ask for a sign of life on it, and another one
  /// waits for that.
  func probe(for link: Link, _ turn: Turn) {
    guard let current = self.link, current.phase == .active else { return }
    let time = min(.seconds(1), configuration.silence(isDurable: true) / 8)
    link.waitForSign(of: current, until: turn.now + time, turn)
  }

  /// Drops what is under way on the link: it is sent again on the next one, or stated again.
  func detach(_ turn: Turn) {
    negotiate(.linkLost, turn)
    endComparison(.linkLost, turn)
    sequenced.detach()
    inbox.restateCredit(isLinked: false)
    incomingChannels.restateCredits(isLinked: false)
    transfers.lostLink()
  }

  /// The association has lost its link.
  /// - Parameter mayGoOn: whether it may go on without a link until there is another one.
  /// - Returns: whether it goes on, suspended.
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

  /// Resumes over another link. The remote side has received this many of our frames.
  /// - Parameter addresses: where an attempt of ours to invite the peer dialled that link; empty if none did.
  func resume(
    on link: Link, remoteHas received: UInt64, dialled addresses: [TransportAddress], _ surroundings: Surroundings,
    _ turn: Turn
  ) {
    link.activate(self)
    if link.hello?.held?.id == id { isNamedThere = true }
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
    for credit in transfers.restate() { send(credit, turn) }
    turn.flush(link)
    tellListening(turn)
    if isMember { turn.deliver(.resumed(node, link.opening.traits)) }
    turn.placesChanged()
    lookForBetter(surroundings, turn)
  }

  private func sendAgain(above received: UInt64) {
    let repeated = sequenced.resume(remoteHas: received)
    counts.sentAgain(repeated)
    inbox.restateCredit(isLinked: true)
    incomingChannels.restateCredits(isLinked: true)
    streams.restateCredits()
    tunnels.restateCredits()
    transfers.holdOffersBack()
  }

  // MARK: Time

  func setDisconnectTimeout(_ timeout: Duration) { disconnectTimeout = timeout }

  /// The process has not run for a while, so the search for another link has its whole time again.
  func awoke(_ now: Instant) { suspension?.lastHeard = now }

  // MARK: Addresses

  /// Notes addresses at which we have dialled the peer, if that has led to a link, ours or the peer's.
  func dialled(at addresses: [TransportAddress]) { self.addresses.dialled(at: addresses) }

  /// A member has introduced the peer to us.
  func introduced(by member: NodeID) { addresses.broughtTogether(by: member) }

  /// The remote side was told on which ports we listen.
  func toldPorts(_ ports: [ListeningPort]) { hasToldPorts = !ports.isEmpty }

  /// Members that have introduced the peer say that it is there: a better link may lead to it.
  func told(_ hints: AddressHints, _ surroundings: Surroundings, _ turn: Turn) {
    addresses.told(hints)
    lookForBetter(surroundings, turn)
  }

  /// Only a member's ports are noted: a stranger must not make us dial.
  /// - Returns: what is left for the engine to do; nil if nothing is.
  func receivedListening(_ ports: [ListeningPort]) -> FrameRequest? {
    guard isMember else { return nil }
    addresses.told(ports)
    return ports.isEmpty ? nil : .listening(self)
  }
}
