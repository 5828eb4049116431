import Synchronization

/// Hands elements from the loop to tasks, all that wait in one go. Whoever pushes bounds it.
///
/// Its continuations are unchecked, because this is where each message passes: whoever takes one out of the list, under the
/// lock, resumes it, once.
final class BatchQueue<Element: Sendable>: Sendable {
  private struct State {
    var waiting: [Element] = []
    var isFinished = false
    var takers: [(id: UInt64, continuation: UnsafeContinuation<[Element]?, Never>)] = []
    var nextTaker: UInt64 = 0
  }

  private let state = Mutex(State())

  var count: Int { state.withLock { $0.waiting.count } }

  func push(_ element: Element) {
    let taker = state.withLock { state -> UnsafeContinuation<[Element]?, Never>? in
      if state.isFinished { return nil }
      guard state.takers.isEmpty else { return state.takers.removeFirst().continuation }
      state.waiting.append(element)
      return nil
    }
    taker?.resume(returning: [element])
  }

  /// What was pushed before is still handed out; then every taker gets nil.
  func finish() {
    let takers = state.withLock { state in
      state.isFinished = true
      defer { state.takers = [] }
      return state.takers
    }
    for taker in takers { taker.continuation.resume(returning: nil) }
  }

  /// All that waits, at least one element; nil at the end, and when the task is cancelled.
  func next(isolation: isolated (any Actor)?) async -> [Element]? {
    if let batch = takeNow() { return batch.isEmpty ? nil : batch }
    let id = state.withLock { state in
      state.nextTaker += 1
      return state.nextTaker
    }
    return await withTaskCancellationHandler {
      await withUnsafeContinuation(isolation: isolation) { continuation in
        let answer = state.withLock { state -> [Element]?? in
          if !state.waiting.isEmpty {
            defer { state.waiting = [] }
            return .some(state.waiting)
          }
          if state.isFinished || Task.isCancelled { return .some(nil) }
          state.takers.append((id, continuation))
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let taker = state.withLock { state -> UnsafeContinuation<[Element]?, Never>? in
        guard let index = state.takers.firstIndex(where: { $0.id == id }) else { return nil }
        return state.takers.remove(at: index).continuation
      }
      taker?.resume(returning: nil)
    }
  }

  /// Without waiting: nil if the caller has to wait, empty at the end.
  private func takeNow() -> [Element]? {
    state.withLock { state in
      if !state.waiting.isEmpty {
        defer { state.waiting = [] }
        return state.waiting
      }
      return state.isFinished || Task.isCancelled ? [] : nil
    }
  }
}
