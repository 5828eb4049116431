import Synchronization

/// How something ended, for all who wait for it; told once.
final class TransferOutcome<Value: Sendable>: Sendable {
  private struct State {
    var value: Value?
    var waiters: [CheckedContinuation<Value, Never>] = []
  }

  private let state = Mutex(State())

  /// What it ended with, if it did.
  var value: Value? { state.withLock { $0.value } }

  /// The first outcome counts.
  /// - Returns: false if there is one already.
  @discardableResult
  func end(_ value: Value) -> Bool {
    let waiters = state.withLock { state -> [CheckedContinuation<Value, Never>]? in
      guard state.value == nil else { return nil }
      state.value = .some(value)
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters ?? [] { waiter.resume(returning: value) }
    return waiters != nil
  }

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
