import PiconetEngine
import PiconetWire
import Synchronization

/// Messages as they came from one member in one go.
struct MessageBatch: Sendable {
  let sender: Membership
  /// The sender's, at hand for each message.
  let node: NodeID
  let messages: [Bytes]
  let mode: DeliveryMode
  /// What they cost of the window that the sender has.
  let cost: Int
  /// How many of them were read.
  var position = 0

  init(from sender: Membership, _ messages: [Bytes], _ mode: DeliveryMode, cost: Int) {
    self.sender = sender
    node = sender.proven.id
    self.messages = messages
    self.mode = mode
    self.cost = cost
  }
}

/// Hands messages from the loop to tasks, all that wait in one go.
///
/// Bounded whatever members do: reliable messages by the credit that reading gives back, unreliable ones by dropping
/// what is above a window for each member. What members have left behind unread, who may join and leave without end,
/// goes, oldest first, when all together is above the limit.
final class MessageQueue: Sendable {
  private struct State: AwaitedState {
    var waiting: [MessageBatch] = []
    var cost = 0
    /// What each membership has waiting of unreliable ones.
    var unreliable: [ObjectIdentifier: Int] = [:]
    var isFinished = false
    var waiters = Waiters<Void, [MessageBatch]?>()

    mutating func answer(to need: Void) -> [MessageBatch]?? {
      if let batches = takeAll() { return .some(batches) }
      return isFinished ? .some(nil) : nil
    }

    mutating func takeAll() -> [MessageBatch]? {
      guard !waiting.isEmpty else { return nil }
      defer { waiting = [] }
      cost = 0
      unreliable.removeAll(keepingCapacity: true)
      return waiting
    }
  }

  private let state = Mutex(State())
  private let window: Int
  private let limit: Int

  /// - Parameters:
  ///   - window: the cost of messages that one member may have waiting, reliable and unreliable ones each.
  ///   - limit: the cost of all, at least two windows for each member.
  init(window: Int, limit: Int) {
    self.window = window
    self.limit = limit
  }

  var cost: Int { state.withLock { $0.cost } }

  var hasReliable: Bool { state.withLock { $0.waiting.contains { $0.mode == .reliable } } }

  func push(_ batch: MessageBatch) {
    let taker = state.withLock { state -> UnsafeContinuation<[MessageBatch]?, Never>? in
      if state.isFinished { return nil }
      if let taker = state.waiters.takeFirst() { return taker }
      if batch.mode == .unreliable {
        let cost = state.unreliable[ObjectIdentifier(batch.sender), default: 0] + batch.cost
        guard cost <= window else { return nil }
        state.unreliable[ObjectIdentifier(batch.sender)] = cost
      }
      state.waiting.append(batch)
      state.cost += batch.cost
      if state.cost > limit { dropLeftBehind(&state) }
      return nil
    }
    taker?.resume(returning: [batch])
  }

  private func dropLeftBehind(_ state: inout State) {
    state.waiting.removeAll { batch in
      guard state.cost > limit, batch.sender.isOver else { return false }
      state.cost -= batch.cost
      if batch.mode == .unreliable { state.unreliable[ObjectIdentifier(batch.sender)] = nil }
      return true
    }
  }

  /// A reader has gone without having read these: the next one gets them first.
  func giveBack(_ batches: [MessageBatch]) {
    let taker = state.withLock { state -> UnsafeContinuation<[MessageBatch]?, Never>? in
      if let taker = state.waiters.takeFirst() { return taker }
      state.waiting.insert(contentsOf: batches, at: 0)
      for batch in batches {
        state.cost += batch.cost
        if batch.mode == .unreliable { state.unreliable[ObjectIdentifier(batch.sender), default: 0] += batch.cost }
      }
      return nil
    }
    taker?.resume(returning: batches)
  }

  /// What was pushed before is still handed out; then every taker gets nil.
  func finish() { state.change { $0.isFinished = true } }

  /// All that waits, at least one batch; nil at the end, and when the task is cancelled.
  func next() async -> [MessageBatch]? {
    let batches = state.withLock { state in
      // For a cancelled task they stay.
      state.waiting.isEmpty || Task.isCancelled ? nil : state.takeAll()
    }
    if let batches { return batches }
    return await state.wait(ifCancelled: .some(nil))
  }
}
