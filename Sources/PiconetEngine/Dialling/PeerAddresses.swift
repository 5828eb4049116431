import PiconetWire

/// Where a peer may be dialled, besides where discovery sees it at the moment.
struct PeerAddresses: Sendable {
  private let transports: [TransportKind]
  /// Where we have dialled it.
  private var dialled: [TransportAddress] = []
  /// The peer's host on its last link over each transport.
  private(set) var hosts: [TransportKind: String] = [:]
  /// Where it says that it listens. A port is used only with the host of its links, so that it can't make us dial
  /// another one.
  private var ports: [TransportKind: UInt16] = [:]
  /// Where members that have introduced it say that it is.
  private var hints = AddressHints(limit: WireLimits.introducedAddresses)
  /// What its last link went over.
  private(set) var lastKind: TransportKind
  /// Members that know of the peer and us already, since they have introduced it to us or relayed a link to it. Only
  /// they are asked for a way to it: others would learn from that whose member we are.
  private(set) var mediators: [NodeID] = []
  /// More are not remembered.
  private static let mediatorLimit = 16

  /// - Parameter transports: those that we use.
  init(linkedOver traits: LinkTraits, transports: [TransportKind]) {
    self.transports = transports
    lastKind = traits.kind
    linked(over: traits)
  }

  mutating func linked(over traits: LinkTraits) {
    hosts[traits.kind] = traits.remoteHost
    lastKind = traits.kind
    if let relay = traits.relays.first { broughtTogether(by: relay) }
  }

  /// A member has introduced the peer to us, or relayed a link to it.
  mutating func broughtTogether(by member: NodeID) {
    mediators.removeAll { $0 == member }
    mediators.append(member)
    if mediators.count > Self.mediatorLimit { mediators.removeFirst() }
  }

  /// Notes where members that have introduced the peer say that it is.
  mutating func told(_ new: AddressHints) {
    for hint in new.hints {
      for source in hint.sources { hints.add([hint.address], by: source) }
    }
  }

  /// The keys that alone say that the peer is at this address; empty for one that is known otherwise.
  func hearsay(_ address: TransportAddress, _ discovered: [TransportAddress]) -> [PeerID] {
    known(discovered).contains(address) ? [] : hints.sources(of: address)
  }

  /// Notes where the peer was dialled. Relays are left out: which members relay is looked up each time.
  mutating func dialled(at addresses: [TransportAddress]) {
    dialled += addresses.filter { $0.kind != .relay && !dialled.contains($0) }
  }

  /// Replaces the ports on which the peer says that it listens. Transports that we don't know are skipped.
  /// - Parameter told: all its ports.
  mutating func told(_ told: [ListeningPort]) {
    ports = [:]
    for kind in TransportKind.allCases {
      ports[kind] = told.first { $0.transport == kind.listeningNumber }?.port
    }
  }

  /// Where discovery sees the peer now, and where it was dialled before.
  func seen(_ discovered: [TransportAddress]) -> [TransportAddress] {
    (discovered + dialled.filter { !discovered.contains($0) }).filter { transports.contains($0.kind) }
  }

  /// Where discovery sees the peer, where it was dialled, and over other transports where it says that it listens. The
  /// latter may be wrong: behind a NAT, for example, no dial gets in.
  func known(_ discovered: [TransportAddress]) -> [TransportAddress] {
    let seen = seen(discovered)
    return seen
      + transports.compactMap { kind in
        guard let port = ports[kind], let host = hosts[kind], !seen.contains(where: { $0.kind == kind })
        else { return nil }
        return TransportAddress(kind, host: host, port: port)
      }
  }

  /// The same, and where members say that it is. That is hearsay: it is dialled now and then for a better link, and not
  /// passed on to others.
  func supposed(_ discovered: [TransportAddress]) -> [TransportAddress] {
    let known = known(discovered)
    return known + hints.addresses.filter { transports.contains($0.kind) && !known.contains($0) }
  }
}

extension ListeningPort {
  /// The ports of all transports in the form in which members are told of them.
  public static func list(_ ports: [TransportKind: UInt16]) -> [ListeningPort] {
    ports.compactMap { kind, port in kind.listeningNumber.map { ListeningPort(transport: $0, port: port) } }
      .sorted { $0.transport < $1.transport }
  }
}
