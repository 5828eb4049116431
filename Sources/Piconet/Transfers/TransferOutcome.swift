import Synchronization

/// How something ended, for all who wait for it; told once.
final class TransferOutcome<Value: Sendable>: Sendable {
  private struct State {
    var value: Value?
    var waiters: [(id: UInt64, continuation: CheckedContinuation<Value?, Never>)] = []
    var nextWaiter: UInt64 = 0
  }

  private let state = Mutex(State())

  /// What it ended with, if it did.
  var value: Value? { state.withLock { $0.value } }

  /// The first outcome counts.
  /// - Returns: false if there is one already.
  @discardableResult
  func end(_ value: Value) -> Bool {
    let waiters = state.withLock { state -> [CheckedContinuation<Value?, Never>]? in
      guard state.value == nil else { return nil }
      state.value = .some(value)
      defer { state.waiters = [] }
      return state.waiters.map(\.continuation)
    }
    for waiter in waiters ?? [] { waiter.resume(returning: value) }
    return waiters != nil
  }

  /// Whatever becomes of the calling task.
  func wait() async -> Value {
    // Nobody takes such a waiter away before the end: nil never comes.
    while true { if let value = await enlist(newWaiter(), leavesWhenCancelled: false) { return value } }
  }

  /// As `wait`; nil when the task is cancelled before.
  func waitUnlessCancelled() async -> Value? {
    let id = newWaiter()
    return await withTaskCancellationHandler {
      await enlist(id, leavesWhenCancelled: true)
    } onCancel: {
      let waiter = state.withLock { state -> CheckedContinuation<Value?, Never>? in
        guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
        return state.waiters.remove(at: index).continuation
      }
      waiter?.resume(returning: nil)
    }
  }

  private func newWaiter() -> UInt64 {
    state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
  }

  private func enlist(_ id: UInt64, leavesWhenCancelled: Bool) async -> Value? {
    await withCheckedContinuation { continuation in
      let answer = state.withLock { state -> Value?? in
        if let value = state.value { return .some(value) }
        if leavesWhenCancelled, Task.isCancelled { return .some(nil) }
        state.waiters.append((id, continuation))
        return nil
      }
      if let answer { continuation.resume(returning: answer) }
    }
  }
}
