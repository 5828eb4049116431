import PiconetDNSSD
import PiconetEngine
import PiconetWire

/// Combines the browser's results into sightings: one per peer and incarnation, whatever its instances are called.
struct SightingTable {
  /// How many addresses a sighting may have.
  static let addressLimit = 16

  private struct Key: Hashable {
    var peer: PeerID
    var incarnation: Incarnation
  }
  private struct Instance {
    var key: Key
    /// Smaller than the numbers of instances that came later.
    var number = 0
    /// The names of all its texts, the first one's first.
    var names: [String]
    var info: [String: String]
    var endpoints: [ResolvedInstance.Endpoint]
  }

  let sessionID: String
  /// This node, in every incarnation that this process advertised.
  private var own: Key?
  /// One instance for each key that the texts of an instance name: any device can send another text.
  private var instances: [DomainName: [Instance]] = [:]
  private var nextNumber = 0
  private var reported: [Key: Sighting] = [:]

  init(sessionID: String) { self.sessionID = sessionID }

  /// - Returns: `gone` if this node had been taken for another peer.
  mutating func setOwn(peer: PeerID, incarnation: Incarnation) -> [DiscoveryReport] {
    own = Key(peer: peer, incarnation: incarnation)
    instances = instances.mapValues { $0.filter { $0.key != own } }
    guard let own, reported.removeValue(forKey: own) != nil else { return [] }
    return [.gone(peer, incarnation)]
  }

  mutating func apply(_ report: BrowserReport, _ interfaces: InterfaceTable) -> [DiscoveryReport] {
    let name: DomainName
    var found: [Instance] = []
    switch report {
    case .resolved(let resolved), .updated(let resolved):
      name = resolved.name
      found = read(resolved)
    case .removed(let removed): name = removed
    }
    let former = instances[name] ?? []
    for index in found.indices {
      if let before = former.first(where: { $0.key == found[index].key }) {
        found[index].number = before.number
      } else {
        found[index].number = nextNumber
        nextNumber += 1
      }
    }
    instances[name] = found.isEmpty ? nil : found
    return changes(of: Set((former + found).map(\.key)), interfaces)
  }

  /// Notes that the addresses of the system's interfaces have changed, and with them those that may be dialled.
  mutating func interfacesChanged(_ interfaces: InterfaceTable) -> [DiscoveryReport] {
    changes(of: Set(instances.values.joined().map(\.key)), interfaces)
  }

  private mutating func changes(of keys: Set<Key>, _ interfaces: InterfaceTable) -> [DiscoveryReport] {
    var reports: [DiscoveryReport] = []
    for key in keys.sorted(by: { ($0.peer, $0.incarnation.rawValue) < ($1.peer, $1.incarnation.rawValue) }) {
      let sighting = sighting(of: key, interfaces)
      guard sighting != reported[key] else { continue }
      reported[key] = sighting
      reports.append(sighting.map { .seen($0) } ?? .gone(key.peer, key.incarnation))
    }
    return reports
  }

  private func read(_ resolved: ResolvedInstance) -> [Instance] {
    var found: [Instance] = []
    for strings in [resolved.text] + resolved.otherTexts.prefix(Self.textLimit) {
      guard let text = PeerText(strings: strings), text.session == sessionID, let peer = PeerID(bytes: text.peer)
      else { continue }
      let key = Key(peer: peer, incarnation: Incarnation(rawValue: text.incarnation))
      if key == own { continue }
      if let index = found.firstIndex(where: { $0.key == key }) {
        found[index].names.append(text.name)
      } else {
        found.append(Instance(key: key, names: [text.name], info: text.info, endpoints: resolved.endpoints))
      }
    }
    return found
  }

  /// How many further texts of an instance are read: with the first as many as a browser keeps of an interface.
  private static let textLimit = MulticastDNS.cachedRecordsPerSet - 1

  /// The origin of addresses: the host that sent the packet or, if that is not known, an instance.
  private enum Origin: Hashable {
    case host(IPAddress)
    case instance(Int)
  }

  private func sighting(of key: Key, _ interfaces: InterfaceTable) -> Sighting? {
    // Any device can advertise another's key. The first instance supplies name and info, and all origins of addresses
    // take turns with them: many invented ones of one device keep out none of the peer's. The last place belongs to the
    // instance that came last, so many earlier ones don't either.
    let matching = instances.values.joined().filter { $0.key == key }.sorted { $0.number < $1.number }
    guard let first = matching.first else { return nil }
    var origins: [Origin] = []
    var told: [Origin: [String]] = [:]
    var newest: String?
    for instance in matching {
      let addresses = addresses(of: instance, interfaces)
      newest = addresses.first?.text ?? newest
      for (text, origin) in addresses {
        if told[origin] == nil { origins.append(origin) }
        told[origin, default: []].append(text)
      }
    }
    var texts: [(text: String, origin: Origin)] = []
    for turn in 0..<(told.values.lazy.map(\.count).max() ?? 0) {
      for origin in origins {
        guard let list = told[origin], turn < list.count, texts.count < Self.addressLimit,
          !texts.contains(where: { $0.text == list[turn] })
        else { continue }
        texts.append((list[turn], origin))
      }
    }
    if texts.isEmpty { return nil }
    if let newest, !texts.contains(where: { $0.text == newest }) {
      texts[texts.count - 1] = (newest, origins.last { told[$0]?.contains(newest) == true } ?? origins[0])
    }
    var sighting = Sighting(
      peer: key.peer, incarnation: key.incarnation, name: first.names[0], info: first.info,
      addresses: texts.map { TransportAddress(kind: .tcp, text: $0.text) },
      otherNames: Sighting.otherNames(matching.flatMap(\.names)))
    for (text, origin) in texts {
      if case .host(let host) = origin {
        sighting.origins[TransportAddress(kind: .tcp, text: text)] = host.description
      }
    }
    return sighting
  }

  /// Returns the addresses, best first. Of equally good ones, the address of the host that sent it comes first, then
  /// those of the latest service.
  private func addresses(of instance: Instance, _ interfaces: InterfaceTable) -> [(text: String, origin: Origin)] {
    var ranked: [(rank: Int, place: Int, endpoint: ResolvedInstance.Endpoint)] = []
    let count = instance.endpoints.count
    for (place, endpoint) in instance.endpoints.enumerated() where interfaces.mayDial(endpoint) {
      // Any host can add an address to another's name, and a service under it.
      let isOwn = endpoint.origin == nil || endpoint.origin == endpoint.address
      ranked.append((Self.rank(endpoint.address), isOwn ? place : count + place, endpoint))
    }
    ranked.sort { ($0.rank, $0.endpoint.interface.index, $0.place) < ($1.rank, $1.endpoint.interface.index, $1.place) }
    return ranked.compactMap { ranked in
      Self.text(ranked.endpoint, interfaceName: interfaces.name).map { text in
        (text, ranked.endpoint.origin.map(Origin.host) ?? .instance(instance.number))
      }
    }
  }

  /// Returns the rank, best first: loopback (same host), IPv6, IPv4, link-local.
  private static func rank(_ address: IPAddress) -> Int {
    if address.isLoopback { return 0 }
    if address.isLinkLocal { return address.isIPv6 ? 3 : 4 }
    return address.isIPv6 ? 1 : 2
  }

  private static func text(_ endpoint: ResolvedInstance.Endpoint, interfaceName: (UInt32) -> String?) -> String? {
    let address = endpoint.address
    guard address.isIPv6 else { return "\(address):\(endpoint.port)" }
    guard address.isLinkLocal else { return "[\(address)]:\(endpoint.port)" }
    return interfaceName(endpoint.interface.index).map { "[\(address)%\($0)]:\(endpoint.port)" }
  }
}
