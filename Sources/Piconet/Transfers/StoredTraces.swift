import PiconetEngine
import PiconetFiles
import Synchronization

/// The files that each run of a sender has stored in a directory or found there, so that `overwrite` never replaces one
/// of its files with another. Any thread may use it.
final class StoredTraces: Sendable {
  /// The number of senders' runs that are remembered; beyond that the run that has stored nothing for longest is
  /// forgotten.
  static let senders = 64
  /// The number of files of each run. A sender with more files replaces nothing any more.
  static let filesOfSender = 65_536
  /// The number of files of all runs together, some 24 MiB; beyond that runs are forgotten in the same order.
  static let files = 4 * filesOfSender
  /// Two paths, and the other properties by which a file is recognized.
  private static let tracesOfFile = 4

  private struct State {
    /// Hash values of traces: if two happen to collide, more files stay.
    var used: [NodeID: Set<Int>] = [:]
    /// The number of hash values of all runs.
    var hashes = 0
    /// The runs, the one that has stored something last at the end.
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
  ///   - files: how many files of all runs together are remembered.
  ///   - filesOfSender: how many files of each run.
  init(atMost files: Int = StoredTraces.files, ofSender filesOfSender: Int = StoredTraces.filesOfSender) {
    limit = Self.tracesOfFile * files
    limitOfSender = Self.tracesOfFile * filesOfSender
  }

  /// Returns the files of one run.
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
