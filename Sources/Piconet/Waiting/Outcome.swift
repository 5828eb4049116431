import Synchronization

/// How something ended, for all tasks that wait for it; set once.
final class Outcome<Value: Sendable>: Sendable {
  private struct State: AwaitedState {
    var value: Value?
    var waiters = Waiters<Void, Value?>()

    func answer(to need: Void) -> Value?? { value.map { .some($0) } }
  }

  private let state = Mutex(State())

  /// How it ended, if it has ended.
  var value: Value? { state.withLock { $0.value } }

  /// Ends it; the first outcome counts.
  /// - Returns: false if there is one already.
  @discardableResult
  func end(_ value: Value) -> Bool {
    var isFirst = false
    state.change { state in
      isFirst = state.value == nil
      if isFirst { state.value = .some(value) }
    }
    return isFirst
  }

  /// Waits even if the calling task is cancelled.
  func wait() async -> Value {
    // No waiter is removed before the end: nil never comes.
    while true { if let value = await state.wait(ifCancelled: nil) { return value } }
  }

  /// As `wait`; nil when the task is cancelled before.
  func waitUnlessCancelled() async -> Value? {
    if let value { return value }
    return await state.wait(ifCancelled: .some(nil))
  }
}
