/// The peers that a browser sees, computed from the nodes in sight. One peer may appear as several nodes for a moment,
/// after its program was restarted. A value.
struct BrowsedPeers<Node: Hashable & Sendable>: Sendable {
  struct Sighting: Sendable, Equatable {
    let node: Node
    let identifier: UInt64
    let name: String
    let info: [String: String]?
  }

  enum Change: Sendable, Equatable {
    case found(MCPeerID, info: [String: String]?)
    case lost(MCPeerID)
  }

  private struct Entry: Sendable {
    let peer: MCPeerID
    /// Sightings of the peer's nodes, the newest last.
    var sightings: [Sighting]
  }

  private var entries: [UInt64: Entry] = [:]
  private var order: [UInt64] = []

  /// Returns the node through which the peer is invited.
  func newest(_ identifier: UInt64) -> Node? { entries[identifier]?.sightings.last?.node }

  /// - Parameter sightings: all nodes in sight now.
  mutating func update(_ sightings: [Sighting]) -> [Change] {
    var changes: [Change] = []
    let byPeer = Dictionary(grouping: sightings, by: \.identifier)
    for identifier in order where byPeer[identifier] == nil {
      if let entry = entries.removeValue(forKey: identifier) { changes.append(.lost(entry.peer)) }
    }
    order.removeAll { entries[$0] == nil }
    for sighting in sightings where entries[sighting.identifier] == nil {
      let peer = MCPeerID(identifier: sighting.identifier, displayName: sighting.name)
      entries[sighting.identifier] = Entry(peer: peer, sightings: byPeer[sighting.identifier] ?? [sighting])
      order.append(sighting.identifier)
      changes.append(.found(peer, info: entries[sighting.identifier]?.sightings.last?.info))
    }
    for identifier in order {
      guard var entry = entries[identifier], let now = byPeer[identifier] else { continue }
      let before = entry.sightings.last
      // Those that stay, with their present data; then those that are new.
      entry.sightings = entry.sightings.compactMap { old in now.first { $0.node == old.node } }
      entry.sightings += now.filter { new in !entry.sightings.contains { $0.node == new.node } }
      entries[identifier] = entry
      // A new info means a new advertiser: with Apple's browser it is lost and found.
      if let last = entry.sightings.last, let before, last.info != before.info {
        changes += [.lost(entry.peer), .found(entry.peer, info: last.info)]
      }
    }
    return changes
  }
}
