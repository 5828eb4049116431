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
  private func route(to remote: NodeID, over relay: Association, relays count: Int) -> TunnelRoute {
    TunnelRoute(remote: remote, relays: [relay.node] + relays(to: relay.node), relayCount: count)
  }

  /// Where members of ours may bring us to this node.
  func relayAddresses(of remote: NodeID) -> [TransportAddress] {
    inOrder.filter { relay in
      relay.node != remote && relay.relaysForUs && relay.relaysBelow < Int(WireLimits.relays)
        && !relays(to: relay.node).contains(remote)
    }.map { TransportAddress(to: remote, over: $0.node) }
  }

  /// Asks this relay for a tunnel of ours, or tells its dial why there is none.
  /// - Parameter isWanted: false while no tunnel may begin or end here.
  func openTunnel(_ id: TunnelID, over relay: NodeID, to remote: NodeID, isWanted: Bool, _ turn: Turn) {
    do throws(Ending) {
      guard isWanted else { throw Ending(.notAvailable, .us) }
      try openTunnel(id, over: relay, to: remote, turn)
    } catch {
      turn.add(.tunnelEnded(id, error.tunnelFailure ?? LinkFailure(.cancelled)))
    }
  }

  private func openTunnel(_ id: TunnelID, over relay: NodeID, to remote: NodeID, _ turn: Turn) throws(Ending) {
    guard let association = self[relay], association.relaysForUs else {
      throw Ending(.unreachable, .link, "no member that relays, or none with a link")
    }
    guard remote != turn.node, remote != relay else { throw Ending(.selfConnection, .us) }
    guard !relays(to: relay).contains(remote), association.relaysBelow < Int(WireLimits.relays) else {
      throw Ending(.unreachable, .link, "the way to the relay is too long, or leads over the same node")
    }
    let number = association.openTunnel(.own(id, to: remote), turn) { .openTunnel(tunnel: $0, to: remote.memberName) }
    guard number != nil else {
      throw Ending(.limitExceeded, .us, "\(WireLimits.tunnels) tunnels over this relay are open")
    }
  }

  /// A relay has opened a tunnel that ends here.
  /// - Parameter isWanted: false while no tunnel may begin or end here.
  func take(_ request: TunnelRequest, over relay: Association, isWanted: Bool, _ turn: Turn) {
    switch request {
    case .offered(let number, let remote, let count):
      takeTunnel(number, from: remote, relays: count, over: relay, isWanted: isWanted, turn)
    case .opened(let id, let remote, let count):
      turn.add(.tunnelOpened(id, route(to: remote, over: relay, relays: count)))
    }
  }

  /// Takes the tunnel that a relay brings us, or closes it.
  private func takeTunnel(
    _ number: UInt64, from remote: NodeID, relays count: Int, over relay: Association, isWanted: Bool, _ turn: Turn
  ) {
    guard isWanted, relay.isStaying, relay.capabilities.contains(.relay), !relays(to: relay.node).contains(remote)
    else {
      return relay.close(tunnel: number, Ending(.notAvailable, .us), isAborted: true, turn)
    }
    let id = turn.handles.takeIncomingTunnelID()
    relay.accept(tunnel: number, .own(id, to: remote), relays: count, turn)
    turn.add(.tunnelOffered(id, route(to: remote, over: relay, relays: count)))
  }
}
