import PiconetEngine
import PiconetWire
import Synchronization

/// How much may be queued to one member: senders wait here, in order, so that the loop's queue stays bounded.
final class SendBudget: Sendable {
  private struct State {
    var available: Int
    var ending: PiconetError?
    var waiters: [(id: UInt64, cost: Int, continuation: CheckedContinuation<PiconetError?, Never>)] = []
    var nextWaiter: UInt64 = 0
    var dropped: UInt64 = 0
  }

  private let state: Mutex<State>
  private let limit: Int

  init(limit: Int) {
    self.limit = limit
    state = Mutex(State(available: limit))
  }

  enum Claim {
    case taken
    case mustWait
    /// Unreliable, and there is no room now.
    case dropped
    case ended(PiconetError)
  }

  /// Takes the cost if there is room now and, for a reliable message, nobody waits. An unreliable one may go a quarter of the limit
  /// beyond it: it gives its cost back as soon as the loop has it, and reliable ones that wait for the peer must not shut it out.
  func claim(_ cost: Int, _ mode: DeliveryMode) -> Claim {
    state.withLock { state in
      if let ending = state.ending { return .ended(ending) }
      if mode == .unreliable {
        guard state.available + limit / 4 >= min(cost, limit / 4) else {
          state.dropped += 1
          return .dropped
        }
        state.available -= cost
        return .taken
      }
      guard state.waiters.isEmpty, state.available >= min(cost, limit) else { return .mustWait }
      state.available -= cost
      return .taken
    }
  }

  /// Waits for room and takes it.
  func wait(for cost: Int) async throws(PiconetError) {
    let id = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    let failure = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer = state.withLock { state -> PiconetError?? in
          if let ending = state.ending { return .some(ending) }
          if Task.isCancelled { return .some(Self.cancelled) }
          if state.waiters.isEmpty, state.available >= min(cost, limit) {
            state.available -= cost
            return .some(nil)
          }
          state.waiters.append((id, cost, continuation))
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let waiter = state.withLock { state -> CheckedContinuation<PiconetError?, Never>? in
        guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
        return state.waiters.remove(at: index).continuation
      }
      waiter?.resume(returning: Self.cancelled)
    }
    if let failure { throw failure }
  }

  private static let cancelled = PiconetError(.cancelled, blame: .us, detail: "the calling task was cancelled")

  /// Messages have left the queue.
  func giveBack(_ cost: Int) {
    let admitted = state.withLock { state in
      state.available += cost
      var admitted: [CheckedContinuation<PiconetError?, Never>] = []
      while let first = state.waiters.first, state.available >= min(first.cost, limit) {
        state.available -= first.cost
        admitted.append(first.continuation)
        state.waiters.removeFirst()
      }
      return admitted
    }
    for continuation in admitted { continuation.resume(returning: nil) }
  }

  /// The member is gone: everybody who waits or comes later gets the reason.
  func end(_ ending: PiconetError) {
    let waiters = state.withLock { state in
      state.ending = state.ending ?? ending
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.continuation.resume(returning: ending) }
  }

  /// Unreliable messages that did not even get to the loop.
  var droppedCount: UInt64 { state.withLock { $0.dropped } }

  /// How many senders wait.
  var waitingCount: Int { state.withLock { $0.waiters.count } }

  var ending: PiconetError? { state.withLock { $0.ending } }
}
