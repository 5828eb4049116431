import Synchronization

/// Hands what happened from the loop to tasks, one by one: what nobody has taken stays for the next reader.
final class EventQueue<Element: Sendable>: Sendable {
  private struct State: AwaitedState {
    var waiting: [Element] = []
    var isFinished = false
    var waiters = Waiters<Void, Element?>()

    mutating func answer(to need: Void) -> Element?? {
      if !waiting.isEmpty { return .some(waiting.removeFirst()) }
      return isFinished ? .some(nil) : nil
    }
  }

  private let state = Mutex(State())
  private let limit: Int

  /// - Parameter limit: how many wait at most; then the oldest goes.
  init(limit: Int) { self.limit = limit }

  var count: Int { state.withLock { $0.waiting.count } }

  func push(_ element: Element) {
    state.change { state in
      if state.isFinished { return }
      if state.waiting.count >= limit { state.waiting.removeFirst() }
      state.waiting.append(element)
    }
  }

  /// Takes back what nobody has taken yet.
  func remove(where isMeant: (Element) -> Bool) { state.withLock { $0.waiting.removeAll(where: isMeant) } }

  /// What was pushed before is still handed out; then every taker gets nil.
  func finish() { state.change { $0.isFinished = true } }

  /// The oldest; nil at the end, and when the task is cancelled.
  func next(isolation: isolated (any Actor)?) async -> Element? {
    await state.wait(ifCancelled: .some(nil))
  }
}
