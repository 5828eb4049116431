import PiconetWire

/// What two nodes share while connected: sequence numbers, credit, membership, what waits to be sent. It belongs to one
/// engine. It is an object for the reason given at `Link`.
///
/// Fields on the path of every message skip the exclusivity check (78 instructions each). That is safe: one engine owns
/// them and passes on one fact at a time, and their methods can't reach the association again.
final class Association {
  let id: AssociationID
  let node: NodeID
  /// The active link, or the link on which the association is about to resume; nil while there is no such link.
  private(set) var link: Link? { didSet { watch.changed() } }
  /// The settings at the beginning of the association. The disconnect timeout may have changed since.
  let configuration: EngineConfiguration
  /// Whether the association has ended and was removed from every table.
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
  /// Whether the remote side has named the association in the hello of a link that carried it.
  private(set) var isNamedThere: Bool
  /// Set while there is no link.
  private(set) var suspension: Suspension? { didSet { watch.changed() } }
  /// How long a suspension may last, counted from when the remote side was last heard.
  private(set) var disconnectTimeout: Duration { didSet { watch.changed() } }
  /// The search for a link, if there is no link or a better one is wanted. Only `Association+Search` changes it.
  var search: LinkSearch? { didSet { watch.changed() } }
  private(set) var addresses: PeerAddresses { didSet { watch.changed() } }
  private(set) var group = GroupStanding()
  /// Whether the remote side was told of ports on which we listen.
  private(set) var hasToldPorts = false
  /// Whether the association has resumed over another link. From then on chunks may begin at any offset that a
  /// `position` states.
  private(set) var hasResumed = false

  // Membership.
  private(set) var isMember = false { didSet { watch.changed() } }
  /// The number of its membership in this run (`Turn.membershipCount`); 0 if it is not a member.
  private(set) var membershipNumber: UInt64 = 0
  /// When the peer became a member; nil if it is not a member.
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
  /// What the remote side may still send of frames that neither credit nor an answer bounds.
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
    // Our windows are sized for frames of our own limit. A longer frame, legal for the remote side, might never fit
    // into them.
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

  /// The active link; nil while no link is active.
  var activeLink: Link? { link?.association === self ? link : nil }

  /// Whether frames that only a member may send are dropped instead of breaking a rule. The remote side may believe
  /// that it is a member, because of an invitation that we had withdrawn. In that case we are leaving it.
  var dropsMemberFrames: Bool { !isMember && leaving != nil }

  /// The longest frame body that we may send.
  var frameLimit: Int { Int(clamping: min(limits.frame, UInt64(WireLimits.largestFrame))) }

  /// Whether a place is reserved for the peer. One side has accepted and waits for the other, and there must be a place
  /// once both have accepted.
  var holdsPlace: Bool { !isMember && leaving == nil && invitations.holdsPlace }

  /// A count that grows with incoming sequenced frames, unreliable messages and chunks.
  var movedCount: UInt64 { sequenced.received &+ unreliable.counts.received &+ transfers.chunkCount }

  // MARK: Time

  /// Whether the peer is not a member and no invitation waits for an answer.
  var isIdle: Bool { !isMember && invitations.isIdle }

  /// Whether it is idle, and we are neither leaving the peer nor about to invite it.
  var isUnused: Bool { isIdle && leaving == nil && invitations.own == nil }

  /// Whether the remote side may dial us to resume the association.
  var mayComeBack: Bool { isDurable && disconnectTimeout > .zero && !isUnused }

  /// Returns the time at which something is due if nothing happens before. It depends on nothing that a message
  /// changes.
  func nextDeadline(_ surroundings: Surroundings) -> Instant? {
    var next = suspensionDeadline(surroundings)
    func consider(_ instant: Instant?) {
      if let instant { next = next.map { min($0, instant) } ?? instant }
    }
    consider(invitations.nextDeadline(node, surroundings.budgets))
    consider(comparisons.nextDeadline(node, surroundings.budgets))
    consider(leaving?.deadline)
    consider(transfers.pausesHeldUntil)
    if isUnused { consider(invitations.idleSince + configuration.idleTimeout) }
    return next
  }
}

extension Association {
  /// Does what is due now.
  /// - Returns: why the association ends; nil if it continues.
  func deadlineReached(_ surroundings: Surroundings, _ turn: Turn) -> Ending? {
    if let held = transfers.pausesHeldUntil, held <= turn.now { sendPauses(turn) }
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
  /// - Parameter view: the view of our group that the remote side is told before a frame about a place; nil in a
  ///   session of pairs.
  /// - Returns: what is left for the engine to do; nil if nothing is.
  func negotiate(_ fact: InvitationFact, _ view: GroupView?, _ turn: Turn) -> MembershipRequest? {
    let (steps, request) = invitations.handle(fact, remote(turn), turn)
    carryOut(steps, view, turn)
    return request
  }

  /// Passes an end to the invitations between the two nodes, and carries out its steps. An end leaves nothing for the
  /// engine to do, and does not concern a place.
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

  /// Ends a comparison whose link is lost or that is over. Nothing is left for the engine to do.
  private func endComparison(_ fact: ComparisonFact, _ turn: Turn) {
    if !comparisons.isIdle { _ = compare(fact, turn) }
  }

  /// Returns what invitations need to know about the remote side.
  private func remote(_ turn: Turn) -> Invitations.Remote {
    // A node that a member has introduced and the application has accepted counts as known: no code and no prompt.
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
  /// Tells the remote side of our group, unless it knows the view already.
  func tell(_ view: GroupView, _ turn: Turn) {
    // A remote side that is not a member and acknowledges nothing is told no more.
    guard isOfGroup, group.toldView != view,
      isMember || sequenced.unacknowledged.byteCount < KeepingLimits.strangerControl
    else { return }
    group.told(view)
    send(.groupView(view), turn)
  }

  /// Takes the remote side's view of its group.
  /// - Returns: whether the view is news.
  func received(_ view: GroupView) -> Bool { isOfGroup && group.received(view) }

  /// Notes that the peer has become a member, with this rank unless it states another one.
  func admitted(rank: UInt64) { group.admitted(rank: rank) }
}

// MARK: - What no credit bounds

extension Association {
  /// Counts a word about another member as one without effect.
  func countMemberWord(_ turn: Turn) throws(Breach) { try allowances.countMemberWord(at: turn.now) }

  /// Takes back the count of the last word about another member, which had an effect after all.
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

  /// Counts an offer of our own: the remote side may pause it.
  func countOffer() { allowances.countBeginning() }
}

// MARK: - The end

extension Association {
  /// Begins to leave. From now on nothing new begins, and transfers and streams end. The goodbye goes out after the
  /// messages before it.
  func beginLeaving(_ ending: Ending, command: CommandID? = nil, _ turn: Turn) {
    let timeout =
      ending.reason == .removed ? min(configuration.leaveTimeout, Removals.leaveTimeout) : configuration.leaveTimeout
    leaving = Leaving(command: command, reason: ending.reason, by: ending.by, deadline: turn.now + timeout)
    turn.placesChanged()
    turn.flush(link)
    endComparison(.ended(ending), turn)
    endTraffic(Ending(ending.reason, ending.blame), turn)
  }

  /// Leaves at our own wish. The command is answered at the end.
  /// - Returns: false if there is no link to send the goodbye on. The remote side learns of it when it reaches us
  ///   again, or gives up after its timeout.
  func leave(_ ending: Ending, command: CommandID?, _ turn: Turn) -> Bool {
    if suspension != nil { return false }
    beginLeaving(ending, command: command, turn)
    negotiate(.leaving(ending.reason), turn)
    return true
  }

  /// Notes that the leave frame has been sent.
  func leavingIsTold() {
    guard var leaving else { return }
    leaving.isTold = true
    self.leaving = leaving
  }

  /// Notes that the remote side is about to leave because another member has asked for our removal.
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
    // When we shut down, our own links inside tunnels must end first. So only relayed tunnels are closed now.
    closeTunnels(ending, turn) { ending.reason != .shuttingDown || $0.isRelayed }
  }

  /// Ends everything that the association carried. It has been removed from every table before.
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

  /// Takes the `associated` that answers a new association. For a resumed association, `associated` comes before the
  /// link is active.
  /// - Parameter node: our own node. It has sent `associate` only if its id is the smaller one.
  func receivedAssociated(_ count: UInt64, at node: NodeID) throws(Breach) {
    guard node < self.node, remoteBegun == nil else { throw Breach("associated twice, or without an associate") }
    remoteBegun = count
  }

  /// Notes that the remote side has confirmed that it resumes this association, and has received this many frames of
  /// it.
  func confirmed(begun count: UInt64, _ received: UInt64, on link: Link) {
    remoteBegun = count
    if received == 0, let limits = link.hello?.limits { agree(on: link, limits) }
  }

  /// Notes that something other than a heartbeat was sent or received.
  func moved(_ now: Instant) { lastMoved = now }

  /// Replaces the association's link by another one. The previous link no longer counts.
  /// - Returns: the previous link; nil if there was none, or if it is the same.
  func take(_ link: Link) -> Link? {
    defer { self.link = link }
    return self.link === link ? nil : self.link
  }

  /// Reconciles the limits of two links. The remote side has received nothing yet, and may have begun with the hellos
  /// of this link instead of those of our first link. We accept what either pair allows, and send no more than both
  /// allow.
  private func agree(on link: Link, _ limits: PeerLimits) {
    let window = UInt64(configuration.firstStreamWindow(on: link.opening.traits))
    streams.agree(outgoingWindow: limits.streamWindow, incomingWindow: window)
    outgoingChannels.agree(window: limits.channelWindow)
    incomingChannels.agree(window: UInt64(configuration.channelWindow(on: link.opening.traits)))
    if !isMember { outbox.restrict(to: limits.messageWindow) }
  }

  /// Returns whether the association continues after its link has ended in this way.
  private func outlives(_ ending: Ending) -> Bool {
    guard isDurable, disconnectTimeout > .zero else { return false }
    // The peer learns of its removal when it comes back.
    if leaving?.reason == .removed { return false }
    // After a goodbye we wait for the remote side to close the link.
    return leaving?.isTold != true || ending.blame != .peer
  }

  /// Asks for a sign of life on the association's own link, while the other link waits. The remote side may have lost
  /// the link that we take for alive.
  func probe(for link: Link, _ turn: Turn) {
    guard let current = self.link, current.phase == .active else { return }
    let time = min(.seconds(1), configuration.silence(isDurable: true) / 8)
    link.waitForSign(of: current, until: turn.now + time, turn)
  }

  /// Drops what is under way on the link. The next link sends it or states it again.
  func detach(_ turn: Turn) {
    negotiate(.linkLost, turn)
    endComparison(.linkLost, turn)
    sequenced.detach()
    inbox.restateCredit(isLinked: false)
    incomingChannels.restateCredits(isLinked: false)
    transfers.lostLink()
  }

  /// Handles the loss of the link.
  /// - Parameter mayGoOn: whether the association may continue without a link until there is another one.
  /// - Returns: whether it continues, suspended.
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
    if former.isDialler { addresses.broke(former.opening.traits) }
    if isMember { turn.deliver(.suspended(node, cause)) }
  }

  /// Resumes over another link. The remote side has received this many of our frames.
  /// - Parameter addresses: the addresses at which our attempt to invite the peer dialled that link; empty if there was
  ///   no such dial.
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

  /// Restarts the time for the search for another link, because the process has not run for a while.
  func awoke(_ now: Instant) { suspension?.lastHeard = now }

  // MARK: Addresses

  /// Notes addresses at which we have dialled the peer if a link came of it, opened by us or by the peer.
  func dialled(at addresses: [TransportAddress]) { self.addresses.dialled(at: addresses) }

  /// Notes that a member has introduced the peer to us.
  func introduced(by member: NodeID) { addresses.broughtTogether(by: member) }

  /// Notes that the remote side was told on which ports we listen.
  func toldPorts(_ ports: [ListeningPort]) { hasToldPorts = !ports.isEmpty }

  /// Notes hints by members that have introduced the peer: a better link may lead to it.
  func told(_ hints: AddressHints, _ surroundings: Surroundings, _ turn: Turn) {
    addresses.told(hints)
    lookForBetter(surroundings, turn)
  }

  /// Notes the ports of a member. A stranger's ports are ignored: a stranger must not make us dial.
  /// - Returns: what is left for the engine to do; nil if nothing is.
  func receivedListening(_ ports: [ListeningPort]) -> FrameRequest? {
    guard isMember else { return nil }
    addresses.told(ports)
    return ports.isEmpty ? nil : .listening(self)
  }
}
