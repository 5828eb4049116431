import PiconetWire

/// What a machine of the engine may read of the other machines. It is valid only during the call that it is passed to.
///
/// Attempts to invite are not included: they change while they read their surroundings, and would be copied for that. A
/// function that needs them gets them as a parameter of its own.
struct Surroundings {
  let links: LinkTable
  let associations: AssociationTable
  let discovery: DiscoveryTable
  let admission: Admission
  let budgets: InvitationBudgets

  /// Returns the addresses at which discovery sees a node.
  func addresses(of node: NodeID) -> [TransportAddress] { discovery.summary(of: node)?.addresses ?? [] }

  /// Returns the addresses of a node over our members that may relay to it.
  func relayAddresses(of node: NodeID) -> [TransportAddress] { associations.relayAddresses(of: node) }
}
