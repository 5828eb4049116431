import PiconetDNSSD
import PiconetEngine
import PiconetWire

/// Folds what the browser resolved into sightings: one per peer and incarnation, whatever its instances are called.
struct SightingTable {
  /// How many addresses a sighting may have.
  static let addressLimit = 16

  private struct Key: Hashable {
    var peer: PeerID
    var incarnation: Incarnation
  }
  private struct Instance {
    var key: Key
    /// Smaller than those of instances that came later.
    var number = 0
    var name: String
    var info: [String: String]
    var endpoints: [ResolvedInstance.Endpoint]
  }

  let sessionID: String
  /// Ourselves, in every incarnation that this process advertised.
  private var own: Key?
  private var instances: [DomainName: Instance] = [:]
  private var nextNumber = 0
  private var reported: [Key: Sighting] = [:]

  init(sessionID: String) { self.sessionID = sessionID }

  /// - Returns: `gone` if we had taken ourselves for another peer.
  mutating func setOwn(peer: PeerID, incarnation: Incarnation) -> [DiscoveryReport] {
    own = Key(peer: peer, incarnation: incarnation)
    instances = instances.filter { $0.value.key != own }
    guard let own, reported.removeValue(forKey: own) != nil else { return [] }
    return [.gone(peer, incarnation)]
  }

  mutating func apply(
    _ report: BrowserReport, interfaceName: (UInt32) -> String?, isLoopback: (UInt32) -> Bool
  ) -> [DiscoveryReport] {
    let name: DomainName
    var instance: Instance?
    switch report {
    case .resolved(let resolved), .updated(let resolved):
      name = resolved.name
      instance = read(resolved)
    case .removed(let removed): name = removed
    }
    let former = instances[name]
    let before = former?.key
    if var new = instance {
      if let former, former.key == new.key {
        new.number = former.number
      } else {
        new.number = nextNumber
        nextNumber += 1
      }
      instances[name] = new
    } else {
      instances[name] = nil
    }
    var reports: [DiscoveryReport] = []
    for key in Set([before, instance?.key].compactMap { $0 }).sorted(by: {
      ($0.peer, $0.incarnation.rawValue) < ($1.peer, $1.incarnation.rawValue)
    }) {
      let sighting = sighting(of: key, interfaceName: interfaceName, isLoopback: isLoopback)
      guard sighting != reported[key] else { continue }
      reported[key] = sighting
      reports.append(sighting.map { .seen($0) } ?? .gone(key.peer, key.incarnation))
    }
    return reports
  }

  private func read(_ resolved: ResolvedInstance) -> Instance? {
    guard let text = PeerText(strings: resolved.text), text.session == sessionID, let peer = PeerID(bytes: text.peer)
    else {
      return nil
    }
    let key = Key(peer: peer, incarnation: Incarnation(rawValue: text.incarnation))
    if key == own { return nil }
    return Instance(key: key, name: text.name, info: text.info, endpoints: resolved.endpoints)
  }

  private func sighting(
    of key: Key, interfaceName: (UInt32) -> String?, isLoopback: (UInt32) -> Bool
  ) -> Sighting? {
    // Any device can advertise another's key. The first instance supplies name and info, and all take turns with their
    // addresses: many invented ones of one instance keep out none of the peer's. The last place is that of the instance
    // that came last, so many earlier ones don't either.
    let matching = instances.values.filter { $0.key == key }.sorted { $0.number < $1.number }
    guard let first = matching.first else { return nil }
    let ofEach = matching.map { addresses(of: $0, interfaceName: interfaceName, isLoopback: isLoopback) }
    var texts: [String] = []
    for turn in 0..<(ofEach.lazy.map(\.count).max() ?? 0) {
      for text in ofEach.compactMap({ turn < $0.count ? $0[turn] : nil })
      where !texts.contains(text) && texts.count < Self.addressLimit {
        texts.append(text)
      }
    }
    if texts.isEmpty { return nil }
    if let newest = ofEach.last(where: { !$0.isEmpty })?.first, !texts.contains(newest) {
      texts[texts.count - 1] = newest
    }
    return Sighting(
      peer: key.peer, incarnation: key.incarnation, name: first.name, info: first.info,
      addresses: texts.map { TransportAddress(kind: .tcp, text: $0) },
      otherNames: Sighting.otherNames(matching.map(\.name)))
  }

  /// Best first.
  private func addresses(
    of instance: Instance, interfaceName: (UInt32) -> String?, isLoopback: (UInt32) -> Bool
  ) -> [String] {
    var ranked: [(rank: Int, endpoint: ResolvedInstance.Endpoint)] = []
    for endpoint in instance.endpoints {
      if let rank = Self.rank(endpoint, isLoopback: isLoopback(endpoint.interface.index)) {
        ranked.append((rank, endpoint))
      }
    }
    ranked.sort {
      ($0.rank, $0.endpoint.interface.index, $0.endpoint.address) < (
        $1.rank, $1.endpoint.interface.index, $1.endpoint.address
      )
    }
    return ranked.compactMap { Self.text($0.endpoint, interfaceName: interfaceName) }
  }

  /// Best first: loopback (same host), IPv6, IPv4, link-local. Nil: an address that may not be claimed on the interface
  /// where it was heard.
  private static func rank(_ endpoint: ResolvedInstance.Endpoint, isLoopback: Bool) -> Int? {
    let address = endpoint.address
    guard address.isUnicast, address.isLoopback == isLoopback else { return nil }
    if isLoopback { return 0 }
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
