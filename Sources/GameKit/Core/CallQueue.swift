import Dispatch
import Synchronization

/// Calls on their way to the main queue, in the order in which they were pushed. Any thread pushes; the main queue
/// takes them one at a time. The queue has no limit: code that fills it with data waits for room in between.
final class CallQueue: Sendable {
  /// The number of bytes above which `waitForRoom` waits.
  static let byteLimit = 1 << 20
  /// The number of calls that may wait for a delegate. Data that waits for the first handler is limited in bytes.
  static let heldCalls = 1_024
  static let heldBytes = 1 << 20
  /// The most calls in one turn of the main queue, so that others have their turns in between.
  static let callsInTurn = 64

  fileprivate struct State {
    var waiting: [SessionCall] = []
    /// Calls of this turn; the next to be made is the last.
    var underWay: [SessionCall] = []
    var cost = 0
    var isScheduled = false
    var isClosed = false
    var room: CheckedContinuation<Void, Never>?
    /// Calls that wait for a delegate or for a handler to be set.
    var held: [SessionCall] = []
    var heldData: [SessionCall] = []
    var heldCost = 0

    mutating func roomWaiter() -> CheckedContinuation<Void, Never>? {
      guard cost <= CallQueue.byteLimit / 2 || isClosed else { return nil }
      defer { room = nil }
      return room
    }
  }

  private let state = Mutex(State())

  /// - Parameter turn: makes the calls, on the main queue: begins a turn of `next()`.
  func push(_ calls: [SessionCall], turn: @escaping @Sendable () -> Void) {
    let isIdle = state.withLock { state in
      guard !calls.isEmpty, !state.isClosed else { return false }
      for call in calls { state.cost += call.cost }
      state.waiting += calls
      return state.schedules()
    }
    if isIdle { DispatchQueue.main.async(execute: turn) }
  }

  /// Returns when less data than the limit waits, or the queue is closed. For one task at a time.
  func waitForRoom() async {
    guard state.withLock({ $0.cost > Self.byteLimit }) else { return }
    await withCheckedContinuation { continuation in
      let isRoom = state.withLock { state in
        if state.cost <= Self.byteLimit || state.isClosed { return true }
        state.room = continuation
        return false
      }
      if isRoom { continuation.resume() }
    }
  }

  /// Returns the next call to be made; nil: no call waits, and the next push begins a turn.
  func next() -> SessionCall? {
    let (call, room) = state.withLock { state -> (SessionCall?, CheckedContinuation<Void, Never>?) in
      if state.underWay.isEmpty {
        state.underWay = state.waiting.reversed()
        state.waiting = []
      }
      guard let call = state.underWay.popLast() else {
        state.isScheduled = false
        return (nil, state.roomWaiter())
      }
      state.cost -= call.cost
      return (call, state.roomWaiter())
    }
    room?.resume()
    return call
  }

  /// Keeps a call for a delegate that may be set later.
  func hold(_ call: SessionCall) {
    state.withLock { state in
      if state.held.count >= Self.heldCalls { state.held.removeFirst(Self.heldCalls / 4) }
      state.held.append(call)
    }
  }

  /// Keeps data for the first handler.
  /// - Returns: false if there is no room.
  func holdData(_ call: SessionCall) -> Bool {
    state.withLock { state in
      guard state.heldCost + call.cost <= Self.heldBytes else { return false }
      state.heldCost += call.cost
      state.heldData.append(call)
      return true
    }
  }

  /// Drops the data of a disconnected peer: nothing from it may follow.
  func dropData(of peer: String) {
    state.withLock { state in
      state.heldData.removeAll { if case .data(_, peer) = $0 { true } else { false } }
      state.heldCost = state.heldData.reduce(0) { $0 + $1.cost }
    }
  }

  /// Moves the calls that waited for a delegate, or for a handler, to the front.
  func release(data: Bool, turn: @escaping @Sendable () -> Void) {
    let isIdle = state.withLock { state in
      let calls = data ? state.heldData : state.held
      if data {
        state.heldData = []
        state.heldCost = 0
      } else {
        state.held = []
      }
      guard !calls.isEmpty, !state.isClosed else { return false }
      for call in calls { state.cost += call.cost }
      state.underWay += calls.reversed()
      return state.schedules()
    }
    if isIdle { DispatchQueue.main.async(execute: turn) }
  }

  /// Ends the queue: no more calls are made.
  func close() {
    let room = state.withLock { state in
      state.isClosed = true
      state.waiting = []
      state.underWay = []
      state.held = []
      state.heldData = []
      state.cost = 0
      return state.roomWaiter()
    }
    room?.resume()
  }
}

extension CallQueue.State {
  /// Returns whether a turn has to be begun.
  fileprivate mutating func schedules() -> Bool {
    defer { isScheduled = true }
    return !isScheduled
  }
}
