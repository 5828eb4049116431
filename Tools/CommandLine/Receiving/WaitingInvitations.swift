import Piconet
import Synchronization

/// Invitations about which a person is to be asked, one after the other. Those that have gone leave, so that no more
/// wait than are open: one of each peer.
final class WaitingInvitations<Item: Sendable>: Sendable {
  private struct State: AwaitedState {
    var waiting: [Item] = []
    var waiters = Waiters<Void, Item?>()
    let isOpen: @Sendable (Item) -> Bool

    mutating func answer(to need: Void) -> Item?? {
      let isOpen = isOpen
      waiting.removeAll { !isOpen($0) }
      return waiting.isEmpty ? nil : .some(waiting.removeFirst())
    }
  }

  private let state: Mutex<State>

  init(isOpen: @escaping @Sendable (Item) -> Bool) { state = Mutex(State(isOpen: isOpen)) }

  var count: Int { state.withLock { $0.waiting.count } }

  func append(_ item: Item) {
    state.change { state in
      let isOpen = state.isOpen
      state.waiting.removeAll { !isOpen($0) }
      state.waiting.append(item)
    }
  }

  /// The oldest that is still open; nil: the task is cancelled.
  func next() async -> Item? { await state.wait(ifCancelled: .some(nil)) }
}
