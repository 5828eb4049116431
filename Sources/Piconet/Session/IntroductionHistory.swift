import PiconetEngine
import PiconetWire

/// What has come of introductions to this node that are over, as far as the next one of the same node depends on it.
struct IntroductionHistory: Sendable {
  /// How many nodes are remembered; the one that was introduced first goes.
  static let limit = 1_024
  /// Whoever has no place is told so by its own ending; the others say nothing of whether the two want each other, or
  /// reach each other.
  private static let nothingOfTheTwo: [Reason] = [
    .full, .left, .shuttingDown, .noSuchAssociation, .restarted, .selfConnection, .cancelled,
  ]

  private struct Entry: Sendable {
    /// A person, or the program, has declined it.
    var isDeclined = false
    var outcomes = IntroductionOutcomes()
  }

  private var entries: [NodeID: Entry] = [:]
  private var order: [NodeID] = []

  func isDeclined(_ node: NodeID) -> Bool { entries[node]?.isDeclined == true }

  /// The answer to an introduction of the node was no: other members that introduce it get the same one.
  mutating func declined(_ node: NodeID) { change(node) { $0.isDeclined = true } }

  /// An introduction of a node that was wanted has ended without it.
  /// - Returns: what the program is to be told.
  mutating func failed(_ node: NodeID, _ ending: Ending) -> IntroductionOutcomes.News? {
    if Self.nothingOfTheTwo.contains(ending.reason) { return nil }
    return change(node) { $0.outcomes.failed(ending) }
  }

  /// The node is a member.
  /// - Returns: what the program is to be told.
  mutating func joined(_ node: NodeID) -> IntroductionOutcomes.News? {
    guard let entry = entries.removeValue(forKey: node) else { return nil }
    order.removeAll { $0 == node }
    return entry.outcomes.end
  }

  private mutating func change<Result>(_ node: NodeID, _ body: (inout Entry) -> Result) -> Result {
    if entries[node] == nil {
      if order.count >= Self.limit { entries[order.removeFirst()] = nil }
      order.append(node)
    }
    return body(&entries[node, default: Entry()])
  }
}
