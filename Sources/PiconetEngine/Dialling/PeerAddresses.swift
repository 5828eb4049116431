import PiconetWire

/// The addresses at which a peer may be dialled, besides those where discovery sees it at the moment.
struct PeerAddresses: Sendable {
  private let transports: [TransportKind]
  /// The addresses at which we have dialled the peer.
  private var dialled: [TransportAddress] = []
  /// The peer's host on its last link over each transport.
  private(set) var hosts: [TransportKind: String] = [:]
  /// The ports on which the peer says that it listens. A port is used only with the host of the peer's links, so that
  /// the peer can't make us dial another host.
  private var ports: [TransportKind: UInt16] = [:]
  /// The addresses at which members that have introduced the peer say that it is.
  private var hints = AddressHints(limit: WireLimits.introducedAddresses)
  /// The transport of the peer's last link.
  private(set) var lastKind: TransportKind
  /// Members that know of the peer and us already, since they have introduced it to us or relayed a link to it. Only
  /// they are asked for a route to it. Other members would learn from that whose member we are.
  private(set) var mediators: [NodeID] = []
  /// The maximum number of remembered mediators.
  private static let mediatorLimit = 16

  /// The addresses at which links that we had dialled have broken, the latest last.
  private var broken: [TransportAddress] = []
  /// The maximum number of remembered broken addresses.
  private static let brokenLimit = 16

  /// - Parameter transports: the transports that we use.
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

  /// Notes that a link that we had dialled has broken.
  mutating func broke(_ traits: LinkTraits) {
    let address = TransportAddress(kind: traits.kind, text: traits.remoteAddress)
    broken.removeAll { $0 == address }
    broken.append(address)
    if broken.count > Self.brokenLimit { broken.removeFirst() }
  }

  /// Returns these addresses, those at which links have broken last. A host at a planted address may pass the handshake
  /// on to the peer and nothing else: it must not win each search.
  func unbrokenFirst(_ addresses: [TransportAddress]) -> [TransportAddress] {
    if broken.isEmpty { return addresses }
    return addresses.filter { !broken.contains($0) } + broken.filter(addresses.contains)
  }

  /// Notes that a member has introduced the peer to us, or relayed a link to it.
  mutating func broughtTogether(by member: NodeID) {
    mediators.removeAll { $0 == member }
    mediators.append(member)
    if mediators.count > Self.mediatorLimit { mediators.removeFirst() }
  }

  /// Notes the addresses at which members that have introduced the peer say that it is.
  mutating func told(_ new: AddressHints) {
    for hint in new.hints {
      for source in hint.sources { hints.add([hint.address], by: source) }
    }
  }

  /// Returns the keys that are our only source for this address of the peer; empty if we know the address otherwise.
  func hearsay(_ address: TransportAddress, _ discovered: [TransportAddress]) -> [PeerID] {
    known(discovered).contains(address) ? [] : hints.sources(of: address)
  }

  /// Notes the addresses at which the peer was dialled. Relays are left out: which members relay is looked up each
  /// time.
  mutating func dialled(at addresses: [TransportAddress]) {
    dialled += addresses.filter { $0.kind != .relay && !dialled.contains($0) }
  }

  /// Replaces the ports on which the peer says that it listens. Transports that we don't know are skipped.
  /// - Parameter told: all ports of the peer.
  mutating func told(_ told: [ListeningPort]) {
    ports = [:]
    for kind in TransportKind.allCases {
      ports[kind] = told.first { $0.transport == kind.listeningNumber }?.port
    }
  }

  /// Returns the addresses at which discovery sees the peer now, and those at which it was dialled before.
  func seen(_ discovered: [TransportAddress]) -> [TransportAddress] {
    (discovered + dialled.filter { !discovered.contains($0) }).filter { transports.contains($0.kind) }
  }

  /// Returns the addresses of `seen`, and over other transports those at which the peer says that it listens. The
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

  /// Returns the addresses of `known`, and those at which members say that the peer is. The latter are hearsay: they
  /// are dialled from time to time for a better link, and not passed on to others.
  func supposed(_ discovered: [TransportAddress]) -> [TransportAddress] {
    let known = known(discovered)
    return known + hints.addresses.filter { transports.contains($0.kind) && !known.contains($0) }
  }
}

extension ListeningPort {
  /// Returns the ports of all transports in the form in which members are told of them.
  public static func list(_ ports: [TransportKind: UInt16]) -> [ListeningPort] {
    ports.compactMap { kind, port in kind.listeningNumber.map { ListeningPort(transport: $0, port: port) } }
      .sorted { $0.transport < $1.transport }
  }
}
