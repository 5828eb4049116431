import PiconetWire

extension Association {
  /// Tells a member where we listen, unless there is nothing to tell and it was told nothing before.
  func tellListening(_ turn: Turn) {
    guard isMember, leaving == nil, hasToldPorts || !turn.listeningPorts.isEmpty else { return }
    // Without a link nothing is told, and what was told before is taken back on the next one.
    if activeLink != nil { hasToldPorts = !turn.listeningPorts.isEmpty }
    send(.listening(turn.listeningPorts), turn)
  }

  /// Where it may be dialled now.
  func knownAddresses(_ surroundings: Surroundings) -> [TransportAddress] {
    addresses.known(surroundings.addresses(of: node))
  }

  /// The same, and over members that relay: for one that has no link, since a relay is no better than any.
  func allAddresses(_ surroundings: Surroundings) -> [TransportAddress] {
    guard configuration.transports.contains(.relay) else { return knownAddresses(surroundings) }
    return knownAddresses(surroundings) + surroundings.relayAddresses(of: node)
  }

  /// The hosts from which its links have come, over each transport.
  var reachedHosts: [TransportKind: String] { addresses.hosts }
}
