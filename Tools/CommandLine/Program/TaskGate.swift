import Synchronization

/// Lets at most so many tasks through at once; others wait in the order in which they came.
final class TaskGate: Sendable {
  private struct State {
    var free: Int
    var waiters: [(id: UInt64, continuation: CheckedContinuation<Bool, Never>)] = []
    var nextWaiter: UInt64 = 0
  }

  private let state: Mutex<State>

  init(_ count: Int) { state = Mutex(State(free: count)) }

  /// Runs `work` when there is room; nil if the task is cancelled before.
  func run<Value: Sendable>(_ work: () async -> Value) async -> Value? {
    guard await enter() else { return nil }
    defer { leave() }
    return await work()
  }

  /// - Returns: false if the task was cancelled while it waited; then it must not `leave`.
  func enter() async -> Bool {
    let id = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer = state.withLock { state -> Bool? in
          if Task.isCancelled { return false }
          if state.free > 0 {
            state.free -= 1
            return true
          }
          state.waiters.append((id, continuation))
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
        guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
        return state.waiters.remove(at: index).continuation
      }
      waiter?.resume(returning: false)
    }
  }

  func leave() {
    let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      guard state.waiters.isEmpty else { return state.waiters.removeFirst().continuation }
      state.free += 1
      return nil
    }
    waiter?.resume(returning: true)
  }
}
