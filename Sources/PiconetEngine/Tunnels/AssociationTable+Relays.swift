import PiconetWire

/// Ways to nodes over members that relay.
extension AssociationTable {
  /// The members that relay the link to this node: first the one that leads to it, then the one over which that one is
  /// reached, and so on. It stops after one more than a tunnel may have, in case they form a loop.
  func relays(to node: NodeID) -> [NodeID] {
    var relays: [NodeID] = []
    var node = node
    while relays.count <= Int(WireLimits.relays), let relay = self[node]?.link?.opening.traits.relays.first {
      relays.append(relay)
      node = relay
    }
    return relays
  }

  /// Where a tunnel over this relay leads.
  func route(to remote: NodeID, over relay: Association, relays count: Int) -> TunnelRoute {
    TunnelRoute(remote: remote, relays: [relay.node] + relays(to: relay.node), relayCount: count)
  }

  /// Where members of ours may bring us to this node.
  func relayAddresses(of remote: NodeID) -> [TransportAddress] {
    inOrder.filter { relay in
      relay.node != remote && relay.relaysForUs && relay.relaysBelow < Int(WireLimits.relays)
        && !relays(to: relay.node).contains(remote)
    }.map { TransportAddress(to: remote, over: $0.node) }
  }
}
