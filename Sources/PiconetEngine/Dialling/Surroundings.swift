/// What an association has to know of all else that its engine knows, to say what it waits for. Lent for one look.
struct Surroundings {
  let attempts: [InvitationAttempt]
  let questions: QuestionQueue
  let discovery: DiscoveryTable

  /// Where discovery sees a node.
  func addresses(of node: NodeID) -> [TransportAddress] { discovery.summary(of: node)?.addresses ?? [] }

  /// Whether an invitation of ours is with the node.
  func isInvited(_ node: NodeID) -> Bool { attempts.contains { $0.node == node && $0.isWithPeer } }
}
