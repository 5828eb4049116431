import PiconetWire

/// What a machine of the engine may look at of the others. Only for use during the call that it is passed to.
///
/// Attempts to invite are not in it: they change while they look around, and would be copied for that. Who looks at
/// them gets them besides.
struct Surroundings {
  let links: LinkTable
  let associations: AssociationTable
  let discovery: DiscoveryTable
  let admission: Admission
  let budgets: InvitationBudgets

  /// The addresses at which discovery sees a node.
  func addresses(of node: NodeID) -> [TransportAddress] { discovery.summary(of: node)?.addresses ?? [] }

  /// The addresses of a node over members of ours that may relay to it.
  func relayAddresses(of node: NodeID) -> [TransportAddress] { associations.relayAddresses(of: node) }
}
