import PiconetEngine
import Synchronization

/// One membership of a peer, from when both sides have accepted until it is over: all that this side keeps of it. Who
/// comes back after that has another one.
final class Membership: Sendable {
  let proven: ProvenMember
  /// What may be queued to the member.
  let budget: SendBudget
  private let hasEnded = Atomic<Bool>(false)
  /// Guards what the member is reached over now; nothing while it is suspended.
  private let carrier: Mutex<TransportKind?>

  init(_ proven: ProvenMember, budget: SendBudget) {
    self.proven = proven
    self.budget = budget
    carrier = Mutex(proven.transport)
  }

  /// It becomes so on the loop.
  var isOver: Bool { hasEnded.load(ordering: .acquiring) }

  /// Nil while it is suspended, and when it is over.
  var transport: TransportKind? { isOver ? nil : carrier.withLock { $0 } }

  func isReached(over transport: TransportKind?) { carrier.withLock { $0 = transport } }

  /// Everybody who waits to send, or sends from now on, gets the reason.
  func end(_ error: PiconetError) {
    hasEnded.store(true, ordering: .releasing)
    budget.end(error)
  }
}
