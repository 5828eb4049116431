/// What an association needs to know from the rest of its engine to say what it waits for. Only for use during the call
/// that it is passed to.
struct Surroundings {
  let budgets: InvitationBudgets
  let discovery: DiscoveryTable
  let associations: AssociationTable

  /// The addresses at which discovery sees a node.
  func addresses(of node: NodeID) -> [TransportAddress] { discovery.summary(of: node)?.addresses ?? [] }

  /// The addresses of a node over members of ours that may relay to it.
  func relayAddresses(of node: NodeID) -> [TransportAddress] { associations.relayAddresses(of: node) }
}
