import PiconetEngine
import PiconetFiles
import Synchronization

/// Which files each run of a sender has stored in a directory or found there, so that `overwrite` never makes one of
/// its files take the place of another. Any thread may use it.
final class StoredTraces: Sendable {
  /// How many runs of senders are remembered; beyond that the one that has stored nothing for longest is forgotten.
  static let senders = 64
  /// How many files of each. A sender that has more replaces nothing any more.
  static let filesOfSender = 65_536
  /// How many files of all runs together, some 24 MiB; beyond that runs are forgotten likewise.
  static let files = 4 * filesOfSender
  /// Two paths, and what else a file is recognized by.
  private static let tracesOfFile = 4

  private struct State {
    /// Hash values of traces: if two happen to collide, more files stay.
    var used: [NodeID: Set<Int>] = [:]
    /// Of all runs.
    var hashes = 0
    /// The run that has stored something last is the last.
    var order: [NodeID] = []

    mutating func noteRun(of sender: NodeID) {
      if order.last == sender { return }
      if let index = order.firstIndex(of: sender) {
        order.remove(at: index)
      } else if order.count == StoredTraces.senders {
        forgetOldest()
      }
      order.append(sender)
    }

    private mutating func forgetOldest() {
      hashes -= used.removeValue(forKey: order.removeFirst())?.count ?? 0
    }

    mutating func note(_ hash: Int, of sender: NodeID, atMost limit: Int) {
      guard used[sender, default: []].insert(hash).inserted else { return }
      hashes += 1
      while hashes > limit, order.count > 1 { forgetOldest() }
    }
  }

  private let limit: Int
  private let limitOfSender: Int

  private let state = Mutex(State())

  /// - Parameters:
  ///   - files: how many of all runs together are remembered.
  ///   - filesOfSender: how many of each run.
  init(atMost files: Int = StoredTraces.files, ofSender filesOfSender: Int = StoredTraces.filesOfSender) {
    limit = Self.tracesOfFile * files
    limitOfSender = Self.tracesOfFile * filesOfSender
  }

  /// Those of one run.
  func files(of sender: NodeID) -> some FilesOfSender { OfSender(all: self, sender: sender) }

  private struct OfSender: FilesOfSender {
    let all: StoredTraces
    let sender: NodeID

    func note(_ traces: [FileTrace]) {
      all.state.withLock { state in
        state.noteRun(of: sender)
        for trace in traces where (state.used[sender]?.count ?? 0) < all.limitOfSender {
          state.note(trace.hashValue, of: sender, atMost: all.limit)
        }
      }
    }

    func contains(_ trace: FileTrace) -> Bool {
      all.state.withLock { state in
        guard let used = state.used[sender] else { return false }
        if case .stem = trace { return used.contains(trace.hashValue) }
        return used.count >= all.limitOfSender || used.contains(trace.hashValue)
      }
    }
  }
}
