import PiconetWire

/// Who of a group keeps a place when there are more members than places: a total order, the same wherever the same
/// members are known, and nobody goes for another one's small capacity.
struct GroupOrder {
  /// One that has a place, or wants one.
  struct Member {
    let node: NodeID
    /// For how many its session has room.
    let capacity: UInt64
    let rank: UInt64
    /// Whether it has been a member so long that no race for its place can still be undecided.
    let isSettled: Bool
  }

  private let members: [Member]

  /// - Parameter members: in any order.
  init(_ members: [Member]) {
    // What a newcomer says of itself puts it before no settled member.
    let largest = members.lazy.filter(\.isSettled).map(\.capacity).max()
    let bounded = members.map { member in
      guard let largest, !member.isSettled, member.capacity > largest else { return member }
      return Member(node: member.node, capacity: largest, rank: member.rank, isSettled: false)
    }
    self.members = bounded.sorted(by: Self.precedes)
  }

  /// Who has room for fewer comes later, so that it is the one that goes when there are more. Among the others settled
  /// members come first, then who came earlier.
  private static func precedes(_ one: Member, _ other: Member) -> Bool {
    if one.capacity != other.capacity { return one.capacity > other.capacity }
    if one.isSettled != other.isSettled { return one.isSettled }
    return (one.rank, one.node) < (other.rank, other.node)
  }

  /// Those before which there are as many as they have room for.
  var beyond: Set<NodeID> {
    Set(members.enumerated().lazy.filter { UInt64($0.offset) >= $0.element.capacity }.map(\.element.node))
  }
}
