import PiconetEngine
import PiconetWire
import Synchronization

/// The limit of what may be queued to one member: senders wait here, in order, so that the loop's queue stays bounded.
final class SendBudget: Sendable {
  private struct State: AwaitedState {
    let limit: Int
    var available: Int
    var ending: PiconetError?
    var dropped: UInt64 = 0
    /// Each waiter needs the cost of its message; the answer is the reason why it can't be sent.
    var waiters: Waiters<Int, PiconetError?>

    mutating func answer(to cost: Int) -> PiconetError?? {
      if let ending { return .some(ending) }
      guard available >= min(cost, limit) else { return nil }
      available -= cost
      return .some(nil)
    }
  }

  private let state: Mutex<State>
  private let limit: Int

  /// - Parameters:
  ///   - limit: the cost that may be queued.
  ///   - waitingLimit: calls that may wait at once; each holds its message.
  init(limit: Int, waitingLimit: Int = 65_536) {
    self.limit = limit
    let tooMany = PiconetError(
      .limitExceeded, blame: .us, detail: "\(waitingLimit) calls wait for room already; no more may")
    state = Mutex(State(limit: limit, available: limit, waiters: Waiters(limit: waitingLimit, refusal: tooMany)))
  }

  enum Claim {
    case taken
    case mustWait
    /// The message is unreliable, and there is no room now.
    case dropped
    case ended(PiconetError)
  }

  /// Takes the cost if there is room now and, for a reliable message, no task waits. An unreliable message may exceed
  /// the limit by a quarter. It gives its cost back as soon as the loop has it, and reliable messages that wait for the
  /// peer must not shut it out.
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

  /// Takes as much of the cost as there is room for, if no task waits.
  /// - Returns: how much it took; 0: there is no room.
  /// - Throws: why nothing more can be sent.
  func claim(upTo cost: Int) throws(PiconetError) -> Int {
    let (taken, ending) = state.withLock { state -> (Int, PiconetError?) in
      if let ending = state.ending { return (0, ending) }
      let taken = state.waiters.isEmpty ? max(0, min(cost, state.available)) : 0
      state.available -= taken
      return (taken, nil)
    }
    if let ending { throw ending }
    return taken
  }

  /// Whether there is room now, and no task waits for it.
  var hasRoom: Bool { state.withLock { $0.ending == nil && $0.waiters.isEmpty && $0.available > 0 } }

  /// Waits for room and takes it.
  func wait(for cost: Int) async throws(PiconetError) {
    if let failure = await state.wait(for: cost, ifCancelled: .some(Self.cancelled)) { throw failure }
  }

  private static let cancelled = PiconetError(.cancelled, blame: .us, detail: "the calling task was cancelled")

  /// Returns the cost of messages that have left the queue.
  func giveBack(_ cost: Int) { state.change { $0.available += cost } }

  /// Ends the budget since the member is gone: tasks that wait or come later get the reason.
  func end(_ ending: PiconetError) { state.change { $0.ending = $0.ending ?? ending } }

  /// Unreliable messages that were dropped before they reached the loop.
  var droppedCount: UInt64 { state.withLock { $0.dropped } }

  /// The number of senders that wait.
  var waitingCount: Int { state.withLock { $0.waiters.count } }

  var ending: PiconetError? { state.withLock { $0.ending } }
}
