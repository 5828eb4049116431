import PiconetEngine

/// The members of the session, and how other peers stand. A part of the node's state, under its lock.
struct MemberTable: Sendable {
  private var members: InlineFirstDictionary<NodeID, Membership> = [:]
  /// The states of peers that are not members.
  private var others: [NodeID: PeerState] = [:]

  subscript(node: NodeID) -> Membership? { members[node] }

  /// In no order.
  var all: [Membership] { members.values }

  mutating func joined(_ membership: Membership) {
    members[membership.proven.id] = membership
    others[membership.proven.id] = nil
  }

  mutating func left(_ node: NodeID) -> Membership? { members.removeValue(forKey: node) }

  /// The state of a peer that is not a member; memberships tell that of members.
  mutating func changed(_ node: NodeID, to state: PeerState) {
    switch state {
    case .available, .connecting: others[node] = state
    case .unavailable, .connected, .suspended, .disconnected: others[node] = nil
    }
  }

  /// Of all peers that have one.
  var states: [NodeID: PeerState] {
    var states = others
    for member in members.values { states[member.proven.id] = member.transport == nil ? .suspended : .connected }
    return states
  }

  mutating func takeAll() -> [Membership] {
    defer { self = MemberTable() }
    return members.values
  }
}
