import PiconetWire

/// Tunnels that concern more than one member: opened here, relayed here, brought to us.
///
/// A tunnel carries the bytes of a link between two nodes over a third one, which is a member of both. The link in it
/// is one like any other, with TLS from end to end; whoever relays sees ciphertext. Tunnels may lie in one another:
/// the link between us and a relay may itself be in one.
extension SessionEngine {
  /// Members over which a link of ours to this one goes, the nearest first.
  func relays(to node: NodeID) -> [NodeID] { associations.relays(to: node) }

  // MARK: Ours

  mutating func wanted(_ id: TunnelID, over relay: NodeID, to remote: NodeID, _ turn: Turn) {
    do throws(Ending) {
      guard configuration.transports.contains(.relay), shutdown == nil else { throw Ending(.notAvailable, .us) }
      guard let association = associations[relay], association.relaysForUs else {
        throw Ending(.unreachable, .link, "no member that relays, or none with a link")
      }
      guard remote != node, remote != relay else { throw Ending(.selfConnection, .us) }
      guard !relays(to: relay).contains(remote), association.relaysBelow < Int(WireLimits.relays) else {
        throw Ending(.unreachable, .link, "the way to the relay is too long, or leads over the same node")
      }
      let number = association.openTunnel(.own(id, to: remote), turn) { .openTunnel(tunnel: $0, to: remote.memberName) }
      guard number != nil else {
        throw Ending(.limitExceeded, .us, "\(WireLimits.tunnels) tunnels over this relay are open")
      }
    } catch {
      turn.add(.tunnelEnded(id, error.tunnelFailure ?? LinkFailure(.cancelled)))
    }
  }

  func opened(_ id: TunnelID, to remote: NodeID, relays: Int, over relay: Association, _ turn: Turn) {
    let route = TunnelRoute(
      remote: remote, relays: [relay.node] + self.relays(to: relay.node), relayCount: relays)
    turn.add(.tunnelOpened(id, route))
  }

  // MARK: To us

  mutating func offered(
    _ number: UInt64, from remote: NodeID, relays: Int, over relay: Association, _ turn: Turn
  ) {
    guard configuration.transports.contains(.relay), shutdown == nil, relay.isStaying,
      !self.relays(to: relay.node).contains(remote)
    else {
      return relay.close(tunnel: number, Ending(.notAvailable, .us), isAborted: true, turn)
    }
    let id = turn.places.takeIncomingTunnelID()
    relay.accept(tunnel: number, .own(id, to: remote), relays: relays, turn)
    let route = TunnelRoute(remote: remote, relays: [relay.node] + self.relays(to: relay.node), relayCount: relays)
    turn.add(.tunnelOffered(id, route))
  }

  // MARK: Over us

  mutating func asked(_ number: UInt64, to target: NodeID, by opener: Association, _ turn: Turn) {
    // The number may be that of a tunnel whose end has come with the same read.
    if turn.hasToSettle { settleTunnels(turn) }
    do throws(Ending) {
      guard let quotas = configuration.relaying, shutdown == nil, opener.isStaying else {
        throw Ending(.notAvailable, .us, "this device does not relay")
      }
      guard let other = associations[target], other.takesTunnels else {
        throw Ending(.noSuchAssociation, .us, "no member of the relay, or none that takes tunnels")
      }
      let count = opener.relaysBelow + 1 + other.relaysBelow
      guard count <= Int(WireLimits.relays), !relays(to: target).contains(opener.node),
        !relays(to: opener.node).contains(target)
      else { throw Ending(.unreachable, .us, "more than \(WireLimits.relays) relays, or a way that leads back") }
      let key = opener.node.peer
      // Those that are closed count as long as the other end has not answered: they keep its numbers.
      guard relayed.count < quotas.tunnels, relayed.count(of: key) < quotas.tunnelsPerMember,
        other.tunnels.count(ledFor: key) < quotas.tunnelsPerMember
      else { throw Ending(.limitExceeded, .us, "the relay has as many tunnels as it may") }
      guard !relayed.isInDebt(key, at: turn.now) else {
        throw Ending(.limitExceeded, .us, "the relay has passed on as much for this key as it may")
      }
      let place = TunnelPlace(node: opener.node, number: number)
      let offer = other.openTunnel(.relayed(place), turn) {
        .offerTunnel(tunnel: $0, from: opener.node.memberName, relays: UInt64(count))
      }
      guard let offer else { throw Ending(.limitExceeded, .us, "\(WireLimits.tunnels) tunnels lead there") }
      let otherPlace = TunnelPlace(node: target, number: offer)
      opener.relay(tunnel: number, to: otherPlace)
      relayed.append(place, otherPlace, openedBy: key, relays: count)
    } catch {
      opener.close(tunnel: number, error, isAborted: true, turn)
    }
  }

  /// What one half of a relayed tunnel has brought goes to the other one.
  mutating func settleTunnels(_ turn: Turn) {
    while let step = turn.takeRelayStep() {
      let (place, source) = (step.place, step.source)
      guard relayed.belong(place, source) else { continue }
      switch step.kind {
      case .opened:
        guard let relays = relayed.relays(of: place) else { break }
        associations[place.node]?.accept(tunnel: place.number, .relayed(source), relays: relays, turn)
      case .data(let bytes):
        if let quotas = configuration.relaying { relayed.charge(bytes.count, of: source, quotas, at: turn.now) }
        associations[place.node]?.write(bytes, toTunnel: place.number, turn)
      case .passed(let count): relayed.passed(count, of: place)
      case .closed(let ending):
        // What had come before goes on.
        associations[place.node]?.close(tunnel: place.number, ending, isAborted: false, turn)
        relayed.remove(place)
      }
    }
    giveTunnelCredit(turn)
  }

  /// Senders whose bytes have gone on may send more, as far as the quotas let them.
  mutating func giveTunnelCredit(_ turn: Turn) {
    guard !relayed.isEmpty else { return }
    for (place, count) in relayed.takeDue(at: turn.now) {
      associations[place.node]?.tunnelConsumed(place.number, count, turn)
    }
    if relayed.holdsBack { watch.changed() }
  }
}

extension AssociationTable {
  /// Members over which the link to this node goes, the nearest first; never more than may lie in a row.
  func relays(to node: NodeID) -> [NodeID] {
    var relays: [NodeID] = []
    var node = node
    while relays.count <= Int(WireLimits.relays), let relay = self[node]?.link?.opening.traits.relays.first {
      relays.append(relay)
      node = relay
    }
    return relays
  }

  /// Where members of ours may bring us to this node.
  func relayAddresses(of remote: NodeID) -> [TransportAddress] {
    inOrder.filter { relay in
      relay.node != remote && relay.relaysForUs && relay.relaysBelow < Int(WireLimits.relays)
        && !relays(to: relay.node).contains(remote)
    }.map { TransportAddress(to: remote, over: $0.node) }
  }
}
