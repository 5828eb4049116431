import PiconetWire

/// Routes to nodes over members that relay.
extension AssociationTable {
  /// Returns the members that relay the link to this node. The first one leads to it, the next one is the member over
  /// which the first is reached, and so on. The list stops after one more than a tunnel may have, in case they form a
  /// loop.
  func relays(to node: NodeID) -> [NodeID] {
    var relays: [NodeID] = []
    var node = node
    while relays.count <= Int(WireLimits.relays), let relay = self[node]?.link?.opening.traits.relays.first {
      relays.append(relay)
      node = relay
    }
    return relays
  }

  /// Returns the route of a tunnel over this relay.
  func route(to remote: NodeID, over relay: Association, relays count: Int) -> TunnelRoute {
    TunnelRoute(remote: remote, relays: [relay.node] + relays(to: relay.node), relayCount: count)
  }

  /// Returns the addresses over our members that may relay to this node.
  func relayAddresses(of remote: NodeID) -> [TransportAddress] {
    inOrder.filter { relay in
      relay.node != remote && relay.relaysForUs && relay.relaysBelow < Int(WireLimits.relays)
        && !relays(to: relay.node).contains(remote)
    }.map { TransportAddress(to: remote, over: $0.node) }
  }
}
