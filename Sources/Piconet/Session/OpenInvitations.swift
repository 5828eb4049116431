import PiconetEngine

/// Invitations from others that wait for an answer, and questions to a person who compares codes. Part of the node's
/// state, under its lock.
struct OpenInvitations: Sendable {
  /// Keyed by inviter; the value is how the invitation ended, if it was not answered.
  private var open: [NodeID: Watched<InvitationOutcome?>] = [:]
  private var confirmations: [UInt64: Task<Void, Never>] = [:]

  mutating func came(from node: NodeID, _ state: Watched<InvitationOutcome?>) { open[node] = state }

  /// Whether the open invitation is the very one that `state` belongs to.
  func isOpen(_ node: NodeID, _ state: Watched<InvitationOutcome?>) -> Bool { open[node] === state }

  mutating func answered(_ node: NodeID, _ state: Watched<InvitationOutcome?>) {
    if isOpen(node, state) { open[node] = nil }
  }

  mutating func take(_ node: NodeID) -> Watched<InvitationOutcome?>? { open.removeValue(forKey: node) }

  mutating func asks(_ number: UInt64, _ task: Task<Void, Never>) { confirmations[number] = task }

  mutating func hasAsked(_ number: UInt64) { confirmations[number] = nil }

  mutating func takeAll() -> (invitations: [Watched<InvitationOutcome?>], confirmations: [Task<Void, Never>]) {
    defer { self = OpenInvitations() }
    return (Array(open.values), Array(confirmations.values))
  }
}
