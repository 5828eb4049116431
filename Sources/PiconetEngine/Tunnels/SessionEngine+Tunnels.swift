import PiconetWire

/// Tunnels that concern more than one member: opened here, relayed here, brought to us.
///
/// A tunnel carries the bytes of a link between two nodes over a third one, which is a member of both. The link in it
/// is one like any other, with TLS from end to end; a relay sees ciphertext. Tunnels may lie in one another: the link
/// between us and a relay may itself be in one.
extension SessionEngine {
  // MARK: Ours

  mutating func wanted(_ id: TunnelID, over relay: NodeID, to remote: NodeID, _ turn: Turn) {
    do throws(Ending) {
      guard configuration.transports.contains(.relay), shutdown == nil else { throw Ending(.notAvailable, .us) }
      try associations.openTunnel(id, over: relay, to: remote, turn)
    } catch {
      turn.add(.tunnelEnded(id, error.tunnelFailure ?? LinkFailure(.cancelled)))
    }
  }

  // MARK: To us

  mutating func offered(
    _ number: UInt64, from remote: NodeID, relays: Int, over relay: Association, _ turn: Turn
  ) {
    let isWanted = configuration.transports.contains(.relay) && shutdown == nil
    associations.takeTunnel(number, from: remote, relays: relays, over: relay, isWanted: isWanted, turn)
  }

  // MARK: Over us

  mutating func asked(_ number: UInt64, to target: NodeID, by opener: Association, _ turn: Turn) {
    // The number may be that of a tunnel whose end has come with the same read.
    if turn.hasToSettle { settleTunnels(turn) }
    let quotas = shutdown == nil ? configuration.relaying : nil
    relayed.open(number, to: target, by: opener, quotas, associations, turn)
  }

  /// Hands what came by one half of a relayed tunnel to the other.
  mutating func settleTunnels(_ turn: Turn) { relayed.settle(configuration.relaying, associations, turn) }
}
