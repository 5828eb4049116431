import PiconetWire

/// Where keys have answered our dials in this run: whoever floods us with other places does not crowd these out.
struct ProvenAddresses: Sendable {
  /// How many keys are remembered; beyond that the one that answered longest ago is forgotten.
  static let keyLimit = 256
  /// How many addresses of each.
  static let limit = 4

  /// The latest first.
  private var addresses: [PeerID: [TransportAddress]] = [:]
  /// The latest last.
  private var order: [PeerID] = []

  /// The key has answered there.
  mutating func note(_ peer: PeerID, at traits: LinkTraits) {
    let address = TransportAddress(kind: traits.kind, text: traits.remoteAddress)
    addresses[peer] = Array(([address] + (addresses[peer] ?? []).filter { $0 != address }).prefix(Self.limit))
    order.removeAll { $0 == peer }
    order.append(peer)
    if order.count > Self.keyLimit { addresses[order.removeFirst()] = nil }
  }

  /// These addresses, first those where the key has answered before.
  func first(_ found: [TransportAddress], of peer: PeerID?) -> [TransportAddress] {
    guard !found.isEmpty, let known = peer.flatMap({ addresses[$0] }) else { return found }
    return found.filter(known.contains) + found.filter { !known.contains($0) }
  }
}
