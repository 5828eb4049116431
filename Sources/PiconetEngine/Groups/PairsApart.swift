import PiconetWire

/// Pairs of our members that could not connect to each other. Such a group can exceed its capacity without any single
/// node exceeding its own. A node that sees a failed pair disconnects the member that joined later.
struct PairsApart {
  /// The cause that keeps two members apart.
  enum Cause {
    /// One of them has no place for the other, so they can't both be in this group.
    case full
    /// Any other cause: they can't reach each other, or one refuses the other. They may both be in the group, if it has
    /// the places.
    case other
  }

  /// How long introductions don't bring back a node that was left. In that time the other members that have it find the
  /// same.
  static let leftFor = Duration.seconds(60)
  /// The maximum number of nodes remembered as left; beyond it the oldest is forgotten.
  static let leftLimit = 256

  private var pairs: [Group.Pair: Cause] = [:]
  private var left: [(node: NodeID, until: Instant)] = []

  /// Notes that an introduction of the two has failed.
  mutating func failed(_ pair: Group.Pair, _ cause: Cause) {
    guard pairs[pair] != nil || pairs.count < Group.limit else { return }
    pairs[pair] = cause
  }

  /// Notes that the two are together.
  mutating func remove(_ pair: Group.Pair) {
    if !pairs.isEmpty { pairs[pair] = nil }
  }

  /// Forgets pairs without a place after a member has told of a change of its group: it may have a place now.
  mutating func viewChanged(of node: NodeID) {
    if !pairs.isEmpty { pairs = pairs.filter { $0.value != .full || !$0.key.contains(node) } }
  }

  /// Forgets pairs whose nodes are no longer both members.
  mutating func keep(_ associations: AssociationTable) {
    if !pairs.isEmpty { pairs = pairs.filter { Self.later(of: $0.key, associations) != nil } }
  }

  /// Returns the members that are too many. Of each pair that can't be in one group, it is the member that came to us
  /// later. A member is exempt once it has been one for longer than a race for places can take. The time of its coming
  /// is our own knowledge. A rank is a node's own claim, and could separate others.
  /// - Parameter isOverfull: whether the group has more members than places, according to its members.
  func excess(
    _ associations: AssociationTable, isOverfull: (AssociationTable) -> Bool, at now: Instant
  ) -> Set<NodeID> {
    guard !pairs.isEmpty else { return [] }
    let isOverfull = isOverfull(associations)
    let later = pairs.filter { $0.value == .full || isOverfull }.keys.compactMap { Self.later(of: $0, associations) }
    return Set(later.filter { ($0.memberSince ?? now) + GroupPlaces.settledAfter > now }.map(\.node))
  }

  /// Returns the one of two members that has been a member for a shorter time; nil unless both are members.
  private static func later(of pair: Group.Pair, _ associations: AssociationTable) -> Association? {
    guard let first = associations[pair.first], let second = associations[pair.second],
      first.isOfGroup, second.isOfGroup, first.isStaying, second.isStaying,
      let one = first.memberSince, let other = second.memberSince
    else { return nil }
    return one > other ? first : second
  }

  /// Notes that we leave these nodes.
  mutating func leave(_ nodes: Set<NodeID>, at now: Instant) {
    left.removeAll { $0.until <= now || nodes.contains($0.node) }
    left += nodes.sorted().map { ($0, now + Self.leftFor) }
    left.removeFirst(max(0, left.count - Self.leftLimit))
  }

  /// Returns whether this node was left a short time ago.
  func wasLeft(_ node: NodeID, at now: Instant) -> Bool { left.contains { $0.node == node && now < $0.until } }
}
