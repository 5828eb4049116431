import PiconetWire

/// The addresses at which keys have answered our dials in this run. A flood of other addresses does not crowd these
/// out.
struct ProvenAddresses: Sendable {
  /// The number of remembered keys; beyond it the key that answered longest ago is forgotten.
  static let keyLimit = 256
  /// The number of remembered addresses of each key.
  static let limit = 4

  /// The latest first.
  private var addresses: [PeerID: [TransportAddress]] = [:]
  /// The latest last.
  private var order: [PeerID] = []

  /// Notes that the key has answered at this address.
  mutating func note(_ peer: PeerID, at traits: LinkTraits) {
    let address = TransportAddress(kind: traits.kind, text: traits.remoteAddress)
    addresses[peer] = Array(([address] + (addresses[peer] ?? []).filter { $0 != address }).prefix(Self.limit))
    order.removeAll { $0 == peer }
    order.append(peer)
    if order.count > Self.keyLimit { addresses[order.removeFirst()] = nil }
  }

  /// Forgets an address of the key at which a link has broken. Its host may only have passed the handshake on.
  mutating func forget(_ peer: PeerID, at traits: LinkTraits) {
    let address = TransportAddress(kind: traits.kind, text: traits.remoteAddress)
    addresses[peer]?.removeAll { $0 == address }
    guard addresses[peer]?.isEmpty == true else { return }
    addresses[peer] = nil
    order.removeAll { $0 == peer }
  }

  /// Returns these addresses, starting with those at which the key has answered before.
  func first(_ found: [TransportAddress], of peer: PeerID?) -> [TransportAddress] {
    guard !found.isEmpty, let known = peer.flatMap({ addresses[$0] }) else { return found }
    return found.filter(known.contains) + found.filter { !known.contains($0) }
  }
}
