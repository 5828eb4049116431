import PiconetWire

extension Association {
  /// Tells a member where we listen. Does nothing if we listen nowhere and the member was never told of any port.
  func tellListening(_ turn: Turn) {
    guard isMember, leaving == nil, hasToldPorts || !turn.listeningPorts.isEmpty else { return }
    // Without a link the frame is dropped, and the next link withdraws what was told before.
    if activeLink != nil { toldPorts(turn.listeningPorts) }
    send(.listening(turn.listeningPorts), turn)
  }

  /// Returns the addresses at which the peer may be dialled now.
  func knownAddresses(_ surroundings: Surroundings) -> [TransportAddress] {
    addresses.known(surroundings.addresses(of: node))
  }

  /// Returns the addresses at which the peer may be dialled now, including those over members that relay and know of
  /// it. In a group these are all members; elsewhere only those that have brought the peer and us together. Used for a
  /// peer without a link, since a relay is no better than any other link. Addresses at which links have broken come
  /// last.
  func allAddresses(_ surroundings: Surroundings) -> [TransportAddress] {
    let known = addresses.unbrokenFirst(knownAddresses(surroundings))
    guard configuration.transports.contains(.relay) else { return known }
    let relayed = surroundings.relayAddresses(of: node).filter { address in
      configuration.membership == .group || address.relayed.map { addresses.mediators.contains($0.relay) } ?? false
    }
    return known + relayed
  }

  /// The peer's host on its last link over each transport, as far as introductions may mention addresses next to it.
  var reachedHosts: [TransportKind: String] {
    var hosts = addresses.hosts
    if !configuration.introducesOverLoopback, hosts[.tcp].flatMap({ IPAddressHint(host: $0) })?.scope == .device {
      hosts[.tcp] = nil
    }
    return hosts
  }
}
