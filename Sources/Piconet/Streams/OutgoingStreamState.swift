import PiconetEngine
import Synchronization

/// How a stream of ours stands: what may be queued, and why it was stopped.
final class OutgoingStreamState: Sendable {
  let receiver: NodeID
  let budget: SendBudget
  private let reason = Mutex<PiconetError?>(nil)

  init(receiver: NodeID, limit: Int) {
    self.receiver = receiver
    budget = SendBudget(limit: limit)
  }

  /// Why it takes nothing more, if the loop has said so.
  var stopped: PiconetError? { reason.withLock { $0 } }

  /// The first reason counts.
  func stop(_ error: PiconetError) {
    reason.withLock { $0 = $0 ?? error }
    budget.end(error)
  }
}
