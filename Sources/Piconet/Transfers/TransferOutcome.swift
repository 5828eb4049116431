import Synchronization

/// How something ended, for all who wait for it; told once.
final class TransferOutcome<Value: Sendable>: Sendable {
  private struct State {
    var value: Value?
    var waiters: [CheckedContinuation<Value, Never>] = []
    /// Those that a cancelled task leaves.
    var leavers: [(id: UInt64, continuation: CheckedContinuation<Value?, Never>)] = []
    var nextLeaver: UInt64 = 0
  }

  private let state = Mutex(State())

  /// What it ended with, if it did.
  var value: Value? { state.withLock { $0.value } }

  /// The first outcome counts.
  /// - Returns: false if there is one already.
  @discardableResult
  func end(_ value: Value) -> Bool {
    let all = state.withLock { state -> ([CheckedContinuation<Value, Never>], [CheckedContinuation<Value?, Never>])? in
      guard state.value == nil else { return nil }
      state.value = .some(value)
      defer {
        state.waiters = []
        state.leavers = []
      }
      return (state.waiters, state.leavers.map(\.continuation))
    }
    guard let (waiters, leavers) = all else { return false }
    for waiter in waiters { waiter.resume(returning: value) }
    for leaver in leavers { leaver.resume(returning: value) }
    return true
  }

  /// As `wait`; nil when the task is cancelled before.
  func waitUnlessCancelled() async -> Value? {
    let id = state.withLock { state in
      state.nextLeaver += 1
      return state.nextLeaver
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer = state.withLock { state -> Value?? in
          if let value = state.value { return .some(value) }
          if Task.isCancelled { return .some(nil) }
          state.leavers.append((id, continuation))
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let leaver = state.withLock { state -> CheckedContinuation<Value?, Never>? in
        guard let index = state.leavers.firstIndex(where: { $0.id == id }) else { return nil }
        return state.leavers.remove(at: index).continuation
      }
      leaver?.resume(returning: nil)
    }
  }

  /// Whatever becomes of the calling task.
  func wait() async -> Value {
    await withCheckedContinuation { continuation in
      let value = state.withLock { state in
        if state.value == nil { state.waiters.append(continuation) }
        return state.value
      }
      if let value { continuation.resume(returning: value) }
    }
  }
}
