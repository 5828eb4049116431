import PiconetEngine
import Synchronization

/// Which names each run of a sender has used in a directory, so that `overwrite` never makes one of its files take the place of
/// another. Any thread may use it.
final class StoredNames: Sendable {
  /// Runs of senders that are remembered; the oldest is forgotten.
  static let senders = 64
  /// Names of one of them. Whoever uses more replaces nothing any more.
  static let namesOfSender = 65_536

  private struct State {
    var used: [NodeID: Set<Int>] = [:]
    var order: [NodeID] = []
  }

  private let state = Mutex(State())

  /// Whether the sender uses the name for the first time; from now on it does not. Names that a file system without case, or one that
  /// normalizes, takes for the same count as one.
  func isFirst(_ path: String, of sender: NodeID) -> Bool {
    // String's hash is that of its canonical form (NFC). What happens to have the same keeps its neighbour.
    let hash = path.lowercased().hashValue
    return state.withLock { state in
      if state.used[sender] == nil {
        if state.order.count == Self.senders { state.used[state.order.removeFirst()] = nil }
        state.order.append(sender)
      }
      guard (state.used[sender]?.count ?? 0) < Self.namesOfSender else { return false }
      return state.used[sender, default: []].insert(hash).inserted
    }
  }
}
