import PiconetWire

/// Where a peer may be dialled, beside what discovery says of it at any moment.
struct PeerAddresses: Sendable {
  private let transports: [TransportKind]
  /// Where we have dialled it.
  private var dialled: [TransportAddress] = []
  /// The host from which its last link over each transport came.
  private(set) var hosts: [TransportKind: String] = [:]
  /// Where it says that it listens. A port is used only with the host of its links, so that it can't make us dial
  /// another one.
  private var ports: [TransportKind: UInt16] = [:]

  /// - Parameter transports: those that we use.
  init(linkedOver traits: LinkTraits, transports: [TransportKind]) {
    self.transports = transports
    linked(over: traits)
  }

  mutating func linked(over traits: LinkTraits) { hosts[traits.kind] = traits.remoteHost }

  /// Which members relay is looked up each time.
  mutating func dialled(at addresses: [TransportAddress]) {
    dialled += addresses.filter { $0.kind != .relay && !dialled.contains($0) }
  }

  /// - Parameter told: all of it; transports that we don't know are skipped.
  mutating func told(_ told: [ListeningPort]) {
    ports = [:]
    for kind in TransportKind.allCases {
      ports[kind] = told.first { $0.transport == kind.listeningNumber }?.port
    }
  }

  /// Where it is seen now, and where it was dialled.
  func seen(_ discovered: [TransportAddress]) -> [TransportAddress] {
    (discovered + dialled.filter { !discovered.contains($0) }).filter { transports.contains($0.kind) }
  }

  /// The same, and over other transports where it says that it listens. That may be wrong: behind a NAT, say, no dial
  /// gets in.
  func known(_ discovered: [TransportAddress]) -> [TransportAddress] {
    let seen = seen(discovered)
    return seen
      + transports.compactMap { kind in
        guard let port = ports[kind], let host = hosts[kind], !seen.contains(where: { $0.kind == kind })
        else { return nil }
        return TransportAddress(kind, host: host, port: port)
      }
  }
}

extension ListeningPort {
  /// The ports of each transport, as members are told.
  public static func list(_ ports: [TransportKind: UInt16]) -> [ListeningPort] {
    ports.compactMap { kind, port in kind.listeningNumber.map { ListeningPort(transport: $0, port: port) } }
      .sorted { $0.transport < $1.transport }
  }
}
