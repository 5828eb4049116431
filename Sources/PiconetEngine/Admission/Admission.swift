import PiconetWire

/// Who may come in, and for whom there is room: over a link, with an association, as a member. It says what is to be
/// done, and the engine does it.
struct Admission {
  /// What becomes of a node that has said hello on a link.
  enum Verdict {
    case admitted
    /// A dial of ours may still show that it is the peer which we want.
    case undecided
    case turnedAway
  }

  /// Whether there is room for another one.
  enum Room {
    case free
    /// Once this association has ended.
    case after(Association, Ending)
    case none
  }

  private let configuration: EngineConfiguration
  /// Whether strangers may come in over links that they open.
  private var isOpen = true
  /// Peers that may come in where strangers may not.
  private var expected = ExpectedPeers() { didSet { watch.changed() } }
  /// Links of strangers that may be the peers we dial by address: neither let in nor refused yet.
  private(set) var undecided: [Link] = []
  private var refusals = RefusalBudget()
  /// Told of changes to what `nextDeadline` depends on.
  private let watch: DeadlineWatch

  init(_ configuration: EngineConfiguration, _ watch: DeadlineWatch) {
    self.configuration = configuration
    self.watch = watch
  }

  /// When the first peer is no longer expected.
  var nextDeadline: Instant? { expected.nextDeadline }

  mutating func deadlineReached(at now: Instant) { expected.removeEnded(at: now) }

  // MARK: Strangers

  mutating func setOpen(_ isOpen: Bool) { self.isOpen = isOpen }

  /// Whether a peer is expected by its key.
  var expectsPeers: Bool { !expected.isEmpty }

  mutating func expect(_ peer: PeerID, for duration: Duration, at now: Instant) throws(Ending) {
    try expected.expect(peer, for: duration, at: now)
  }

  mutating func stopExpecting(_ peer: PeerID) { expected.remove(peer) }

  mutating func expectNobody() { expected = ExpectedPeers() }

  /// Whether the node may come in over this link: any while we are open; otherwise nodes that we have dialled, invite,
  /// expect or want by the word of a member, and those that have an association with us that is used.
  func verdict(
    on remote: NodeID, over link: Link, _ attempts: InvitationAttempts, _ ways: Ways, _ turn: Turn
  ) -> Verdict {
    if let association = ways.associations[remote], !association.isUnused { return .admitted }
    if admitsStranger(remote, over: link, attempts, ways, turn) { return .admitted }
    // Two hidden nodes dial each other by address: the other's link may come before ours has shown whose address it is.
    return attempts.isDiallingAnybody && !link.isDialler ? .undecided : .turnedAway
  }

  /// Whether an invitation may come over this association: one that began while we were open, or expected the node, and
  /// of which nothing came, is no way in any more.
  func admitsInvitation(
    _ frame: InvitationFrame, by association: Association, over link: Link, _ attempts: InvitationAttempts,
    _ ways: Ways,
    _ turn: Turn
  ) -> Bool {
    !frame.isInvitation || !association.isUnused || admitsStranger(association.node, over: link, attempts, ways, turn)
  }

  /// Whether a node that has no association with us may come in over this link.
  func admitsStranger(
    _ remote: NodeID, over link: Link, _ attempts: InvitationAttempts, _ ways: Ways, _ turn: Turn
  ) -> Bool {
    isOpen || link.isDialler || attempts.contains(node: remote) || ways.associations[remote]?.invitations.own != nil
      || attempts.leads(to: remote.peer, ways.links) || expected.contains(remote.peer, at: turn.now)
      || turn.introduced.entries.isAccepted(remote)
  }

  /// The link waits until our dials have shown whose addresses they lead to, as long as a handshake may take.
  mutating func wait(_ link: Link) {
    // Nothing of it is decoded meanwhile.
    link.awaitTrust()
    undecided.append(link)
  }

  /// Takes out the links that wait, in the order in which they came.
  mutating func takeUndecided() -> [Link] {
    defer { undecided = [] }
    return undecided
  }

  /// Tells the application of a peer that came by this link and was not trusted, if it is told of another one.
  mutating func reportRefusal(on link: Link, _ ending: Ending, _ turn: Turn) { refusals.report(link, ending, turn) }

  // MARK: Links and associations

  /// The link that gives way to another one: links that never get to an association must not keep others out.
  func handshakeGivingWay(_ links: LinkTable) -> (link: Link, ending: Ending)? {
    links.givingWay(limit: configuration.handshakeLimit).map {
      ($0, Ending(.limitExceeded, .us, "too many links in their handshake"))
    }
  }

  /// The association that gives way to another one of its key: each may have only a few.
  func strangerGivingWay(
    ofKey peer: PeerID, _ associations: AssociationTable, _ attempts: InvitationAttempts
  ) -> (association: Association, ending: Ending)? {
    associations.beyondKey(peer, attempts).map {
      ($0, Ending(.limitExceeded, .us, "more than \(KeepingLimits.strangersOfKey) associations with one key"))
    }
  }

  /// Whether there is room for another association: those of strangers must not keep others out.
  func roomForAssociation(_ associations: AssociationTable, _ attempts: InvitationAttempts) -> Room {
    guard associations.isFull else { return .free }
    return associations.strangerGivingWay(attempts).map { .after($0, Ending(.idle, .us, "too many associations")) }
      ?? .none
  }

  // MARK: Members

  /// How an invitation ends for lack of a place in the session; nil if there is one.
  func full(_ associations: AssociationTable) -> Ending? { isFull(associations) ? configuration.full : nil }

  func isFull(_ associations: AssociationTable) -> Bool { associations.takenPlaces >= configuration.capacity }

  /// Whether this node can become a member.
  func hasRoom(forMember newcomer: NodeID, _ associations: AssociationTable, at now: Instant) -> Bool {
    !isFull(associations) || associations.givingWay(to: newcomer, configuration, now) != nil
  }

  /// Whether there is a place for this node: if the session is full, another member goes.
  func room(forMember newcomer: NodeID, _ associations: AssociationTable, at now: Instant) -> Room {
    guard isFull(associations), associations[newcomer]?.holdsPlace != true else { return .free }
    guard let (member, why) = associations.givingWay(to: newcomer, configuration, now) else { return .none }
    return .after(member, Ending(.idle, .us, "somebody else wants in, and \(why)"))
  }
}
