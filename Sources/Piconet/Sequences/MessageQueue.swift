import PiconetEngine
import PiconetWire
import Synchronization

/// Messages as they came from one member in one go.
struct MessageBatch: Sendable {
  var node: NodeID
  /// Tells this membership of the node from its former ones.
  var membership: UInt64
  var messages: [Bytes]
  var mode: DeliveryMode
  /// What they cost of the window that the sender has.
  var cost: Int
  /// How many of them were read.
  var position = 0
}

/// Hands messages from the loop to tasks, all that wait in one go.
///
/// Bounded whatever members do: reliable messages by the credit that reading gives back, unreliable ones by dropping what is
/// above a window for each member. What members have left behind unread, who may join and leave without end, goes, oldest
/// first, when all together is above the limit.
///
/// Its continuations are unchecked, because this is where each message passes: whoever takes one out of the list, under the
/// lock, resumes it, once.
final class MessageQueue: Sendable {
  private struct State {
    var waiting: [MessageBatch] = []
    var cost = 0
    var unreliable: [UInt64: Int] = [:]
    var memberships: Set<UInt64> = []
    var isFinished = false
    var takers: [(id: UInt64, continuation: UnsafeContinuation<[MessageBatch]?, Never>)] = []
  }

  private let state = Mutex(State())
  private let nextTaker = Atomic<UInt64>(0)
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

  func joined(_ membership: UInt64) { state.withLock { _ = $0.memberships.insert(membership) } }

  func left(_ membership: UInt64) { state.withLock { _ = $0.memberships.remove(membership) } }

  func isCurrent(_ membership: UInt64) -> Bool { state.withLock { $0.memberships.contains(membership) } }

  func push(_ batch: MessageBatch) {
    let taker = state.withLock { state -> UnsafeContinuation<[MessageBatch]?, Never>? in
      if state.isFinished { return nil }
      guard state.takers.isEmpty else { return state.takers.removeFirst().continuation }
      if batch.mode == .unreliable {
        let cost = state.unreliable[batch.membership, default: 0] + batch.cost
        guard cost <= window else { return nil }
        state.unreliable[batch.membership] = cost
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
      guard state.cost > limit, !state.memberships.contains(batch.membership) else { return false }
      state.cost -= batch.cost
      if batch.mode == .unreliable { state.unreliable[batch.membership] = nil }
      return true
    }
  }

  /// A reader has gone without having read these: the next one gets them first.
  func giveBack(_ batches: [MessageBatch]) {
    let taker = state.withLock { state -> UnsafeContinuation<[MessageBatch]?, Never>? in
      guard state.takers.isEmpty else { return state.takers.removeFirst().continuation }
      state.waiting.insert(contentsOf: batches, at: 0)
      for batch in batches {
        state.cost += batch.cost
        if batch.mode == .unreliable { state.unreliable[batch.membership, default: 0] += batch.cost }
      }
      return nil
    }
    taker?.resume(returning: batches)
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

  /// All that waits, at least one batch; nil at the end, and when the task is cancelled.
  func next() async -> [MessageBatch]? {
    if let batches = state.withLock({ Self.takeAll(&$0) }) { return batches }
    let id = nextTaker.add(1, ordering: .relaxed).newValue
    return await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let answer = state.withLock { state -> [MessageBatch]?? in
          if let batches = Self.takeAll(&state) { return .some(batches) }
          if state.isFinished || Task.isCancelled { return .some(nil) }
          state.takers.append((id, continuation))
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let taker = state.withLock { state -> UnsafeContinuation<[MessageBatch]?, Never>? in
        guard let index = state.takers.firstIndex(where: { $0.id == id }) else { return nil }
        return state.takers.remove(at: index).continuation
      }
      taker?.resume(returning: nil)
    }
  }

  private static func takeAll(_ state: inout State) -> [MessageBatch]? {
    guard !state.waiting.isEmpty, !Task.isCancelled else { return nil }
    defer { state.waiting = [] }
    state.cost = 0
    state.unreliable.removeAll(keepingCapacity: true)
    return state.waiting
  }
}
