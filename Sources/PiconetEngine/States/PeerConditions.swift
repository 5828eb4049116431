import PiconetWire

/// Merges the events of each peer into one condition, and reports every change once.
///
/// Pure: events, and what the engine knows about attempts, go in. Changes come out, in order. There is an entry for
/// each peer that is in sight, invited, inviting or a member, so the limits on those bound the table.
struct PeerConditions: Sendable {
  private struct Entry: Sendable {
    var name = ""
    var isInSight = false
    /// The number of our own invitations under way.
    var attempts = 0
    /// Whether an invitation of the peer waits for our answer.
    var isInvited = false
    var isMember = false
    var isSuspended = false

    /// The condition that follows; nil if there is nothing to remember of the peer.
    var condition: PeerCondition? {
      if isMember { return isSuspended ? .suspended : .connected }
      if attempts > 0 || isInvited { return .connecting }
      return isInSight ? .available : nil
    }
  }

  private var entries: [NodeID: Entry] = [:]

  var count: Int { entries.count }

  mutating func fold(_ event: Event) -> [Event] {
    switch event {
    case .peerFound(let peer):
      return change(peer.node, name: peer.name) { $0.isInSight = true }
    case .peerLost(let node): return change(node) { $0.isInSight = false }
    case .invitationReceived(let peer, _, _, _): return change(peer.node, name: peer.name) { $0.isInvited = true }
    case .invitationEnded(let node, let ending): return invitationEnded(node, ending)
    case .codeFailed(let peer, _, _, let ending): return invitationEnded(peer.node, ending)
    case .connected(let peer):
      return change(peer.node, name: peer.name) {
        $0.isMember = true
        $0.isInvited = false
      }
    case .disconnected(let node, let ending):
      return change(node, because: ending) {
        $0.isMember = false
        $0.isSuspended = false
      }
    case .suspended(let node, _): return change(node) { $0.isSuspended = true }
    case .resumed(let node, _): return change(node) { $0.isSuspended = false }
    case .peerChanged, .confirmationNeeded, .codeShown, .comparisonNeeded, .comparisonEnded, .codesCompared,
      .invitationSent, .introductionReceived, .introductionEnded,
      .membersApart, .membersTogether, .peerRefused, .messagesReceived, .stateChanged, .streamOpened, .streamReceived,
      .streamEnded,
      .streamStopped, .offerReceived, .transferProgressed, .transferAccepted, .transferCompared, .transferPaused,
      .transferEnded:
      return []
    }
  }

  /// Notes that our own invitation is under way to this node.
  mutating func attemptBegan(_ node: NodeID, name: String?) -> [Event] {
    change(node, name: name) { $0.attempts += 1 }
  }

  /// - Parameter ending: nil if the node is a member now.
  mutating func attemptEnded(_ node: NodeID, _ ending: Ending?) -> [Event] {
    change(node, because: ending) { $0.attempts = max(0, $0.attempts - 1) }
  }

  /// Notes that the node has begun to prove our code.
  mutating func proofBegan(_ node: NodeID, name: String) -> [Event] {
    change(node, name: name) { $0.isInvited = true }
  }

  /// Notes that an invitation of the node has ended without making it a member.
  mutating func invitationEnded(_ node: NodeID, _ ending: Ending) -> [Event] {
    change(node, because: ending) { $0.isInvited = false }
  }

  private mutating func change(
    _ node: NodeID, name: String? = nil, because ending: Ending? = nil, _ body: (inout Entry) -> Void
  ) -> [Event] {
    var entry = entries[node] ?? Entry()
    let before = entry.condition
    if let name { entry.name = name }
    body(&entry)
    let after = entry.condition
    entries[node] = after == nil ? nil : entry
    guard before != after else { return [] }
    return Self.steps(from: before, to: after, ending).map { .stateChanged(node, name: entry.name, $0) }
  }

  private static func steps(
    from before: PeerCondition?, to after: PeerCondition?, _ ending: Ending?
  ) -> [PeerCondition] {
    let over = PeerCondition.disconnected(ending ?? Ending(.linkFailed, .nobody))
    switch (before, after) {
    case (.connected, .suspended), (.suspended, .connected), (.connecting, .connected): return after.map { [$0] } ?? []
    case (.connected, _), (.suspended, _), (.connecting, _): return [over] + (after.map { [$0] } ?? [])
    case (.available, _), (.unavailable, _), (.disconnected, _), (nil, _): return [after ?? .unavailable]
    }
  }
}
