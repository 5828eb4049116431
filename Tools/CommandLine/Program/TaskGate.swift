import Piconet
import Synchronization

/// Lets a limited number of tasks through at once; others wait in the order in which they came.
final class TaskGate: Sendable {
  private struct State: AwaitedState {
    var free: Int
    var waiters = Waiters<Void, Bool>()

    mutating func answer(to need: Void) -> Bool? {
      guard free > 0 else { return nil }
      free -= 1
      return true
    }
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
  func enter() async -> Bool { await state.wait(ifCancelled: false) }

  func leave() { state.change { $0.free += 1 } }
}
