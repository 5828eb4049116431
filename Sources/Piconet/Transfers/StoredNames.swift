import PiconetEngine
import PiconetFiles
import Synchronization

/// Which names each run of a sender has used in a directory, so that `overwrite` never makes one of its files take the
/// place of another. Any thread may use it.
final class StoredNames: Sendable {
  /// How many runs of senders are remembered; beyond that the one that has stored nothing for longest is forgotten.
  static let senders = 64
  /// How many names of each. A sender that uses more replaces nothing any more.
  static let namesOfSender = 65_536

  private struct State {
    var used: [NodeID: Set<Int>] = [:]
    /// Who has stored something last is the last.
    var order: [NodeID] = []

    mutating func noteRun(of sender: NodeID) {
      if order.last == sender { return }
      if let index = order.firstIndex(of: sender) {
        order.remove(at: index)
      } else if order.count == StoredNames.senders {
        used[order.removeFirst()] = nil
      }
      order.append(sender)
    }
  }

  private let state = Mutex(State())

  /// Whether the sender may replace the file with this name; from now on the name counts as used. If the sender has
  /// used it in another spelling, which a file system that ignores case or normalizes takes for the same, only a file
  /// with exactly this name may be replaced.
  func mayReplace(_ path: String, of sender: NodeID) -> Replacement {
    let exactly = Array(path.utf8).hashValue
    // String's hash is that of its canonical form (NFC). If two names happen to collide, more files stay.
    let alike = path.lowercased().hashValue ^ 1
    return state.withLock { state in
      state.noteRun(of: sender)
      guard (state.used[sender]?.count ?? 0) < 2 * Self.namesOfSender else { return .never }
      guard state.used[sender, default: []].insert(exactly).inserted else { return .never }
      return state.used[sender, default: []].insert(alike).inserted ? .allowed : .exactly
    }
  }
}
