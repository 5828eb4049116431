import PiconetWire

/// Tunnels over this member that begin or end at our node. Whether they may depends on our other members.
extension Association {
  /// Asks a member for our own tunnel, or tells its dial why it gets no tunnel.
  /// - Parameters:
  ///   - relay: the member; nil if that node has no association with us.
  ///   - isWanted: false while no tunnel may begin or end here.
  static func openTunnel(
    _ id: TunnelID, over relay: Association?, to remote: NodeID, _ members: AssociationTable, isWanted: Bool,
    _ turn: Turn
  ) {
    do throws(Ending) {
      guard isWanted else { throw Ending(.notAvailable, .us) }
      guard let relay, relay.relaysForUs else {
        throw Ending(.unreachable, .link, "no member that relays, or none with a link")
      }
      try relay.openTunnel(id, to: remote, members, turn)
    } catch {
      turn.add(.tunnelEnded(id, error.tunnelFailure ?? LinkFailure(.cancelled)))
    }
  }

  private func openTunnel(
    _ id: TunnelID, to remote: NodeID, _ members: AssociationTable, _ turn: Turn
  ) throws(Ending) {
    guard remote != turn.node, remote != node else { throw Ending(.selfConnection, .us) }
    guard !members.relays(to: node).contains(remote), relaysBelow < Int(WireLimits.relays) else {
      throw Ending(.unreachable, .link, "the way to the relay is too long, or leads over the same node")
    }
    let number = openTunnel(.own(id, to: remote), turn) { .openTunnel(tunnel: $0, to: remote) }
    guard number != nil else {
      throw Ending(.limitExceeded, .us, "\(WireLimits.tunnels) tunnels over this relay are open")
    }
  }

  /// Takes a tunnel that ends here and that the member has opened.
  /// - Parameter isWanted: false while no tunnel may begin or end here.
  func take(_ request: TunnelRequest, _ members: AssociationTable, isWanted: Bool, _ turn: Turn) {
    switch request {
    case .offered(let number, let remote, let count):
      takeTunnel(number, from: remote, relays: count, members, isWanted: isWanted, turn)
    case .opened(let id, let remote, let count):
      turn.add(.tunnelOpened(id, members.route(to: remote, over: self, relays: count)))
    }
  }

  /// Takes the tunnel that the member brings us, or closes it.
  private func takeTunnel(
    _ number: UInt64, from remote: NodeID, relays count: Int, _ members: AssociationTable, isWanted: Bool,
    _ turn: Turn
  ) {
    guard isWanted, isStaying, capabilities.contains(.relay), !members.relays(to: node).contains(remote) else {
      return close(tunnel: number, Ending(.notAvailable, .us), isAborted: true, turn)
    }
    let id = turn.handles.takeIncomingTunnelID()
    accept(tunnel: number, .own(id, to: remote), relays: count, turn)
    turn.add(.tunnelOffered(id, members.route(to: remote, over: self, relays: count)))
  }
}
