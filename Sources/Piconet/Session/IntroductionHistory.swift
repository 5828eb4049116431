import PiconetEngine
import PiconetWire

/// What has come of introductions to this node that are over, as far as the next one of the same node depends on it.
struct IntroductionHistory: Sendable {
  /// How many nodes are remembered. Beyond that the first of whoever has introduced most of them goes.
  static let limit = 1_024
  /// How many of them one member's key may have introduced, even if its node comes back as another one; its first goes.
  static let limitOfIntroducer = 128

  /// Whoever has no place is told so by its own ending; the others say nothing of whether the two want each other, or
  /// reach each other.
  private static let nothingOfTheTwo: [Reason] = [
    .full, .left, .shuttingDown, .noSuchAssociation, .restarted, .selfConnection, .cancelled,
  ]

  private struct Entry: Sendable {
    /// The key of the member that was the first to introduce it.
    let introducer: PeerID?
    /// A person, or the program, has declined it.
    var isDeclined = false
    var outcomes = IntroductionOutcomes()
  }

  private var entries: [NodeID: Entry] = [:]
  private var order: [NodeID] = []
  /// Who has introduced the nodes whose introductions stand; the engine bounds them.
  private var standing: [NodeID: PeerID] = [:]

  func isDeclined(_ node: NodeID) -> Bool { entries[node]?.isDeclined == true }

  /// Who was the first to introduce the node; nil if it is not remembered.
  func introducer(of node: NodeID) -> PeerID? { entries[node]?.introducer }

  /// A member introduces a node, which is wanted.
  mutating func wanted(_ node: NodeID, by introducer: PeerID) { standing[node] = introducer }

  /// The answer to an introduction of the node was no: other members that introduce it get the same one.
  mutating func declined(_ node: NodeID, by introducer: PeerID? = nil) {
    change(node, by: introducer) { $0.isDeclined = true }
  }

  /// An introduction of a node that was wanted has ended without it.
  /// - Returns: what the program is to be told.
  mutating func failed(_ node: NodeID, _ ending: Ending) -> IntroductionOutcomes.News? {
    let introducer = standing.removeValue(forKey: node)
    if Self.nothingOfTheTwo.contains(ending.reason) { return nil }
    return change(node, by: introducer) { $0.outcomes.failed(ending) }
  }

  /// The node is a member.
  /// - Returns: what the program is to be told.
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

  /// What a member introduces costs another one none of its share.
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
