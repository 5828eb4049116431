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
  /// How many names of all runs together, some 16 MiB; beyond that runs are forgotten likewise.
  static let names = 4 * namesOfSender

  private struct State {
    var used: [NodeID: Set<Int>] = [:]
    /// Of all runs.
    var hashes = 0
    /// Who has stored something last is the last.
    var order: [NodeID] = []

    mutating func noteRun(of sender: NodeID) {
      if order.last == sender { return }
      if let index = order.firstIndex(of: sender) {
        order.remove(at: index)
      } else if order.count == StoredNames.senders {
        forgetOldest()
      }
      order.append(sender)
    }

    private mutating func forgetOldest() {
      hashes -= used.removeValue(forKey: order.removeFirst())?.count ?? 0
    }

    /// - Returns: whether it is new.
    mutating func note(_ hash: Int, of sender: NodeID, atMost limit: Int) -> Bool {
      guard used[sender, default: []].insert(hash).inserted else { return false }
      hashes += 1
      while hashes > limit, order.count > 1 { forgetOldest() }
      return true
    }
  }

  private let limit: Int

  private let state = Mutex(State())

  /// - Parameter names: how many of all runs together are remembered.
  init(atMost names: Int = StoredNames.names) { limit = 2 * names }

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
      guard state.note(exactly, of: sender, atMost: limit) else { return .never }
      return state.note(alike, of: sender, atMost: limit) ? .allowed : .exactly
    }
  }
}
