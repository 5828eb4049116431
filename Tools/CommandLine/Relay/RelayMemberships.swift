import Piconet

/// A program's memberships at all the relays that the person has named: when one relay goes, its traffic continues over
/// another.
struct RelayMemberships: Sendable {
  let all: [RelayMembership]

  var isEmpty: Bool { all.isEmpty }

  /// Whether this node was joined only as a relay.
  func contains(_ node: NodeID) -> Bool { all.contains { $0.contains(node) } }

  /// Takes a change of the session's membership.
  func tell(_ change: MembershipChange) {
    for membership in all { membership.tell(change) }
  }

  /// Joins them all, each again whenever it is gone. Returns when the task is cancelled, or all are given up.
  func keep() async {
    await withDiscardingTaskGroup { group in
      for membership in all { group.addTask { await membership.keep() } }
    }
  }

  /// Returns the relays over which a member is reached, in words; nil: there is no relay in between.
  func route(to member: Member) -> String? { all.first?.route(to: member) }
}
