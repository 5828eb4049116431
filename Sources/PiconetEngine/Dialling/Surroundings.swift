/// What an association has to know of all else that its engine knows, to say what it waits for. Lent for one look.
struct Surroundings {
  let budgets: InvitationBudgets
  let discovery: DiscoveryTable

  /// Where discovery sees a node.
  func addresses(of node: NodeID) -> [TransportAddress] { discovery.summary(of: node)?.addresses ?? [] }
}
