import PiconetEngine
import PiconetWire

/// The results of ended introductions to this node, as far as the next introduction of the same node depends on them.
struct IntroductionHistory: Sendable {
  /// The number of nodes that are remembered. Beyond it the history forgets the oldest node of the introducer with the
  /// most nodes.
  static let limit = 1_024
  /// The number of nodes that one member's key may have introduced, even if its node comes back as another one; beyond
  /// it its oldest is forgotten.
  static let limitOfIntroducer = 128

  /// Reasons that say nothing of whether the two want each other, or reach each other. A node that gets no place learns
  /// so from its own ending.
  private static let nothingOfTheTwo: [Reason] = [
    .full, .left, .shuttingDown, .noSuchAssociation, .restarted, .selfConnection, .cancelled,
  ]

  private struct Entry: Sendable {
    /// The key of the member that was the first to introduce it.
    let introducer: PeerID?
    /// Whether a person, or the program, has declined it.
    var isDeclined = false
    var outcomes = IntroductionOutcomes()
  }

  private var entries: [NodeID: Entry] = [:]
  private var order: [NodeID] = []
  /// The introducers of nodes whose introductions stand; the engine bounds them.
  private var standing: [NodeID: PeerID] = [:]

  func isDeclined(_ node: NodeID) -> Bool { entries[node]?.isDeclined == true }

  /// Returns the first introducer of the node; nil if it is not remembered.
  func introducer(of node: NodeID) -> PeerID? { entries[node]?.introducer }

  /// Notes that a member introduces a node, which is wanted.
  mutating func wanted(_ node: NodeID, by introducer: PeerID) { standing[node] = introducer }

  /// Notes that an introduction of the node was declined: other members that introduce it get the same answer.
  mutating func declined(_ node: NodeID, by introducer: PeerID? = nil) {
    change(node, by: introducer) { $0.isDeclined = true }
  }

  /// Notes that an introduction of a wanted node has ended without it.
  /// - Returns: the news for the program.
  mutating func failed(_ node: NodeID, _ ending: Ending) -> IntroductionOutcomes.News? {
    let introducer = standing.removeValue(forKey: node)
    if Self.nothingOfTheTwo.contains(ending.reason) { return nil }
    return change(node, by: introducer) { $0.outcomes.failed(ending) }
  }

  /// Notes that the node is a member.
  /// - Returns: the news for the program.
  mutating func joined(_ node: NodeID) -> IntroductionOutcomes.News? {
    standing[node] = nil
    guard let entry = entries.removeValue(forKey: node) else { return nil }
    order.removeAll { $0 == node }
    return entry.outcomes.end
  }

  private mutating func change<Result>(
    _ node: NodeID, by introducer: PeerID?, _ body: (inout Entry) -> Result
  ) -> Result {
    if entries[node] == nil {
      makeRoom(for: introducer)
      order.append(node)
    }
    return body(&entries[node, default: Entry(introducer: introducer)])
  }

  /// Makes room for an introduction. Introductions of one member take nothing of another member's share.
  private mutating func makeRoom(for introducer: PeerID?) {
    let counts = Dictionary(grouping: entries.values, by: \.introducer).mapValues(\.count)
    let crowded: PeerID?
    if counts[introducer, default: 0] >= Self.limitOfIntroducer, introducer != nil {
      crowded = introducer
    } else {
      guard order.count >= Self.limit, let most = counts.values.max() else { return }
      crowded = order.compactMap { entries[$0] }.first { counts[$0.introducer] == most }?.introducer
    }
    guard let index = order.firstIndex(where: { entries[$0]?.introducer == crowded }) else { return }
    entries[order.remove(at: index)] = nil
  }
}
