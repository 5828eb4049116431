import PiconetWire

/// The places of the group that this node is in: which nodes hold one, as far as we know, and whether there are more
/// members than places.
struct GroupPlaces {
  /// Upper bound on how long a race for the last place can remain undecided. After it an earlier member keeps its
  /// place, whatever a newcomer says.
  static let settledAfter = Duration.seconds(60)
  /// The pause before members are told of a change of the group. Changes in the meantime are told together with it.
  private static let viewPause = Duration.milliseconds(200)
  /// How long there may be too many members. News from members about it may still be on its way.
  private static let patience = Duration.milliseconds(500)

  private let node: NodeID
  private let capacity: UInt64
  /// Our rank in the group; 0 if we are in no group.
  private(set) var rank: UInt64 = 0
  private var rankedAt = Instant(nanoseconds: 0)
  /// When members are told of the group.
  private var viewDue: Instant? { didSet { watch.changed() } }
  /// When the members beyond the places must leave.
  private var crowdedUntil: Instant? { didSet { watch.changed() } }
  /// Members that introductions have not brought together.
  private var apart = PairsApart()
  /// Told of changes to what `nextDeadline` depends on.
  private let watch: DeadlineWatch

  init(_ node: NodeID, _ configuration: EngineConfiguration, _ watch: DeadlineWatch) {
    self.node = node
    capacity = UInt64(configuration.capacity)
    self.watch = watch
  }

  // MARK: Knowledge

  /// Returns our capacity for the group. Members outside the group take places too.
  private func capacity(_ associations: AssociationTable) -> UInt64 {
    let outside = associations.values.count { !$0.isOfGroup && ($0.isMember || $0.holdsPlace) }
    return max(capacity - min(capacity, UInt64(outside)), GroupView.leastCapacity)
  }

  /// Returns what we tell members of the group.
  /// - Parameter reserved: whether promised places count.
  func view(_ associations: AssociationTable, reserved: Bool) -> GroupView {
    let own = capacity(associations)
    var (smallest, highest) = (own, rank)
    var members: [Incarnation] = []
    for association in associations.values where association.hasGroupPlace && (reserved || association.isMember) {
      members.append(association.node.incarnation)
      guard association.isMember else { continue }
      smallest = min(smallest, association.groupCapacity)
      highest = max(highest, association.rank)
    }
    members.sort { $0.rawValue < $1.rawValue }
    return GroupView(
      capacity: own, smallest: smallest, rank: rank, highest: highest,
      members: Array(members.prefix(WireLimits.groupMembers)))
  }

  /// Returns the nodes that hold a place, as far as members say and we know. A node that is on its way to us counts.
  private func known(_ associations: AssociationTable, _ introduced: IntroducedNodes) -> Set<Incarnation> {
    var known: Set<Incarnation> = [node.incarnation]
    for association in associations.values where association.hasGroupPlace {
      known.insert(association.node.incarnation)
      known.formUnion(association.groupView?.members ?? [])
    }
    known.formUnion(introduced.entries.nodes.map(\.incarnation))
    return known
  }

  /// Returns the smallest capacity that we have heard of in the group.
  private func smallest(_ associations: AssociationTable) -> UInt64 {
    associations.values.reduce(capacity(associations)) { smallest, association in
      guard association.hasGroupPlace, let view = association.groupView else { return smallest }
      return min(smallest, view.capacity, view.smallest)
    }
  }

  /// Returns whether the group has more members than places, according to what our members say.
  private func isOverfull(_ associations: AssociationTable) -> Bool {
    var all: Set<Incarnation> = [node.incarnation]
    for association in associations.values where association.isOfGroup && association.isStaying {
      all.insert(association.node.incarnation)
      all.formUnion(association.groupView?.members ?? [])
    }
    return UInt64(all.count) > smallest(associations)
  }

  /// Returns whether a member says that this node is already in our group.
  private func isKin(_ newcomer: NodeID, _ associations: AssociationTable, _ introduced: IntroducedNodes) -> Bool {
    if introduced.entries[newcomer] != nil { return true }
    return associations.contains { association in
      association.isOfGroup && association.isMember
        && association.groupView?.members.contains(newcomer.incarnation) == true
    }
  }

  /// Returns the order of our own members and ourselves.
  private func order(
    _ associations: AssociationTable, and others: [GroupOrder.Member] = [], staying: Bool, at now: Instant
  ) -> GroupOrder {
    let own = GroupOrder.Member(
      node: node, capacity: capacity(associations), rank: rank, isSettled: rank > 0 && isSettled(rankedAt, now))
    let those = associations.values.filter { association in
      staying ? association.isOfGroup && association.isStaying : association.hasGroupPlace
    }
    let newcomers = Set(others.map(\.node))
    return GroupOrder(
      [own] + others
        + those.filter { !newcomers.contains($0.node) }.map { association in
          GroupOrder.Member(
            node: association.node, capacity: association.groupCapacity, rank: association.rank,
            isSettled: association.memberSince.map { isSettled($0, now) } ?? false)
        })
  }

  private func isSettled(_ since: Instant, _ now: Instant) -> Bool { since + Self.settledAfter <= now }

  // MARK: Admission

  /// Returns whether there is a place for this node.
  /// - Parameters:
  ///   - newcomer: the node; nil for an address where any node may answer.
  ///   - isInviting: whether we are about to invite it. In that case, what it told us at an earlier attempt does not
  ///     count: only members hear of changes, and its answer brings the present state.
  func hasPlace(
    for newcomer: NodeID?, isInviting: Bool, _ associations: AssociationTable, _ introduced: IntroducedNodes,
    at now: Instant
  ) -> Bool {
    let association = newcomer.flatMap { associations[$0] }
    if association?.hasGroupPlace == true { return true }
    if let association, !association.isOfGroup {
      return association.holdsPlace || UInt64(associations.takenPlaces) < capacity
    }
    if let newcomer, isKin(newcomer, associations, introduced), !apart.wasLeft(newcomer, at: now) {
      return hasPlace(forKin: newcomer, associations, at: now)
    }
    return hasPlace(forGroupOf: newcomer, isInviting: isInviting, associations, introduced)
  }

  /// Returns whether there is a place for a node that a member introduces.
  func hasPlace(
    forIntroduced subject: NodeID, _ associations: AssociationTable, _ introduced: IntroducedNodes, at now: Instant
  ) -> Bool {
    apart.wasLeft(subject, at: now)
      ? hasPlace(forGroupOf: subject, isInviting: true, associations, introduced)
      : hasPlace(forKin: subject, associations, at: now)
  }

  /// Returns whether a node from elsewhere has a place together with its whole group.
  private func hasPlace(
    forGroupOf newcomer: NodeID?, isInviting: Bool, _ associations: AssociationTable, _ introduced: IntroducedNodes
  ) -> Bool {
    let association = newcomer.flatMap { associations[$0] }
    let view = isInviting && association?.invitations.isInvited == false ? nil : association?.groupView
    var all = known(associations, introduced)
    all.formUnion(view?.members ?? [])
    let already = newcomer.map { all.contains($0.incarnation) } ?? false
    let limit = min(smallest(associations), view?.smallest ?? .max, view?.capacity ?? .max)
    return UInt64(all.count + (already ? 0 : 1)) <= limit
  }

  /// Returns whether a node that is already a member's member has a place beside our own members. What others say does
  /// not count here: a lie could separate honest members.
  private func hasPlace(forKin newcomer: NodeID, _ associations: AssociationTable, at now: Instant) -> Bool {
    let association = associations[newcomer]
    // Before it has told its rank, it may come before every member that is not settled.
    let rank = association?.groupView.map { $0.rank == 0 ? VariableInteger.max : $0.rank } ?? 0
    let member = GroupOrder.Member(
      node: newcomer, capacity: association?.groupView?.capacity ?? VariableInteger.max, rank: rank, isSettled: false)
    return !order(associations, and: [member], staying: false, at: now).beyond.contains(newcomer)
  }

  // MARK: Changes

  /// Assigns ranks after a node of the group has become a member. They follow from which of the two was in a group
  /// before.
  mutating func joined(_ association: Association, at now: Instant) {
    guard association.isOfGroup else { return }
    let view = association.groupView
    let isFounder = (view?.rank ?? 0) == 0
    if rank > 0 {
      // The node itself arrives at the same rank, from what we told it.
      let told = association.group.toldView
      association.admitted(
        rank: told?.rank == 0 ? (node < association.node ? 2 : 1) : Self.next(told?.highest ?? rank))
    } else if isFounder {
      let isSmaller = node < association.node
      rank = isSmaller ? 1 : 2
      association.admitted(rank: isSmaller ? 2 : 1)
      rankedAt = now
    } else {
      rank = Self.next(view?.highest ?? 0)
      rankedAt = now
    }
  }

  private static func next(_ rank: UInt64) -> UInt64 { min(rank, VariableInteger.max - 1) + 1 }

  /// Notes whether an introduction of two members has brought them together.
  /// - Parameter cause: what keeps the two apart; nil if they are together.
  mutating func introduced(_ pair: Group.Pair, apartBy cause: PairsApart.Cause?) {
    guard let cause else { return apart.remove(pair) }
    apart.failed(pair, cause)
  }

  /// Notes that a member has told of a change of its group.
  mutating func viewChanged(of node: NodeID) { apart.viewChanged(of: node) }

  /// Reacts to a change of members.
  mutating func changed(_ associations: AssociationTable, at now: Instant) {
    let hasOthers = associations.contains(where: \.hasGroupPlace)
    if !hasOthers, rank > 0 { rank = 0 }
    apart.keep(associations)
    let isCrowded = hasOthers && !excess(associations, at: now).isEmpty
    if isCrowded != (crowdedUntil != nil) { crowdedUntil = isCrowded ? now + Self.patience : nil }
    let view = view(associations, reserved: false)
    let isNews = associations.contains { Self.isTold($0) && $0.group.toldView != view }
    if isNews != (viewDue != nil) { viewDue = isNews ? now + Self.viewPause : nil }
  }

  /// Returns whether a member is told of the group. Without a link the frames would only pile up.
  private static func isTold(_ association: Association) -> Bool {
    association.isOfGroup && association.isStaying && association.activeLink != nil
  }

  mutating func removeAll() { (viewDue, crowdedUntil) = (nil, nil) }

  // MARK: Time

  var nextDeadline: Instant? { [viewDue, crowdedUntil].compactMap { $0 }.min() }

  /// Tells members of the group if it is time to do so.
  mutating func tellMembers(_ associations: AssociationTable, _ turn: Turn) {
    guard let due = viewDue, due <= turn.now else { return }
    viewDue = nil
    let view = view(associations, reserved: false)
    for association in associations.inOrder where Self.isTold(association) { association.tell(view, turn) }
  }

  /// Returns the members that must leave because there are more members than places. They are those beyond the places
  /// that we know to be taken, and those that can't share a group with an earlier member.
  private func excess(_ associations: AssociationTable, at now: Instant) -> Excess {
    Excess(
      beyond: order(associations, staying: true, at: now).beyond,
      apart: apart.excess(associations, isOverfull: isOverfull, at: now))
  }

  private struct Excess {
    let beyond: Set<NodeID>
    let apart: Set<NodeID>

    var isEmpty: Bool { beyond.isEmpty && apart.isEmpty }
  }

  /// Returns the members to leave, in order, because there are more members than places. They are the members beyond
  /// the places, and those that are apart from an earlier one. If we are beyond the places ourselves, we leave the
  /// members that are not.
  mutating func takeParting(_ associations: AssociationTable, at now: Instant) -> [NodeID] {
    guard let due = crowdedUntil, due <= now else { return [] }
    crowdedUntil = nil
    let excess = excess(associations, at: now)
    let amBeyond = excess.beyond.contains(node)
    if !amBeyond { apart.leave(excess.apart, at: now) }
    return associations.inOrder.filter { association in
      guard association.isOfGroup && association.isStaying else { return false }
      return excess.beyond.contains(association.node) != amBeyond
        || !amBeyond && excess.apart.contains(association.node)
    }.map(\.node)
  }
}
