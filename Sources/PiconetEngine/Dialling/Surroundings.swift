/// What an association needs to know from the rest of its engine to say what it waits for. Lent for one look.
struct Surroundings {
  let budgets: InvitationBudgets
  let discovery: DiscoveryTable
  let associations: AssociationTable

  /// The addresses at which discovery sees a node.
  func addresses(of node: NodeID) -> [TransportAddress] { discovery.summary(of: node)?.addresses ?? [] }

  /// Over which members of ours it may be reached.
  func relayAddresses(of node: NodeID) -> [TransportAddress] { associations.relayAddresses(of: node) }
}
