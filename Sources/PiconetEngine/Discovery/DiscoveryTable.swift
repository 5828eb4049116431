import PiconetWire

/// Merges the sightings of one peer over several sources. A peer is found with its first sighting and lost only when
/// the last source falls silent.
struct DiscoveryTable: Sendable {
  enum Change: Equatable {
    case found(PeerSummary)
    case changed(PeerSummary)
    case lost(NodeID)

    /// The event for the application.
    var event: Event {
      switch self {
      case .found(let summary): .peerFound(summary)
      case .changed(let summary): .peerChanged(summary)
      case .lost(let node): .peerLost(node)
      }
    }

    /// The node about which something was learned; nil if it was forgotten.
    var learned: NodeID? {
      switch self {
      case .found(let summary), .changed(let summary): summary.node
      case .lost: nil
      }
    }
  }

  private let ownNode: NodeID
  private let limit: Int
  private let preference: [TransportKind]
  /// The sources of each node, in the order in which they first saw it.
  private var sightings: [NodeID: [(source: String, sighting: Sighting)]] = [:]

  init(ownNode: NodeID, limit: Int, preference: [TransportKind]) {
    self.ownNode = ownNode
    self.limit = limit
    self.preference = preference
  }

  init(_ node: NodeID, _ configuration: EngineConfiguration) {
    self.init(ownNode: node, limit: configuration.sightingLimit, preference: configuration.transports)
  }

  var count: Int { sightings.count }

  mutating func report(_ report: DiscoveryReport, source: String) -> Change? {
    switch report {
    case .seen(let sighting):
      let node = NodeID(peer: sighting.peer, incarnation: sighting.incarnation)
      guard node != ownNode else { return nil }
      guard var ofNode = sightings[node] else {
        // A room holds fewer devices than the limit. Beyond the limit devices are being made up, and new ones are
        // ignored.
        guard sightings.count < limit else { return nil }
        sightings[node] = [(source, sighting)]
        return summary(of: node).map(Change.found)
      }
      let before = summary(of: node)
      if let index = ofNode.firstIndex(where: { $0.source == source }) {
        ofNode[index].sighting = sighting
      } else {
        ofNode.append((source, sighting))
      }
      sightings[node] = ofNode
      let after = summary(of: node)
      return before == after ? nil : after.map(Change.changed)
    case .gone(let peer, let incarnation):
      return forget(NodeID(peer: peer, incarnation: incarnation), source: source)
    }
  }

  /// Takes a report, and tells the application of it.
  /// - Returns: the node about which something was learned; nil if nothing was.
  mutating func report(_ report: DiscoveryReport, source: String, _ turn: Turn) -> NodeID? {
    guard let change = self.report(report, source: source) else { return nil }
    turn.deliver(change.event)
    return change.learned
  }

  /// Forgets everything that only this source saw, in the order of the nodes.
  mutating func sourceEnded(_ source: String) -> [Change] {
    sightings.keys.sorted().compactMap { forget($0, source: source) }
  }

  private mutating func forget(_ node: NodeID, source: String) -> Change? {
    guard var ofNode = sightings[node], let index = ofNode.firstIndex(where: { $0.source == source }) else {
      return nil
    }
    let before = summary(of: node)
    ofNode.remove(at: index)
    if ofNode.isEmpty {
      sightings[node] = nil
      return .lost(node)
    }
    sightings[node] = ofNode
    let after = summary(of: node)
    return before == after ? nil : after.map(Change.changed)
  }

  /// Returns the addresses at which other nodes of this node's key are said to be. The devices that say so take turns,
  /// in random order. So a device that advertises the key under thousands of incarnations does not crowd out others.
  func addresses(ofOthersThan node: NodeID, _ random: inout SeededRandom) -> [TransportAddress] {
    var told: [String: [TransportAddress]] = [:]
    for other in sightings.keys.filter({ $0.peer == node.peer && $0 != node }).sorted() {
      for (_, sighting) in sightings[other] ?? [] {
        for address in sighting.addresses where preference.contains(address.kind) {
          told[sighting.origins[address] ?? String(address.host), default: []].append(address)
        }
      }
    }
    guard !told.isEmpty else { return [] }
    let turns = told.sorted { $0.key < $1.key }.map { $0.value.shuffled(using: &random).prefix(Self.addressesOfOrigin) }
      .shuffled(using: &random)
    return (0..<Self.addressesOfOrigin).flatMap { turn in
      turns.compactMap { turn < $0.count ? $0[turn] : nil }
    }
  }

  /// How many addresses of other nodes one device may name. This is the number of ports that it can make us dial.
  private static let addressesOfOrigin = 16

  /// Returns whether this node is out of sight while another incarnation of its peer is in sight.
  func seesOnlyOther(than node: NodeID) -> Bool {
    sightings[node] == nil && sightings.keys.contains { $0.peer == node.peer }
  }

  /// Returns the summary of a node. Its name and info come from the source that saw the peer first. Other names and
  /// addresses come from all sources, with transports in order of preference.
  func summary(of node: NodeID) -> PeerSummary? {
    guard let ofNode = sightings[node], let first = ofNode.first else { return nil }
    var addresses: [TransportAddress] = []
    for kind in preference {
      for (_, sighting) in ofNode {
        for address in sighting.addresses where address.kind == kind && !addresses.contains(address) {
          addresses.append(address)
        }
      }
    }
    let kinds = Set(ofNode.flatMap(\.sighting.addresses).map(\.kind)).subtracting(preference)
    return PeerSummary(
      node: node, name: first.sighting.name, info: first.sighting.info, addresses: addresses,
      signalStrength: ofNode.compactMap(\.sighting.signalStrength).max(),
      otherNames: Self.otherNames(ofNode.map(\.sighting)), otherKinds: TransportKind.allCases.filter(kinds.contains))
  }

  /// Returns the other names of a node. The sources take turns, so that the names of one can't crowd out those of
  /// another.
  private static func otherNames(_ sightings: [Sighting]) -> [String] {
    let names = sightings.map(\.names)
    var inTurns: [String] = []
    for turn in 0..<(names.lazy.map(\.count).max() ?? 0) {
      inTurns += names.compactMap { turn < $0.count ? $0[turn] : nil }
    }
    return Sighting.otherNames(inTurns)
  }
}
