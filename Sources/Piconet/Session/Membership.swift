import PiconetEngine
import Synchronization

/// One membership of a peer, from when both sides have accepted until it is over: all that this side keeps of it. A
/// peer that comes back after that has another one.
final class Membership: Sendable {
  let proven: ProvenMember
  /// What may be queued to the member.
  let budgets: MessageBudgets
  private let hasEnded = Atomic<Bool>(false)
  /// Guards what the member is reached over now; nothing while it is suspended.
  private let carrier: Mutex<MemberRoute?>
  /// Whether both users have compared a code since the peer joined.
  private let hasCompared = Atomic<Bool>(false)

  init(_ proven: ProvenMember, over route: MemberRoute, budgets: MessageBudgets) {
    self.proven = proven
    self.budgets = budgets
    carrier = Mutex(route)
  }

  /// Set on the loop.
  var isOver: Bool { hasEnded.load(ordering: .acquiring) }

  func codeWasCompared() { hasCompared.store(true, ordering: .releasing) }

  /// What says whose key it is now: what did when the peer joined, unless a comparison since says more.
  var confirmation: MemberConfirmation {
    hasCompared.load(ordering: .acquiring) ? proven.confirmation.afterComparison : proven.confirmation
  }

  /// Nil while it is suspended, and when it is over.
  var route: MemberRoute? { isOver ? nil : carrier.withLock { $0 } }
  var transport: TransportKind? { route?.transport }

  func isReached(over route: MemberRoute?) { carrier.withLock { $0 = route } }

  /// Tasks that wait to send, or send from now on, get the reason.
  func end(_ error: PiconetError) {
    hasEnded.store(true, ordering: .releasing)
    budgets.end(error)
  }
}
