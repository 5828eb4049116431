import PiconetEngine
import PiconetWire

/// What has come of introductions to this node that are over, as far as the next one of the same node depends on it.
struct IntroductionHistory: Sendable {
  /// How many nodes are remembered; the one that was introduced first goes.
  static let limit = 1_024
  /// After so many introductions in a row that have found no way the program is told. One may fail by chance.
  private static let missesTold = 2

  /// Whoever has no place is told so by its own ending; the others say nothing of whether the two want each other, or
  /// reach each other.
  private static let nothingOfTheTwo: [Reason] = [
    .full, .left, .shuttingDown, .noSuchAssociation, .restarted, .selfConnection, .cancelled,
  ]

  private struct Entry: Sendable {
    /// A person, or the program, has declined it.
    var isDeclined = false
    var misses = 0
    /// Why the two are apart, as the program was told.
    var told: Ending?
  }

  private var entries: [NodeID: Entry] = [:]
  private var order: [NodeID] = []

  /// What the program is to be told of the node.
  enum News: Equatable {
    case apart(Ending)
    /// It is a member now, and was apart for this reason.
    case together(Ending)
  }

  func isDeclined(_ node: NodeID) -> Bool { entries[node]?.isDeclined == true }

  /// The answer to an introduction of the node was no: other members that introduce it get the same one.
  mutating func declined(_ node: NodeID) { change(node) { $0.isDeclined = true } }

  /// An introduction of a node that was wanted has ended without it.
  mutating func failed(_ node: NodeID, _ ending: Ending) -> News? {
    if Self.nothingOfTheTwo.contains(ending.reason) { return nil }
    var isNews = false
    change(node) { entry in
      entry.misses += 1
      let former = entry.told?.reason
      isNews = ending.reason.mayPass ? former == nil && entry.misses == Self.missesTold : former != ending.reason
      if isNews { entry.told = ending }
    }
    return isNews ? .apart(ending) : nil
  }

  /// The node is a member.
  mutating func joined(_ node: NodeID) -> News? {
    guard let entry = entries.removeValue(forKey: node) else { return nil }
    order.removeAll { $0 == node }
    return entry.told.map(News.together)
  }

  private mutating func change(_ node: NodeID, _ body: (inout Entry) -> Void) {
    if entries[node] == nil {
      if order.count >= Self.limit { entries[order.removeFirst()] = nil }
      order.append(node)
    }
    body(&entries[node, default: Entry()])
  }
}
