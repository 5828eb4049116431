import PiconetEngine
import Synchronization

/// One membership of a peer, from when both sides have accepted until it is over, with everything that this side keeps
/// of it. A peer that comes back after that has another membership.
final class Membership: Sendable {
  let proven: ProvenMember
  /// The limits of what may be queued to the member.
  let budgets: MessageBudgets
  private let hasEnded = Atomic<Bool>(false)
  /// Guards the route over which the member is reached now; nil while it is suspended.
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

  /// The proof of whose key it is now: the one from when the peer joined, unless a comparison since proves more.
  var confirmation: MemberConfirmation {
    hasCompared.load(ordering: .acquiring) ? proven.confirmation.afterComparison : proven.confirmation
  }

  /// Nil while it is suspended, and when it is over.
  var route: MemberRoute? { isOver ? nil : carrier.withLock { $0 } }
  var transport: TransportKind? { route?.transport }

  func isReached(over route: MemberRoute?) { carrier.withLock { $0 = route } }

  /// Ends the membership: tasks that wait to send, or send from now on, get the reason.
  func end(_ error: PiconetError) {
    hasEnded.store(true, ordering: .releasing)
    budgets.end(error)
  }
}
