import Synchronization

/// A value whose changes tasks can wait for. They see the latest value, not every one, so nothing piles up.
final class Watched<Value: Sendable>: Sendable {
  private struct State: AwaitedState {
    var value: Value
    var version: UInt64 = 1
    var isFinished = false
    var waiters = Waiters<UInt64, Void>()

    // No reader takes anything from another.
    static var servesInTurns: Bool { false }

    func answer(to seen: UInt64) -> Void? { version > seen || isFinished ? () : nil }
  }

  private let state: Mutex<State>

  init(_ value: Value) { state = Mutex(State(value: value)) }

  var value: Value { state.withLock { $0.value } }

  /// Changes the value; no effect once it is finished.
  func update(_ change: (inout Value) -> Void) {
    state.change { state in
      if state.isFinished { return }
      change(&state.value)
      state.version += 1
    }
  }

  func finish() { state.change { $0.isFinished = true } }

  /// Returns the value and its version as soon as it is newer than `version`; nil at the end, and when the task is
  /// cancelled.
  func next(after version: UInt64, isolation: isolated (any Actor)?) async -> (value: Value, version: UInt64)? {
    while !Task.isCancelled {
      let (now, isFinished) = state.withLock { (($0.value, $0.version), $0.isFinished) }
      if now.1 > version { return now }
      if isFinished { return nil }
      await state.wait(for: version, ifCancelled: ())
    }
    return nil
  }
}
