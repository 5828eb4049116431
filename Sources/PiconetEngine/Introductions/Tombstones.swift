import PiconetWire

/// Nodes that were removed from the group in this run. Introductions of them are refused, except by the member that
/// wanted the removal, which has let the node in again. A restarted node is another node. A node that becomes a member
/// again, by an invitation, is no longer listed.
struct Tombstones: Sendable {
  private struct Stone: Sendable {
    let node: NodeID
    /// The key of the member that wanted the removal; nil if we did.
    let remover: PeerID?
  }

  /// The maximum number of nodes kept. Beyond it, the oldest of the member that has wanted the most removals is
  /// dropped. So a member that introduces and removes node after node does not push out the removals of others. Our own
  /// are dropped only if all are our own.
  static let limit = 256

  private var stones: [Stone] = []

  func contains(_ node: NodeID) -> Bool { stones.contains { $0.node == node } }

  /// Returns whether an introduction by this key is refused.
  func refuses(_ node: NodeID, by introducer: PeerID) -> Bool {
    stones.contains { $0.node == node && $0.remover != introducer }
  }

  mutating func insert(_ node: NodeID, by remover: PeerID?) {
    if let index = stones.firstIndex(where: { $0.node == node }) {
      if remover == nil { stones[index] = Stone(node: node, remover: nil) }
      return
    }
    if stones.count >= Self.limit { removeOldest() }
    stones.append(Stone(node: node, remover: remover))
  }

  private mutating func removeOldest() {
    var counts: [PeerID: Int] = [:]
    for case let remover? in stones.lazy.map(\.remover) { counts[remover, default: 0] += 1 }
    let most = counts.values.max()
    stones.remove(at: stones.firstIndex { $0.remover.map { counts[$0] == most } ?? false } ?? 0)
  }

  mutating func remove(_ node: NodeID) {
    if !stones.isEmpty { stones.removeAll { $0.node == node } }
  }
}
