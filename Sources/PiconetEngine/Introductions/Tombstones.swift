import PiconetWire

/// Nodes that were removed from the group in this run: introductions of them are refused. A restarted node is another
/// node, and one that becomes a member again, by an invitation, is no longer listed.
struct Tombstones: Sendable {
  /// How many are kept; the oldest goes.
  static let limit = 256

  private var nodes: [NodeID] = []

  func contains(_ node: NodeID) -> Bool { nodes.contains(node) }

  mutating func insert(_ node: NodeID) {
    guard !contains(node) else { return }
    if nodes.count >= Self.limit { nodes.removeFirst() }
    nodes.append(node)
  }

  mutating func remove(_ node: NodeID) {
    if !nodes.isEmpty { nodes.removeAll { $0 == node } }
  }
}
