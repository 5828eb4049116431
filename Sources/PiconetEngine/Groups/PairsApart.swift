import PiconetWire

/// Pairs of our members that could not connect to each other. Such a group can exceed its capacity without any single
/// node exceeding its own. A node that sees a failed pair disconnects the member that joined later.
struct PairsApart {
  /// What has kept two members apart.
  enum Cause {
    /// One of them has no place for the other: they can't both be of this group.
    case full
    /// Anything else: there is no way, or one refuses the other. They may both be of the group, if it has the places.
    case other
  }

  /// How long introductions don't bring back a node that was left: until the others that have it have found the same.
  static let leftFor = Duration.seconds(60)
  /// The most nodes remembered as left; the oldest goes.
  static let leftLimit = 256

  private var pairs: [Group.Pair: Cause] = [:]
  private var left: [(node: NodeID, until: Instant)] = []

  /// An introduction of the two has failed.
  mutating func failed(_ pair: Group.Pair, _ cause: Cause) {
    guard pairs[pair] != nil || pairs.count < Group.limit else { return }
    pairs[pair] = cause
  }

  /// The two are together.
  mutating func remove(_ pair: Group.Pair) {
    if !pairs.isEmpty { pairs[pair] = nil }
  }

  /// A member has told of a change of its group: it may have a place now.
  mutating func viewChanged(of node: NodeID) {
    if !pairs.isEmpty { pairs = pairs.filter { $0.value != .full || !$0.key.contains(node) } }
  }

  /// Forgets pairs of those that are no members any more.
  mutating func keep(_ associations: AssociationTable) {
    if !pairs.isEmpty { pairs = pairs.filter { Self.later(of: $0.key, associations) != nil } }
  }

  /// The members that are too many: of each pair that can't be in one group the one that has come to us later, unless
  /// it has been a member for longer than a race for places can take. When it came is ours to know: a rank is what a
  /// node says of itself, and could part others.
  /// - Parameter isOverfull: whether the group has more members than places, by what its members say.
  func excess(
    _ associations: AssociationTable, isOverfull: (AssociationTable) -> Bool, at now: Instant
  ) -> Set<NodeID> {
    guard !pairs.isEmpty else { return [] }
    let isOverfull = isOverfull(associations)
    let later = pairs.filter { $0.value == .full || isOverfull }.keys.compactMap { Self.later(of: $0, associations) }
    return Set(later.filter { ($0.memberSince ?? now) + GroupPlaces.settledAfter > now }.map(\.node))
  }

  /// The one of two members that has been one for a shorter time; nil unless both are members.
  private static func later(of pair: Group.Pair, _ associations: AssociationTable) -> Association? {
    guard let first = associations[pair.first], let second = associations[pair.second],
      first.isOfGroup, second.isOfGroup, first.isStaying, second.isStaying,
      let one = first.memberSince, let other = second.memberSince
    else { return nil }
    return one > other ? first : second
  }

  /// We leave these.
  mutating func leave(_ nodes: Set<NodeID>, at now: Instant) {
    left.removeAll { $0.until <= now || nodes.contains($0.node) }
    left += nodes.sorted().map { ($0, now + Self.leftFor) }
    left.removeFirst(max(0, left.count - Self.leftLimit))
  }

  /// Whether this node was left a short time ago.
  func wasLeft(_ node: NodeID, at now: Instant) -> Bool { left.contains { $0.node == node && now < $0.until } }
}
