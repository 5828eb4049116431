import Synchronization

/// A value that tasks can wait for to change: they see the latest, not every one, so nothing piles up.
final class Watched<Value: Sendable>: Sendable {
  private struct State {
    var value: Value
    var version: UInt64 = 1
    var isFinished = false
    var waiters: [(id: UInt64, continuation: CheckedContinuation<Void, Never>)] = []
    var nextWaiter: UInt64 = 0
  }

  private let state: Mutex<State>

  init(_ value: Value) { state = Mutex(State(value: value)) }

  var value: Value { state.withLock { $0.value } }

  /// Without effect once it is finished.
  func update(_ change: (inout Value) -> Void) {
    let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      if state.isFinished { return [] }
      change(&state.value)
      state.version += 1
      defer { state.waiters = [] }
      return state.waiters.map(\.continuation)
    }
    for waiter in waiters { waiter.resume() }
  }

  func finish() {
    let waiters = state.withLock { state in
      state.isFinished = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.continuation.resume() }
  }

  /// The value and its version as soon as it is newer than `version`; nil at the end, and when the task is cancelled.
  func next(after version: UInt64, isolation: isolated (any Actor)?) async -> (value: Value, version: UInt64)? {
    while !Task.isCancelled {
      let (now, isFinished, id) = state.withLock { state in
        state.nextWaiter += 1
        return ((state.value, state.version), state.isFinished, state.nextWaiter)
      }
      if now.1 > version { return now }
      if isFinished { return nil }
      await withTaskCancellationHandler {
        await withCheckedContinuation(isolation: isolation) { continuation in
          let mustWait = state.withLock { state in
            guard state.version <= version, !state.isFinished, !Task.isCancelled else { return false }
            state.waiters.append((id, continuation))
            return true
          }
          if !mustWait { continuation.resume() }
        }
      } onCancel: {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
          guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
          return state.waiters.remove(at: index).continuation
        }
        waiter?.resume()
      }
    }
    return nil
  }
}
