import PiconetEngine
import Synchronization

/// The state of an outgoing stream: what may be queued, and why it was stopped.
final class OutgoingStreamState: Sendable {
  let receiver: NodeID
  let budget: SendBudget
  private let reason = Mutex<PiconetError?>(nil)

  init(receiver: NodeID, limit: Int) {
    self.receiver = receiver
    budget = SendBudget(limit: limit)
  }

  /// Why it takes nothing more, if the loop has stopped it.
  var stopped: PiconetError? { reason.withLock { $0 } }

  /// Stops the stream; the first reason counts.
  func stop(_ error: PiconetError) {
    reason.withLock { $0 = $0 ?? error }
    budget.end(error)
  }
}
