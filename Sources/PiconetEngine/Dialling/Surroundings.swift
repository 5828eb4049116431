/// What an association needs to know from the rest of its engine to say what it waits for. Lent for one look.
struct Surroundings {
  let budgets: InvitationBudgets
  let discovery: DiscoveryTable

  /// The addresses at which discovery sees a node.
  func addresses(of node: NodeID) -> [TransportAddress] { discovery.summary(of: node)?.addresses ?? [] }
}
