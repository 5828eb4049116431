import PiconetWire

/// The order in which members of a group keep their places when there are more members than places. It is a total
/// order, and the same wherever the same members are known. No member loses its place because of another member's small
/// capacity.
struct GroupOrder {
  /// A node that has a place, or wants one.
  struct Member {
    let node: NodeID
    /// The number of members that its session has room for.
    let capacity: UInt64
    let rank: UInt64
    /// Whether it has been a member for so long that no race for its place can still be undecided.
    let isSettled: Bool
  }

  private let members: [Member]

  /// - Parameter members: the members in any order.
  init(_ members: [Member]) {
    // A capacity that a newcomer claims does not put it before any settled member.
    let largest = members.lazy.filter(\.isSettled).map(\.capacity).max()
    let bounded = members.map { member in
      guard let largest, !member.isSettled, member.capacity > largest else { return member }
      return Member(node: member.node, capacity: largest, rank: member.rank, isSettled: false)
    }
    self.members = bounded.sorted(by: Self.precedes)
  }

  /// Returns whether one member comes before another. A member with a smaller capacity comes later, so that it is the
  /// one to leave when there are too many. If capacities are equal, settled members come first, and then those that
  /// came earlier.
  private static func precedes(_ one: Member, _ other: Member) -> Bool {
    if one.capacity != other.capacity { return one.capacity > other.capacity }
    if one.isSettled != other.isSettled { return one.isSettled }
    return (one.rank, one.node) < (other.rank, other.node)
  }

  /// The members that have at least as many others before them as their sessions have room for.
  var beyond: Set<NodeID> {
    Set(members.enumerated().lazy.filter { UInt64($0.offset) >= $0.element.capacity }.map(\.element.node))
  }
}
