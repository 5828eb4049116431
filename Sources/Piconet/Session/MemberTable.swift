import PiconetEngine

/// The members of the session, and the states of other peers. Part of the node's state, under its lock.
struct MemberTable: Sendable {
  private var members: InlineFirstDictionary<NodeID, Membership> = [:]
  /// The states of peers that are not members.
  private var others: [NodeID: PeerState] = [:]

  subscript(node: NodeID) -> Membership? { members[node] }

  /// In no particular order.
  var all: [Membership] { members.values }

  mutating func joined(_ membership: Membership) {
    members[membership.proven.id] = membership
    others[membership.proven.id] = nil
  }

  mutating func left(_ node: NodeID) -> Membership? { members.removeValue(forKey: node) }

  /// Notes the state of a peer that is not a member; memberships hold the states of members.
  mutating func changed(_ node: NodeID, to state: PeerState) {
    switch state {
    case .available, .connecting: others[node] = state
    case .unavailable, .connected, .suspended, .disconnected: others[node] = nil
    }
  }

  /// The states of all peers that have one.
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
