import PiconetWire

extension Association {
  /// Tells a member where we listen, unless there is nothing to tell and it was told nothing before.
  func tellListening(_ turn: Turn) {
    guard isMember, leaving == nil, hasToldPorts || !turn.listeningPorts.isEmpty else { return }
    // Without a link nothing is told, and what was told before is taken back on the next one.
    if activeLink != nil { toldPorts(turn.listeningPorts) }
    send(.listening(turn.listeningPorts), turn)
  }

  /// Where the peer may be dialled now.
  func knownAddresses(_ surroundings: Surroundings) -> [TransportAddress] {
    addresses.known(surroundings.addresses(of: node))
  }

  /// Where the peer may be dialled now, also over members that relay and know of it: all of a group, elsewhere those
  /// that have brought it and us together. Used for a peer without a link, since a relay is no better than any other
  /// way.
  func allAddresses(_ surroundings: Surroundings) -> [TransportAddress] {
    guard configuration.transports.contains(.relay) else { return knownAddresses(surroundings) }
    let relayed = surroundings.relayAddresses(of: node).filter { address in
      configuration.membership == .group || address.relayed.map { addresses.mediators.contains($0.relay) } ?? false
    }
    return knownAddresses(surroundings) + relayed
  }

  /// The peer's host on its last link over each transport, as far as introductions may speak of addresses beside it.
  var reachedHosts: [TransportKind: String] {
    var hosts = addresses.hosts
    if !configuration.introducesOverLoopback, hosts[.tcp].flatMap({ IPAddressHint(host: $0) })?.scope == .device {
      hosts[.tcp] = nil
    }
    return hosts
  }
}
