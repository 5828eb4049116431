import PiconetEngine
import PiconetFiles
import Synchronization

/// Which names each run of a sender has used in a directory, so that `overwrite` never makes one of its files take the
/// place of another. Any thread may use it.
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

  /// Whether the sender may replace what has the name, which it uses from now on. A name that it has used in another
  /// spelling, which a file system without case or one that normalizes takes for the same, is not enough to tell.
  func mayReplace(_ path: String, of sender: NodeID) -> Replacement {
    let exactly = Array(path.utf8).hashValue
    // String's hash is that of its canonical form (NFC). What happens to have the same keeps its neighbour.
    let alike = path.lowercased().hashValue ^ 1
    return state.withLock { state in
      if state.used[sender] == nil {
        if state.order.count == Self.senders { state.used[state.order.removeFirst()] = nil }
        state.order.append(sender)
      }
      guard (state.used[sender]?.count ?? 0) < 2 * Self.namesOfSender else { return .never }
      guard state.used[sender, default: []].insert(exactly).inserted else { return .never }
      return state.used[sender, default: []].insert(alike).inserted ? .allowed : .exactly
    }
  }
}
