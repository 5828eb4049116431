import PiconetWire

/// Decides which nodes may connect, and whether there is room for another link, association or member. It only decides;
/// the engine carries it out.
struct Admission {
  /// What becomes of a node that has said hello on a link.
  enum Verdict {
    case admitted
    /// Not known yet: one of our dials may still turn out to lead to this node.
    case undecided
    case turnedAway
  }

  /// Whether there is room for another one.
  enum Room {
    case free
    /// There is, once this association has been ended in this way.
    case after(Association, Ending)
    case none
  }

  private let configuration: EngineConfiguration
  /// Whether strangers may come in over links that they open.
  private var isOpen = true
  /// Peers that may connect even while strangers may not.
  private var expected = ExpectedPeers() { didSet { watch.changed() } }
  /// Links of strangers that may turn out to be the peers we are dialling by address: neither admitted nor refused yet.
  private(set) var undecided: [Link] = []
  private var refusals = RefusalBudget()
  /// Told of changes to what `nextDeadline` depends on.
  private let watch: DeadlineWatch

  init(_ configuration: EngineConfiguration, _ watch: DeadlineWatch) {
    self.configuration = configuration
    self.watch = watch
  }

  /// When the first expectation of a peer ends; nil if none is expected.
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

  /// Whether the node may connect over this link. While we are open, any node may. Otherwise only a node that we have
  /// dialled, are inviting or expect, one whose introduction the application has accepted, and one whose association
  /// with us is in use.
  func verdict(
    on remote: NodeID, over link: Link, _ attempts: InvitationAttempts, _ ways: Ways, _ turn: Turn
  ) -> Verdict {
    if let association = ways.associations[remote], !association.isUnused { return .admitted }
    if admitsStranger(remote, over: link, attempts, ways, turn) { return .admitted }
    // If two hidden nodes dial each other by address, the peer's link may come before ours has shown whose address it
    // is.
    return attempts.isDiallingAnybody && !link.isDialler ? .undecided : .turnedAway
  }

  /// Whether this frame is allowed. An invitation over an unused association is, only while its node may connect: that
  /// we were open or expected the node when the association began is not enough. All other frames are allowed.
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

  /// Keeps the link until our dials have shown whose addresses they lead to, for as long as a handshake may take.
  mutating func wait(_ link: Link) {
    // This pauses decoding.
    link.awaitTrust()
    undecided.append(link)
  }

  /// Takes out the links that wait, in the order in which they came.
  mutating func takeUndecided() -> [Link] {
    defer { undecided = [] }
    return undecided
  }

  /// Reports to the application that the peer on this link was not trusted, unless too many such reports have been
  /// made.
  mutating func reportRefusal(on link: Link, _ ending: Ending, _ turn: Turn) { refusals.report(link, ending, turn) }

  // MARK: Links and associations

  /// The link to end so that another handshake may begin; nil if there is room. Links that never get as far as an
  /// association must not keep others out.
  func handshakeGivingWay(_ links: LinkTable) -> (link: Link, ending: Ending)? {
    links.givingWay(limit: configuration.handshakeLimit).map {
      ($0, Ending(.limitExceeded, .us, "too many links in their handshake"))
    }
  }

  /// The association to end so that another one with the same key may begin; nil if the key has fewer than it may.
  func strangerGivingWay(
    ofKey peer: PeerID, _ associations: AssociationTable, _ attempts: InvitationAttempts
  ) -> (association: Association, ending: Ending)? {
    associations.beyondKey(peer, attempts).map {
      ($0, Ending(.limitExceeded, .us, "more than \(KeepingLimits.strangersOfKey) associations with one key"))
    }
  }

  /// Whether there is room for another association. In a full table a stranger's gives way, so that strangers don't
  /// keep others out.
  func roomForAssociation(_ associations: AssociationTable, _ attempts: InvitationAttempts) -> Room {
    guard associations.isFull else { return .free }
    return associations.strangerGivingWay(attempts).map { .after($0, Ending(.idle, .us, "too many associations")) }
      ?? .none
  }

  // MARK: Members

  /// How an invitation ends if the session has no place left; nil if it has one.
  func full(_ associations: AssociationTable) -> Ending? { isFull(associations) ? configuration.full : nil }

  func isFull(_ associations: AssociationTable) -> Bool { associations.takenPlaces >= configuration.capacity }

  /// Whether this node can become a member.
  func hasRoom(forMember newcomer: NodeID, _ associations: AssociationTable, at now: Instant) -> Bool {
    !isFull(associations) || associations.givingWay(to: newcomer, configuration, now) != nil
  }

  /// Whether there is a place for this node. In a full session another member may have to give up its place.
  func room(forMember newcomer: NodeID, _ associations: AssociationTable, at now: Instant) -> Room {
    guard isFull(associations), associations[newcomer]?.holdsPlace != true else { return .free }
    guard let (member, why) = associations.givingWay(to: newcomer, configuration, now) else { return .none }
    return .after(member, Ending(.idle, .us, "somebody else wants in, and \(why)"))
  }
}
