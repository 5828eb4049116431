import PiconetWire

/// Decides which nodes may connect, and whether there is room for another link, association or member: in a group, for
/// a member of the whole group. It only decides; the engine carries it out.
struct Admission {
  /// What becomes of a node that has said hello on a link.
  enum Verdict {
    case admitted
    /// Not known yet: one of our dials may still turn out to lead to this node.
    case undecided
    /// It has answered where we look for another node.
    case elsewhere(than: NodeID)
    /// It is refused, and its unused association ends.
    case turnedAway(Reason, unused: Association?)
  }

  /// Whether there is room for another one.
  enum Room {
    case free
    /// There is, once this association has been ended in this way.
    case after(Association, Ending)
    case none

    var isFound: Bool { if case .none = self { false } else { true } }
  }

  private let configuration: EngineConfiguration
  /// Whether strangers may come in over links that they open.
  private var isOpen = true
  /// Peers that may connect even while strangers may not.
  private var expected = ExpectedPeers() { didSet { watch.changed() } }
  /// Links of strangers that may turn out to be the peers we are dialling by address: neither admitted nor refused yet.
  private(set) var undecided: [Link] = []
  private var refusals = RefusalBudget()
  /// The places of the group, if the session is one.
  private var places: GroupPlaces
  private var isShuttingDown = false
  /// Told of changes to what `nextDeadline` depends on.
  private let watch: DeadlineWatch

  init(_ node: NodeID, _ configuration: EngineConfiguration, _ watch: DeadlineWatch) {
    self.configuration = configuration
    places = GroupPlaces(node, configuration, watch)
    self.watch = watch
  }

  private var isGroup: Bool { configuration.membership == .group }

  /// When the first expectation of a peer ends, or something about places is due.
  var nextDeadline: Instant? { [expected.nextDeadline, places.nextDeadline].compactMap { $0 }.min() }

  mutating func deadlineReached(at now: Instant) { expected.removeEnded(at: now) }

  // MARK: Strangers

  mutating func setOpen(_ isOpen: Bool) { self.isOpen = isOpen }

  /// Whether a peer may dial us that is no member.
  func expectsPeers(_ introduced: IntroducedNodes) -> Bool { !expected.isEmpty || introduced.entries.expectsNodes }

  /// Whether a node may come to resume an association.
  func expectsMembers(_ associations: AssociationTable) -> Bool {
    !isShuttingDown && associations.contains(where: \.mayComeBack)
  }

  mutating func expect(_ id: CommandID, _ peer: PeerID, for duration: Duration, _ turn: Turn) {
    do throws(Ending) {
      try expected.expect(peer, for: duration, at: turn.now)
      turn.reply(id, .done)
    } catch {
      turn.reply(id, .failed(error))
    }
  }

  mutating func stopExpecting(_ id: CommandID, _ peer: PeerID, _ turn: Turn) {
    expected.remove(peer)
    turn.reply(id, .done)
  }

  /// Nobody is expected any more, and nobody has to go for a place.
  mutating func shutDown() {
    isShuttingDown = true
    expected = ExpectedPeers()
    places.removeAll()
  }

  /// Whether the node may connect over this link. While we are open, any node may. Otherwise only a node that we have
  /// dialled, are inviting or expect, one whose introduction the application has accepted, and one whose association
  /// with us is in use.
  func verdict(
    on remote: NodeID, _ hello: Hello, over link: Link, _ attempts: InvitationAttempts,
    _ surroundings: Surroundings, _ turn: Turn
  ) -> Verdict {
    let (associations, held) = (surroundings.associations, hello.held?.id)
    // Our own hello, which no longer holds anything, would say that we have lost the association.
    if !link.isDialler, let reason = associations.farewell(to: remote, holding: held, at: turn.now) {
      return .turnedAway(reason, unused: nil)
    }
    let association = associations[remote]
    if association?.isUnused == false || admitsStranger(remote, over: link, attempts, surroundings, turn) {
      return link.searchedFor.flatMap { $0 == remote ? nil : .elsewhere(than: $0) } ?? .admitted
    }
    // If two hidden nodes dial each other by address, the peer's link may come before ours has shown whose address it
    // is.
    if attempts.isDiallingAnybody, !link.isDialler { return .undecided }
    // A peer that holds an association wants to resume it, and must learn that it is over.
    guard association == nil, held != nil else { return .turnedAway(.notAvailable, unused: association) }
    return .turnedAway(associations.reasonGone(remote, holding: held, at: turn.now), unused: nil)
  }

  /// Whether this frame is allowed. An invitation over an unused association is, only while its node may connect: that
  /// we were open or expected the node when the association began is not enough. All other frames are allowed.
  func admitsInvitation(
    _ frame: InvitationFrame, by association: Association, over link: Link, _ attempts: InvitationAttempts,
    _ surroundings: Surroundings, _ turn: Turn
  ) -> Bool {
    !frame.isInvitation || !association.isUnused
      || admitsStranger(association.node, over: link, attempts, surroundings, turn)
  }

  /// Whether a node that has no association with us may come in over this link.
  func admitsStranger(
    _ remote: NodeID, over link: Link, _ attempts: InvitationAttempts,
    _ surroundings: Surroundings, _ turn: Turn
  ) -> Bool {
    isOpen || link.isDialler || attempts.contains(node: remote)
      || surroundings.associations[remote]?.invitations.own != nil
      || attempts.leads(to: remote.peer, surroundings.links)
      || expected.contains(remote.peer, at: turn.now)
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

  /// Whether there is room for another association with this key. One key gets only so many, of which the oldest gives
  /// way. In a full table a stranger's gives way, so that strangers don't keep others out.
  func roomForAssociation(
    ofKey peer: PeerID, _ associations: AssociationTable, _ attempts: InvitationAttempts
  ) -> Room {
    if let oldest = associations.beyondKey(peer, attempts) {
      let words = "more than \(KeepingLimits.strangersOfKey) associations with one key"
      return .after(oldest, Ending(.limitExceeded, .us, words))
    }
    guard associations.isFull else { return .free }
    return associations.strangerGivingWay(attempts).map { .after($0, Ending(.idle, .us, "too many associations")) }
      ?? .none
  }

  // MARK: Members

  /// Whether this node needs a place of the group as a member. One that is in no group needs one of our session only.
  private func takesGroupPlace(_ newcomer: NodeID, _ associations: AssociationTable) -> Bool {
    isGroup && associations[newcomer]?.isOfGroup != false
  }

  func isFull(_ associations: AssociationTable) -> Bool { associations.takenPlaces >= configuration.capacity }

  /// Whether this node can become a member.
  /// - Parameter isInviting: whether we are about to invite it.
  func hasRoom(
    forMember newcomer: NodeID, isInviting: Bool = false, _ associations: AssociationTable, _ turn: Turn
  ) -> Bool {
    takesGroupPlace(newcomer, associations)
      ? places.hasPlace(for: newcomer, isInviting: isInviting, associations, turn.introduced, at: turn.now)
      : hasOwnRoom(for: newcomer, associations, at: turn.now)
  }

  /// Whether our own session has room for this node.
  private func hasOwnRoom(for newcomer: NodeID, _ associations: AssociationTable, at now: Instant) -> Bool {
    !isFull(associations) || associations.givingWay(to: newcomer, configuration, now) != nil
  }

  /// How an invitation of ours ends if there is no place; nil if there is one.
  /// - Parameter newcomer: nil: an address where anybody may answer.
  func full(for newcomer: NodeID?, _ associations: AssociationTable, _ turn: Turn) -> Ending? {
    let isFull =
      isGroup
      ? !places.hasPlace(for: newcomer, isInviting: true, associations, turn.introduced, at: turn.now)
      : isFull(associations)
    return isFull ? configuration.full : nil
  }

  /// Why a node that a member introduces can't become a member; nil if it can. What a member has, others may have, too.
  func full(forIntroduced subject: NodeID, _ associations: AssociationTable, _ turn: Turn) -> Ending? {
    let hasRoom =
      isGroup
      ? places.hasPlace(forIntroduced: subject, associations, turn.introduced, at: turn.now)
      : hasOwnRoom(for: subject, associations, at: turn.now)
    return hasRoom ? nil : configuration.full
  }

  /// Whether there is no place for the node of the association that waits for the driver's answer, before we invite it.
  func isFull(awaiting id: CodeID, _ associations: AssociationTable, _ turn: Turn) -> Bool {
    guard isGroup else { return isFull(associations) }
    return associations.awaiting(id).map { !hasRoom(forMember: $0.node, isInviting: true, associations, turn) } ?? false
  }

  /// Whether there is a place for this node. In a full session another member may have to give up its place.
  func room(forMember newcomer: NodeID, _ associations: AssociationTable, _ turn: Turn) -> Room {
    if takesGroupPlace(newcomer, associations) {
      return hasRoom(forMember: newcomer, associations, turn) ? .free : .none
    }
    guard isFull(associations), associations[newcomer]?.holdsPlace != true else { return .free }
    guard let (member, why) = associations.givingWay(to: newcomer, configuration, turn.now) else { return .none }
    return .after(member, Ending(.idle, .us, "somebody else wants in, and \(why)"))
  }

  // MARK: Places of the group

  /// What a node is told of our group when it is invited or accepted; nil in a session of pairs.
  func groupView(_ associations: AssociationTable) -> GroupView? {
    isGroup ? places.view(associations, reserved: true) : nil
  }

  mutating func joined(_ node: NodeID, _ associations: AssociationTable, _ turn: Turn) {
    if let association = associations[node] { places.joined(association, at: turn.now) }
    turn.placesChanged()
  }

  /// An introduction of two members that the group has begun has ended.
  /// - Parameter cause: what keeps them apart; nil: they are together.
  mutating func introduced(_ pair: Group.Pair, apartBy cause: PairsApart.Cause?, _ turn: Turn) {
    places.introduced(pair, apartBy: cause)
    turn.placesChanged()
  }

  /// A member has told of a change of its group.
  mutating func viewChanged(of node: NodeID, _ turn: Turn) {
    places.viewChanged(of: node)
    turn.placesChanged()
  }

  /// Takes note of changes of places.
  mutating func settlePlaces(_ associations: AssociationTable, _ turn: Turn) {
    guard turn.takePlacesChanged(), isGroup, !isShuttingDown else { return }
    places.changed(associations, at: turn.now)
  }

  /// Tells members of changes of the group if it is time to.
  /// - Returns: those to leave because there are more than places.
  mutating func takeParting(_ associations: AssociationTable, _ turn: Turn) -> [NodeID] {
    guard isGroup else { return [] }
    turn.placesChanged()
    places.tellMembers(associations, turn)
    return places.takeParting(associations, at: turn.now)
  }
}
