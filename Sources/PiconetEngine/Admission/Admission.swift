import PiconetWire

/// Decides which nodes may connect, and whether there is room for another link, association or member: in a group, for
/// a member of the whole group. It only decides; the engine carries it out.
struct Admission {
  /// What happens to a node that has said hello on a link.
  enum Verdict {
    case admitted
    /// Not known yet: one of our dials may still turn out to lead to this node.
    case undecided
    /// It has answered at an address where we look for another node.
    case elsewhere(than: NodeID)
    /// It is refused, and its unused association ends.
    case turnedAway(Reason, unused: Association?)
  }

  /// Whether there is room for another link, association or member.
  enum Room {
    case free
    /// There is room once this association has been ended in this way.
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
  /// The places of the group; used only if the session is a group.
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

  /// When the first expectation of a peer ends, or the next step about places is due.
  var nextDeadline: Instant? { [expected.nextDeadline, places.nextDeadline].compactMap { $0 }.min() }

  mutating func deadlineReached(at now: Instant) { expected.removeEnded(at: now) }

  // MARK: Strangers

  mutating func setOpen(_ isOpen: Bool) { self.isOpen = isOpen }

  /// Returns whether a peer that is not a member may dial us.
  func expectsPeers(_ introduced: IntroducedNodes) -> Bool { !expected.isEmpty || introduced.entries.expectsNodes }

  /// Returns whether a node may come to resume an association.
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

  /// Forgets all expected peers. No member has to leave for a place any more.
  mutating func shutDown() {
    isShuttingDown = true
    expected = ExpectedPeers()
    places.removeAll()
  }

  /// Decides whether the node may connect over this link. While we are open, any node may. While we are closed, only
  /// these nodes may:
  /// - a node that we have dialled, are inviting or expect
  /// - a node whose introduction the application has accepted
  /// - a node whose association with us is in use
  func verdict(
    on remote: NodeID, _ hello: Hello, over link: Link, _ attempts: InvitationAttempts,
    _ surroundings: Surroundings, _ turn: Turn
  ) -> Verdict {
    let (associations, held) = (surroundings.associations, hello.held?.id)
    // Our own hello no longer holds any association: it would say that we have lost this one.
    if !link.isDialler, let reason = associations.farewell(to: remote, holding: held, at: turn.now) {
      return .turnedAway(reason, unused: nil)
    }
    let association = associations[remote]
    if association?.isUnused == false || admitsStranger(remote, over: link, attempts, surroundings, turn) {
      return link.searchedFor.flatMap { $0 == remote ? nil : .elsewhere(than: $0) } ?? .admitted
    }
    // If two hidden nodes dial each other by address, the peer's link may come first. Our own dial has then not shown
    // yet whose address it has reached.
    if attempts.isDiallingAnybody, !link.isDialler { return .undecided }
    // A peer that holds an association wants to resume it, and must learn that it is over.
    guard association == nil, held != nil else { return .turnedAway(.notAvailable, unused: association) }
    return .turnedAway(associations.reasonGone(remote, holding: held, at: turn.now), unused: nil)
  }

  /// Returns whether this frame is allowed. An invitation over an unused association is allowed only while its node may
  /// connect. It is not enough that we were open, or expected the node, when the association began. All other frames
  /// are allowed.
  func admitsInvitation(
    _ frame: InvitationFrame, by association: Association, over link: Link, _ attempts: InvitationAttempts,
    _ surroundings: Surroundings, _ turn: Turn
  ) -> Bool {
    !frame.isInvitation || !association.isUnused
      || admitsStranger(association.node, over: link, attempts, surroundings, turn)
  }

  /// Returns whether a node without an association with us may connect over this link.
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

  /// Keeps the link until our dials have shown which nodes they lead to, at most as long as a handshake may take.
  mutating func wait(_ link: Link) {
    // This pauses decoding.
    link.awaitTrust()
    undecided.append(link)
  }

  /// Takes out the waiting links, in the order in which they came.
  mutating func takeUndecided() -> [Link] {
    defer { undecided = [] }
    return undecided
  }

  /// Reports to the application that the peer on this link was not trusted, unless too many such reports have been
  /// made.
  mutating func reportRefusal(on link: Link, _ ending: Ending, _ turn: Turn) { refusals.report(link, ending, turn) }

  // MARK: Links and associations

  /// Returns the link to end so that another handshake may begin; nil if there is room. Links that never get as far as
  /// an association must not keep others out.
  func handshakeGivingWay(_ links: LinkTable) -> (link: Link, ending: Ending)? {
    links.givingWay(limit: configuration.handshakeLimit).map {
      ($0, Ending(.limitExceeded, .us, "too many links in their handshake"))
    }
  }

  /// Returns whether there is room for another association with this key. The number of associations of one key is
  /// limited; beyond it, the oldest gives way. In a full table a stranger's association gives way, so that strangers
  /// don't keep others out.
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

  /// Returns whether this node, as a member, needs a place of the group. A node outside any group needs only a place of
  /// our session.
  private func takesGroupPlace(_ newcomer: NodeID, _ associations: AssociationTable) -> Bool {
    isGroup && associations[newcomer]?.isOfGroup != false
  }

  func isFull(_ associations: AssociationTable) -> Bool { associations.takenPlaces >= configuration.capacity }

  /// Returns whether this node can become a member.
  /// - Parameter isInviting: whether we are about to invite it.
  func hasRoom(
    forMember newcomer: NodeID, isInviting: Bool = false, _ associations: AssociationTable, _ turn: Turn
  ) -> Bool {
    takesGroupPlace(newcomer, associations)
      ? places.hasPlace(for: newcomer, isInviting: isInviting, associations, turn.introduced, at: turn.now)
      : hasOwnRoom(for: newcomer, associations, at: turn.now)
  }

  /// Returns whether our own session has room for this node.
  private func hasOwnRoom(for newcomer: NodeID, _ associations: AssociationTable, at now: Instant) -> Bool {
    !isFull(associations) || associations.givingWay(to: newcomer, configuration, now) != nil
  }

  /// Returns how our invitation of this node ends if there is no place; nil if there is one.
  /// - Parameter newcomer: the node to invite; nil for an address where any node may answer.
  func full(for newcomer: NodeID?, _ associations: AssociationTable, _ turn: Turn) -> Ending? {
    let isFull =
      isGroup
      ? !places.hasPlace(for: newcomer, isInviting: true, associations, turn.introduced, at: turn.now)
      : isFull(associations)
    return isFull ? configuration.full : nil
  }

  /// Returns why a node that a member introduces can't become a member; nil if it can. A node that one member has,
  /// other members may have too.
  func full(forIntroduced subject: NodeID, _ associations: AssociationTable, _ turn: Turn) -> Ending? {
    let hasRoom =
      isGroup
      ? places.hasPlace(forIntroduced: subject, associations, turn.introduced, at: turn.now)
      : hasOwnRoom(for: subject, associations, at: turn.now)
    return hasRoom ? nil : configuration.full
  }

  /// Returns whether there is no place for the node whose association waits for the driver's answer. Asked before we
  /// invite the node.
  func isFull(awaiting id: CodeID, _ associations: AssociationTable, _ turn: Turn) -> Bool {
    guard isGroup else { return isFull(associations) }
    return associations.awaiting(id).map { !hasRoom(forMember: $0.node, isInviting: true, associations, turn) } ?? false
  }

  /// Returns whether there is a place for this node. In a full session another member may have to give up its place.
  func room(forMember newcomer: NodeID, _ associations: AssociationTable, _ turn: Turn) -> Room {
    if takesGroupPlace(newcomer, associations) {
      return hasRoom(forMember: newcomer, associations, turn) ? .free : .none
    }
    guard isFull(associations), associations[newcomer]?.holdsPlace != true else { return .free }
    guard let (member, why) = associations.givingWay(to: newcomer, configuration, turn.now) else { return .none }
    return .after(member, Ending(.idle, .us, "somebody else wants in, and \(why)"))
  }

  // MARK: Places of the group

  /// Returns the view of our group that a node is told when we invite or accept it; nil in a session of pairs.
  func groupView(_ associations: AssociationTable) -> GroupView? {
    isGroup ? places.view(associations, reserved: true) : nil
  }

  mutating func joined(_ node: NodeID, _ associations: AssociationTable, _ turn: Turn) {
    if let association = associations[node] { places.joined(association, at: turn.now) }
    turn.placesChanged()
  }

  /// Notes that an introduction of two members, which the group began, has ended.
  /// - Parameter cause: what keeps the two apart; nil if they are connected.
  mutating func introduced(_ pair: Group.Pair, apartBy cause: PairsApart.Cause?, _ turn: Turn) {
    places.introduced(pair, apartBy: cause)
    turn.placesChanged()
  }

  /// Notes that a member has told of a change of its group.
  mutating func viewChanged(of node: NodeID, _ turn: Turn) {
    places.viewChanged(of: node)
    turn.placesChanged()
  }

  /// Updates the places after a change.
  mutating func settlePlaces(_ associations: AssociationTable, _ turn: Turn) {
    guard turn.takePlacesChanged(), isGroup, !isShuttingDown else { return }
    places.changed(associations, at: turn.now)
  }

  /// Tells members of changes of the group if it is time to do so.
  /// - Returns: the members to leave because there are more members than places.
  mutating func takeParting(_ associations: AssociationTable, _ turn: Turn) -> [NodeID] {
    guard isGroup else { return [] }
    turn.placesChanged()
    places.tellMembers(associations, turn)
    return places.takeParting(associations, at: turn.now)
  }
}
