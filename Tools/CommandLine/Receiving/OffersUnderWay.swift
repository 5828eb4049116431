import Piconet
import Synchronization

/// How many offers, or questions, from each sender are being dealt with: a sender that endlessly offers and gives up
/// must not fill the memory with offers that have ended and wait to be reported.
final class OffersUnderWay: Sendable {
  /// Twice what a sender may have open: some may have ended without having been dealt with.
  static let offerLimit = 128

  private let limit: Int
  private let counts = Mutex<[NodeID: Int]>([:])

  init(limit: Int = OffersUnderWay.offerLimit) { self.limit = limit }

  /// - Returns: false if there are too many from this sender.
  func begin(_ sender: NodeID) -> Bool {
    counts.withLock { counts in
      guard counts[sender, default: 0] < limit else { return false }
      counts[sender, default: 0] += 1
      return true
    }
  }

  func end(_ sender: NodeID) {
    counts.withLock { counts in
      let left = (counts[sender] ?? 0) - 1
      counts[sender] = left > 0 ? left : nil
    }
  }
}
