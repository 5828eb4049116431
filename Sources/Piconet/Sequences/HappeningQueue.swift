import Synchronization

/// Hands what happened from the loop to tasks, one by one: what nobody has taken stays for the next reader.
final class HappeningQueue<Element: Sendable>: Sendable {
  private struct State {
    var waiting: [Element] = []
    var isFinished = false
    var takers: [(id: UInt64, continuation: CheckedContinuation<Element?, Never>)] = []
    var nextTaker: UInt64 = 0
  }

  private let state = Mutex(State())
  private let limit: Int

  /// - Parameter limit: how many wait at most; then the oldest goes.
  init(limit: Int) { self.limit = limit }

  var count: Int { state.withLock { $0.waiting.count } }

  func push(_ element: Element) {
    let taker = state.withLock { state -> CheckedContinuation<Element?, Never>? in
      if state.isFinished { return nil }
      guard state.takers.isEmpty else { return state.takers.removeFirst().continuation }
      if state.waiting.count >= limit { state.waiting.removeFirst() }
      state.waiting.append(element)
      return nil
    }
    taker?.resume(returning: element)
  }

  /// Takes back what nobody has taken yet.
  func remove(where isMeant: (Element) -> Bool) { state.withLock { $0.waiting.removeAll(where: isMeant) } }

  /// What was pushed before is still handed out; then every taker gets nil.
  func finish() {
    let takers = state.withLock { state in
      state.isFinished = true
      defer { state.takers = [] }
      return state.takers
    }
    for taker in takers { taker.continuation.resume(returning: nil) }
  }

  /// The oldest; nil at the end, and when the task is cancelled.
  func next(isolation: isolated (any Actor)?) async -> Element? {
    let id = state.withLock { state in
      state.nextTaker += 1
      return state.nextTaker
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: isolation) { continuation in
        let answer = state.withLock { state -> Element?? in
          if Task.isCancelled { return .some(nil) }
          if !state.waiting.isEmpty { return .some(state.waiting.removeFirst()) }
          if state.isFinished { return .some(nil) }
          state.takers.append((id, continuation))
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let taker = state.withLock { state -> CheckedContinuation<Element?, Never>? in
        guard let index = state.takers.firstIndex(where: { $0.id == id }) else { return nil }
        return state.takers.remove(at: index).continuation
      }
      taker?.resume(returning: nil)
    }
  }
}
