import Synchronization

/// Tasks that wait for something their owner does not have yet, in the order in which they came. Part of the owner's
/// state (`AwaitedState`), under the owner's lock.
///
/// Its continuations are unchecked, because each message passes through here. The code that takes one out of the list,
/// under the lock, resumes it once, outside the lock.
package struct Waiters<Need: Sendable, Answer: Sendable>: Sendable {
  private struct Waiter: Sendable {
    let id: UInt64
    let need: Need
    let continuation: UnsafeContinuation<Answer, Never>
  }

  private var list: [Waiter] = []
  private let limit: Int
  private let refusal: Answer?

  /// Creates a list without a limit.
  package init() {
    limit = .max
    refusal = nil
  }

  /// - Parameters:
  ///   - limit: how many tasks wait at most.
  ///   - refusal: the immediate answer to the next one.
  package init(limit: Int, refusal: Answer) {
    self.limit = limit
    self.refusal = refusal
  }

  package var isEmpty: Bool { list.isEmpty }

  package var count: Int { list.count }

  /// The need of the only waiting task; nil if none waits, or several do.
  package var onlyNeed: Need? { list.count == 1 ? list[0].need : nil }

  /// Takes out the task that came first, for the caller to resume.
  package mutating func takeFirst() -> UnsafeContinuation<Answer, Never>? {
    // The usual case costs less this way.
    if list.count == 1 { return list.removeLast().continuation }
    return list.isEmpty ? nil : list.removeFirst().continuation
  }

  fileprivate mutating func take(_ id: UInt64) -> UnsafeContinuation<Answer, Never>? {
    guard let index = list.firstIndex(where: { $0.id == id }) else { return nil }
    return list.remove(at: index).continuation
  }

  /// - Returns: the refusal if there is no room.
  fileprivate mutating func add(
    _ id: UInt64, _ need: Need, _ continuation: UnsafeContinuation<Answer, Never>
  ) -> Answer? {
    if list.count >= limit { return refusal }
    list.append(Waiter(id: id, need: need, continuation: continuation))
    return nil
  }

  /// Takes out the tasks that `answer` has something for: all of them, or those before the first one that must go on
  /// waiting.
  fileprivate mutating func answer(inTurns: Bool, _ answer: (Need) -> Answer?) -> Answers<Answer> {
    var answers = Answers<Answer>()
    var index = 0
    while index < list.count {
      if let found = answer(list[index].need) {
        answers.add(found, for: list.remove(at: index).continuation)
      } else if inTurns {
        break
      } else {
        index += 1
      }
    }
    return answers
  }
}

/// The answers to tasks that have waited, given once the lock is released.
package struct Answers<Answer: Sendable>: Sendable {
  private var list: [(continuation: UnsafeContinuation<Answer, Never>, answer: Answer)] = []

  fileprivate mutating func add(_ answer: Answer, for continuation: UnsafeContinuation<Answer, Never>) {
    list.append((continuation, answer))
  }

  /// Answers them in the order in which they came. Call it once.
  package consuming func tell() {
    for (continuation, answer) in list { continuation.resume(returning: answer) }
  }
}

/// A state that tasks wait for, behind a mutex.
package protocol AwaitedState: Sendable {
  /// What a waiting task needs.
  associatedtype Need: Sendable = Void
  associatedtype Answer: Sendable

  /// Whether tasks are served strictly in order, even if later ones could be served already.
  static var servesInTurns: Bool { get }
  var waiters: Waiters<Need, Answer> { get set }
  /// Returns the answer to such a need, which is thereby taken out of the state; nil if the task has to wait. Once the
  /// state is closed it gives every task the reason.
  mutating func answer(to need: Need) -> Answer?
}

extension AwaitedState {
  package static var servesInTurns: Bool { true }

  /// Call it after a change that may answer a waiting task.
  package mutating func serve() -> Answers<Answer> {
    if waiters.isEmpty { return Answers() }
    // Taken out of the state while it answers.
    var waiters = Waiters<Need, Answer>()
    swap(&waiters, &self.waiters)
    defer { swap(&waiters, &self.waiters) }
    return waiters.answer(inTurns: Self.servesInTurns) { answer(to: $0) }
  }
}

private let lastWaiter = Atomic<UInt64>(0)

extension Mutex where Value: AwaitedState {
  /// Changes the state, then answers the tasks that have waited for that.
  package func change(_ body: (inout Value) -> Void) {
    let answers = withLock { state -> Answers<Value.Answer>? in
      body(&state)
      return state.waiters.isEmpty ? nil : state.serve()
    }
    answers?.tell()
  }

  /// Waits for an answer; the state may have it at once.
  /// - Parameter cancelled: the answer to a task that is cancelled before or while it waits: nothing is taken out of
  ///   the state for it. Nil: the task continues to wait.
  // Inlined, or each message would pay for one more frame of an asynchronous function.
  @inline(__always)
  package func wait(for need: Value.Need, ifCancelled cancelled: Value.Answer?) async -> Value.Answer {
    let id = lastWaiter.add(1, ordering: .relaxed).newValue
    return await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let answer = withLock { state -> Value.Answer? in
          if let cancelled, Task.isCancelled { return cancelled }
          if !Value.servesInTurns || state.waiters.isEmpty, let answer = state.answer(to: need) { return answer }
          return state.waiters.add(id, need, continuation)
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      guard let cancelled else { return }
      let waiter = withLock { $0.waiters.take(id) }
      waiter?.resume(returning: cancelled)
    }
  }
}

extension Mutex where Value: AwaitedState, Value.Need == Void {
  @inline(__always)
  package func wait(ifCancelled cancelled: Value.Answer?) async -> Value.Answer {
    await wait(for: (), ifCancelled: cancelled)
  }
}
