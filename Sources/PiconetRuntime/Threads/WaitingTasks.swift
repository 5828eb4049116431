/// Tasks that wait until something has happened to the state that contains this, under the lock of that state. Their
/// wait has no answer; for waits with an answer, module Piconet has `Waiters`.
package struct WaitingTasks<Need: Sendable>: Sendable {
  private var list: [(need: Need, continuation: CheckedContinuation<Void, Never>)] = []

  package init() {}

  package var isEmpty: Bool { list.isEmpty }

  /// Waits until the task is taken out and woken, even if it is cancelled meanwhile.
  /// - Parameter enter: enters the task with `add`, under the lock; or returns false, if there is nothing to wait for.
  package static func wait(_ enter: (CheckedContinuation<Void, Never>) -> Bool) async {
    await withCheckedContinuation { continuation in
      if !enter(continuation) { continuation.resume() }
    }
  }

  package mutating func add(_ continuation: CheckedContinuation<Void, Never>, for need: Need) {
    list.append((need, continuation))
  }

  /// Takes out the tasks that need wait no longer, in the order in which they came.
  package mutating func take(where isOver: (Need) -> Bool) -> WokenTasks {
    let woken = WokenTasks(continuations: list.filter { isOver($0.need) }.map(\.continuation))
    list.removeAll { isOver($0.need) }
    return woken
  }
}

/// Tasks that have been taken out of `WaitingTasks`.
package struct WokenTasks: Sendable {
  fileprivate let continuations: [CheckedContinuation<Void, Never>]

  /// Call it once, outside the lock.
  package consuming func wake() { for continuation in continuations { continuation.resume() } }
}
