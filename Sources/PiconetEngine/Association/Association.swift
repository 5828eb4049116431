import PiconetWire

/// What two nodes share while they are connected, in one engine, which alone has it (an object for the reason of
/// `Link`): sequence numbers, credit, membership, what waits to be sent.
///
/// What every message passes is not checked for exclusive access at run time, which costs 78 instructions each, and
/// 4,800 in a round trip that takes 23,100 beside OpenSSL: one engine has the object and hands over one fact at a time,
/// and these are values whose methods can't reach it again.
final class Association {
  let id: AssociationID
  let node: NodeID
  /// The active link, or the one upon which the association is to go on; nil while there is none.
  private(set) var link: Link? { didSet { watch.changed() } }
  /// What it was begun with. The disconnect timeout may be another one meanwhile.
  let configuration: EngineConfiguration
  /// It is in no table any more.
  private(set) var isOver = false
  private(set) var peer: ProvenPeer
  let begunAt: Instant
  /// The remote side's limits.
  let limits: PeerLimits

  /// How many associations the remote side had begun with us when it confirmed this one; nil until then.
  private(set) var remoteBegun: UInt64?

  /// For whoever wants to see.
  var counts = AssociationCounts()

  @exclusivity(unchecked) var sequenced: SequencedFrames
  /// Both sides resume: the association outlives its links.
  let isDurable: Bool
  /// There is no link.
  private(set) var suspension: Suspension? { didSet { watch.changed() } }
  /// How long that may last.
  private var disconnectTimeout: Duration { didSet { watch.changed() } }
  /// Another link is looked for: because there is none, or for a better one.
  private var search: LinkSearch? { didSet { watch.changed() } }
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
  /// When something came or went last that is of use to somebody: no heartbeat.
  private(set) var lastMoved: Instant
  @exclusivity(unchecked) private(set) var leaving: Leaving? { didSet { watch.changed() } }
  /// Who wanted us removed, by what the remote side says.
  var removedBy: NodeID?
  /// What either side may still say that neither credit nor an answer bounds.
  var allowances = WordAllowances()
  /// Pauses wait until then.
  var pausesHeldUntil: Instant? { didSet { watch.changed() } }
  /// What the remote side can do beyond its version.
  let capabilities: Capabilities

  // Messages.
  @exclusivity(unchecked) var outbox: Outbox
  @exclusivity(unchecked) var inbox: Inbox
  /// Those of channels other than 0, which the two before have.
  @exclusivity(unchecked) var outgoingChannels: OutgoingChannels
  @exclusivity(unchecked) var incomingChannels: IncomingChannels
  /// Numbers and counts of unreliable ones.
  var unreliable = UnreliableTraffic()
  @exclusivity(unchecked) var streams: StreamTable
  @exclusivity(unchecked) var tunnels: TunnelTable
  @exclusivity(unchecked) var transfers = AssociationTransfers()
  /// The bounds of what is kept until it is acknowledged.
  let keeping: KeepingLimits
  /// Told when something changes that `nextDeadline` looks at.
  private let watch: DeadlineWatch

  struct Leaving: Sendable {
    let command: CommandID?
    let reason: Reason
    /// Who wanted it, where the reason is a removal.
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

  /// One side has given its word, and waits for the other's: a place is kept, so that nobody becomes a member where
  /// there is none.
  var holdsPlace: Bool { !isMember && leaving == nil && invitations.holdsPlace }

  /// Grows with what comes and is of use to somebody.
  var movedCount: UInt64 { sequenced.received &+ unreliable.counts.received &+ transfers.chunkCount }

  // MARK: Time

  /// Nobody is a member, invited or about to be.
  var isIdle: Bool { !isMember && invitations.isIdle }

  /// Nobody is a member, invited, about to be, or leaving.
  var isUnused: Bool { isIdle && leaving == nil && invitations.own == nil }

  /// When something has to happen if nothing does. It looks at nothing that a message changes.
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
  @discardableResult
  func negotiate(_ fact: InvitationFact, _ turn: Turn) -> MembershipRequest? {
    // By a member's word, and our application's: neither codes nor questions are for it.
    let introduction = turn.introductions[node]
    let isAccepted = introduction?.isAccepted == true
    let remote = Invitations.Remote(
      peer: peer, judgement: judgement != nil && isAccepted ? .known : judgement,
      isIntroduced: introduction != nil && (isAccepted || configuration.holdsIntroducedInvitations),
      link: activeLink?.id, isMember: isMember, membershipNumber: membershipNumber,
      isLeaving: leaving != nil)
    let (steps, request) = invitations.handle(fact, remote, turn)
    for step in steps {
      switch step {
      case .send(let frame): send(frame, turn)
      case .leave(let ending): beginLeaving(ending, turn)
      case .join(let agreement): join(agreement, turn)
      }
    }
    return request
  }

  /// The node is a member.
  private func join(_ agreement: Invitations.Agreement, _ turn: Turn) {
    isMember = true
    membershipNumber = turn.countMembership()
    moved(turn.now)
    if let context = agreement.context { peer.invitationContext = context }
    if let introduction = turn.introductions[node], introduction.isAccepted {
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

  /// Leaves by a wish of our own; the command is answered at the end.
  /// - Returns: false where there is no link, and nobody to tell. The remote side learns it when it finds us, or by
  ///   time.
  func leave(_ ending: Ending, command: CommandID?, _ turn: Turn) -> Bool {
    if suspension != nil { return false }
    beginLeaving(ending, command: command, turn)
    negotiate(.leaving(ending.reason), turn)
    return true
  }

  func leavingIsTold() { leaving?.isTold = true }

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

  /// It is in no table any more, and all that it carried ends.
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
  /// How it ends here once the remote side knows of it no more.
  static let lostThere = Ending(.linkFailed, .link, "the other side lost the connection")

  /// In answer to a new association. That to a resumed one comes before the link is active.
  /// - Parameter node: our own, which has asked if it is the smaller one.
  func receivedAssociated(_ count: UInt64, at node: NodeID) throws(Breach) {
    guard node < self.node, remoteBegun == nil else { throw Breach("associated twice, or without an associate") }
    remoteBegun = count
  }

  /// In answer to a resumed one, of which the remote side has received so many frames.
  func confirmed(begun count: UInt64, _ received: UInt64, on link: Link) {
    remoteBegun = count
    if received == 0, let limits = link.hello?.limits { agree(on: link, limits) }
  }

  /// Something came or went that is of use to somebody.
  func moved(_ now: Instant) { lastMoved = now }

  /// Why we can't invite its node; nil where we can.
  var refusalOfInvitation: Ending? {
    if invitations.own != nil { return Ending(.inProgress, .us) }
    if isMember { return Ending(.alreadyConnected, .us) }
    return leaving == nil ? nil : Ending(.inProgress, .us, "we are leaving this peer")
  }

  /// Its link is gone, or does not count any more because there is another one.
  /// - Returns: the former one.
  func take(_ link: Link?) -> Link? {
    defer { self.link = link }
    return self.link
  }

  /// The remote side has received nothing yet, and perhaps begun with the hellos of this link rather than with those of
  /// the one on which we have: what either of them may mean is taken, and no more is sent than both allow.
  private func agree(on link: Link, _ limits: PeerLimits) {
    let window = UInt64(configuration.firstStreamWindow(on: link.opening.traits))
    streams.agree(outgoingWindow: limits.streamWindow, incomingWindow: window)
    outgoingChannels.agree(window: limits.channelWindow)
    incomingChannels.agree(window: UInt64(configuration.channelWindow(on: link.opening.traits)))
    if !isMember { outbox.restrict(to: limits.messageWindow) }
  }

  /// Whether it goes on without its link.
  func outlives(_ ending: Ending) -> Bool {
    guard isDurable, disconnectTimeout > .zero else { return false }
    // Whoever has said goodbye waits for the remote side to close the link.
    return leaving?.isTold != true || ending.blame != .peer
  }

  /// What becomes of another link whose handshake is complete, beside the association that there is.
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
  func use(of link: Link, _ hello: Hello, _ turn: Turn) -> LinkUse {
    if goesOn(on: link, hello) { return .resume }
    let isHeld = hello.held?.id == id
    if isDurable, isHeld, let current = self.link {
      // The remote side may have lost the one that we take for good: that is asked for a sign of life.
      let time = min(.seconds(1), configuration.silence(isDurable: true) / 8)
      if current.phase == .active { link.waitForSign(of: current, until: turn.now + time, turn) }
      return .wait
    }
    // A hello that counts this association but does not hold it came from a node that has lost it. One that does not
    // even count it was sent before our `associate` arrived: the remote side has dialled us as we dialled it.
    guard !isHeld, let counted = remoteBegun, hello.associationsBegun >= counted else { return .refuse }
    return .begin
  }

  /// Whether it can go on where the remote side has so many of our frames; false where it has begun anew.
  func resumes(at received: UInt64) throws(Breach) -> Bool {
    guard isDurable, received <= sequenced.sent else { throw Breach("has received frames that were not sent") }
    return received >= sequenced.acknowledged
  }

  /// Whether it is to go on upon a link whose handshake is complete.
  private func goesOn(on link: Link, _ hello: Hello) -> Bool {
    guard isDurable, hello.capabilities.contains(.resume) else { return false }
    let isHeld = hello.held?.id == id
    guard let current = self.link else {
      // A hello that does not even count the association was sent before the remote side had it.
      return isHeld || remoteBegun.map { hello.associationsBegun < $0 } ?? true
    }
    return isHeld && current.phase == .active && isBetter(link, than: current)
  }

  /// Nothing of what is under way on the link counts any more: it is sent again on the next one, or stated anew.
  func detach(_ turn: Turn) {
    negotiate(.linkLost, turn)
    sequenced.detach()
    inbox.restateCredit(isLinked: false)
    incomingChannels.restateCredits(isLinked: false)
    dropChunksUnderWay()
  }

  /// Its link is gone, and it goes on without one.
  func suspend(on former: Link, _ cause: Ending, _ turn: Turn) {
    detach(turn)
    if suspension != nil { return }
    suspension = Suspension(cause: cause, lastHeard: former.lastReceived, since: turn.now)
    if isMember { turn.deliver(.suspended(node, cause)) }
  }

  /// Goes on upon another link, where the remote side has so many of our frames.
  /// - Parameter addresses: where that link was dialled.
  func resume(on link: Link, remoteHas received: UInt64, dialled addresses: [TransportAddress], _ turn: Turn) {
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

  /// We have dialled the peer at these addresses, and somebody's link has come of it.
  func dialled(at addresses: [TransportAddress]) { self.addresses.dialled(at: addresses) }

  // MARK: Time

  func setDisconnectTimeout(_ timeout: Duration) { disconnectTimeout = timeout }

  /// Why a suspended association ends now; nil where it does not.
  private func endOfSuspension(_ now: Instant) -> Ending? {
    guard let suspension, suspension.lastHeard + disconnectTimeout <= now else { return nil }
    if disconnectTimeout == .zero { return suspension.cause }
    return Ending(
      .timedOut, suspension.cause.blame == .peer ? .peer : .link,
      "no way to the peer for \(disconnectTimeout.inWords); before, \(suspension.cause)")
  }

  /// When a suspended association ends, or its search goes on.
  private func suspensionDeadline(_ surroundings: Surroundings) -> Instant? {
    let end = suspension.map { $0.lastHeard + disconnectTimeout }
    guard let search, let next = search.nextDeadline, wantsLink(surroundings) else { return end }
    return end.map { min($0, next) } ?? next
  }

  // MARK: The search

  /// Something is looked for.
  var isSearching: Bool { search != nil }

  /// - Returns: why the association ends; nil where it does not.
  func search(_ fact: SearchFact, _ surroundings: Surroundings, _ turn: Turn) -> Ending? {
    var hasRoundEnded: Bool?
    switch fact {
    case .linkLost(let wasDialler): return beginSearch(isDialler: wasDialler, surroundings, turn)
    case .dialFailed(let kind, let failure, let address):
      hasRoundEnded = search?.dialFailed(kind, failure, at: address, searchTerms, turn)
    case .strangerAnswered(let kind, let address):
      hasRoundEnded = search?.strangerAnswered(kind, at: address, searchTerms, turn)
    case .otherAnswered(let kind):
      search?.otherAnswered(over: kind)
      return endIfRestarted(surroundings)
    case .linkEnded(let link): search?.linkEnded(link, searchTerms, turn)
    case .sighted: sighted(surroundings, turn)
    case .linked: lookForBetter(surroundings, turn)
    case .timePassed: return endOfSuspension(turn.now) ?? continueSearch(surroundings, turn)
    }
    return hasRoundEnded == true ? endOfRound(surroundings, turn.now) : nil
  }

  /// The side that has dialled the lost link begins at once, the other a little later: nearly always there is one new
  /// link then, and not two.
  private func beginSearch(isDialler: Bool, _ surroundings: Surroundings, _ turn: Turn) -> Ending? {
    // A search for a better link has dialled already.
    if let search, !search.isWaiting { return nil }
    let delay =
      isDialler ? Duration.zero : LinkSearch.pause(after: 1, within: disconnectTimeout, &turn.random)
    search = LinkSearch(for: node, nextRound: turn.now + delay)
    return continueSearch(surroundings, turn)
  }

  private func continueSearch(_ surroundings: Surroundings, _ turn: Turn) -> Ending? {
    guard search != nil, wantsLink(surroundings) else { return nil }
    let addresses = suspension == nil ? betterAddresses(surroundings) : allAddresses(surroundings)
    let hasRoundEnded = search?.proceed(to: addresses, searchTerms, turn)
    return hasRoundEnded == true ? endOfRound(surroundings, turn.now) : nil
  }

  func endSearch(_ turn: Turn) {
    guard search != nil else { return }
    search?.end(turn)
    search = nil
  }

  /// Whether another link is wanted now: one that nobody uses is not worth a dial.
  private func wantsLink(_ surroundings: Surroundings) -> Bool {
    guard suspension != nil else { return !betterAddresses(surroundings).isEmpty }
    return link?.phase != .resuming && !isUnused
  }

  private var searchTerms: LinkSearch.Terms {
    LinkSearch.Terms(
      isForBetter: suspension == nil, disconnectTimeout: disconnectTimeout, preference: configuration.transports,
      headStart: configuration.transportHeadStart)
  }

  /// A dial of the search has opened a link.
  /// - Returns: false if it is of no use.
  func claim(_ link: Link, _ turn: Turn) -> Bool {
    guard search != nil, link.opening.peer == node.peer else { return false }
    search?.dialled(link.id, turn)
    link.search(for: node)
    return true
  }

  /// A round of the search has led nowhere.
  private func endOfRound(_ surroundings: Surroundings, _ now: Instant) -> Ending? {
    endIfGone(surroundings, now) ?? endIfRestarted(surroundings)
  }

  /// The kernel has closed the link, and nobody listens any more where the peer was, on no transport: its process has
  /// ended. One that only hides would have come back by itself within the time of grace.
  private func endIfGone(_ surroundings: Surroundings, _ now: Instant) -> Ending? {
    let grace = min(.seconds(2), disconnectTimeout / 4)
    guard let suspension, suspension.cause.reason == .linkFailed, suspension.since + grace <= now,
      isNowhere(surroundings), search?.isOtherSeen == false
    else { return nil }
    let detail = "nobody listens any more where the peer was; before, \(suspension.cause)"
    return Ending(.linkFailed, .peer, detail)
  }

  /// The peer has certainly restarted: nobody listens any more where it was, on no transport, and another incarnation
  /// of it is there.
  private func endIfRestarted(_ surroundings: Surroundings) -> Ending? {
    guard suspension != nil, let search, isNowhere(surroundings),
      search.isOtherSeen || surroundings.discovery.seesOnlyOther(than: node)
    else { return nil }
    return Ending(.restarted, .peer, "another run of it answers there")
  }

  private func isNowhere(_ surroundings: Surroundings) -> Bool {
    let kinds = Set(addresses.seen(surroundings.addresses(of: node)).map(\.kind))
    return !kinds.isEmpty && kinds.isSubset(of: search?.goneKinds ?? [])
  }

  // MARK: Addresses

  /// A stranger has nobody dialled, whatever it waits for.
  func receivedListening(_ ports: [ListeningPort]) {
    if isMember { addresses.told(ports) }
  }

  /// The discovery table has learned something of the peer: it may be what a search waits for.
  private func sighted(_ surroundings: Surroundings, _ turn: Turn) {
    if suspension == nil {
      lookForBetter(surroundings, turn)
      // News of a name or of a signal's strength lead nowhere else.
      guard let search, betterAddresses(surroundings).contains(where: search.isNew) else { return }
    }
    search?.sighted(searchTerms, turn)
  }

  /// The place of a transport in the order of preference: the smaller, the better.
  private func rank(_ kind: TransportKind) -> Int { configuration.transports.firstIndex(of: kind) ?? .max }

  /// Whether a link goes over a better transport than the active one.
  private func isBetter(_ link: Link, than current: Link) -> Bool {
    configuration.movesBetweenTransports && rank(link.opening.traits.kind) < rank(current.opening.traits.kind)
  }

  /// Where the peer may be reached over a transport that is better than the one in use.
  private func betterAddresses(_ surroundings: Surroundings) -> [TransportAddress] {
    guard configuration.movesBetweenTransports, isDurable, isMember, leaving == nil, let link, link.phase == .active
    else { return [] }
    let current = rank(link.opening.traits.kind)
    if current == 0 { return [] }
    let better = knownAddresses(surroundings).filter { rank($0.kind) < current }
    return search?.worthTrying(better) ?? better
  }

  /// A member may move to a better transport: soon, and again now and then.
  private func lookForBetter(_ surroundings: Surroundings, _ turn: Turn) {
    guard search == nil, suspension == nil, !betterAddresses(surroundings).isEmpty else { return }
    search = LinkSearch(for: node, nextRound: turn.now + .milliseconds(500))
  }
}
