import Piconet
import Synchronization

/// Invitations about which a person is to be asked, one after the other. Those that have ended leave, so that no more
/// wait than are open: one of each peer.
final class WaitingInvitations<Item: Sendable>: Sendable {
  private struct State: AwaitedState {
    var waiting: [Item] = []
    /// Removed, and still to be reported.
    var gone: [Item] = []
    var waiters = Waiters<Void, Item?>()
    let isOpen: @Sendable (Item) -> Bool

    mutating func removeGone() {
      let isOpen = isOpen
      gone += waiting.filter { !isOpen($0) }
      waiting.removeAll { !isOpen($0) }
    }

    mutating func answer(to need: Void) -> Item?? {
      removeGone()
      return waiting.isEmpty ? nil : .some(waiting.removeFirst())
    }
  }

  private let state: Mutex<State>
  private let tellGone: @Sendable (Item) -> Void

  /// - Parameter tellGone: called for each that has left before its turn.
  init(isOpen: @escaping @Sendable (Item) -> Bool, tellGone: @escaping @Sendable (Item) -> Void) {
    state = Mutex(State(isOpen: isOpen))
    self.tellGone = tellGone
  }

  var count: Int { state.withLock { $0.waiting.count } }

  func append(_ item: Item) {
    state.change { state in
      state.removeGone()
      state.waiting.append(item)
    }
    tellTheGone()
  }

  /// The oldest that is still open; nil: the task is cancelled.
  func next() async -> Item? {
    let next = await state.wait(ifCancelled: .some(nil))
    tellTheGone()
    return next
  }

  private func tellTheGone() {
    let gone = state.withLock { state in
      defer { state.gone = [] }
      return state.gone
    }
    for item in gone { tellGone(item) }
  }
}
