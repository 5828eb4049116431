/// Hands elements from any thread to a loop, all that wait in one go: one lock to push, one wake-up for a batch.
///
/// Bounded by what its producers do about `full`: each has at most one push beyond the limit if it waits for room then.
public final class BatchMailbox<Element: Sendable>: @unchecked Sendable {
  // Sendable is right: the state is in the monitor; `handler` and `batch` are touched on the loop only.

  /// What became of a push.
  public enum Push: Sendable, Hashable {
    /// Taken, and there is room for more.
    case taken
    /// Taken, but now the mailbox is at its limit: wait for room before the next push.
    case full
    /// Not taken: the mailbox is closed.
    case closed
  }

  @usableFromInline
  struct State {
    @usableFromInline var pending: [Element] = []
    @usableFromInline var weight = 0
    @usableFromInline var isScheduled = false
    @usableFromInline var isClosed = false
    @usableFromInline var waiting: [@Sendable () -> Void] = []
    @usableFromInline init() {}
  }

  @usableFromInline let state: Monitor<State>
  @usableFromInline let limit: Int
  private let loop: EventLoop
  private let handler: ([Element]) -> Void
  private var batch: [Element] = []

  /// - Parameters:
  ///   - limit: the weight at which the mailbox is full; each push says what its element weighs.
  ///   - handler: gets all that waits, in the order of the pushes, on the loop. The array is only good during the call.
  public init(loop: EventLoop, limit: Int, handler: @escaping ([Element]) -> Void) {
    precondition(limit > 0, "a mailbox needs room")
    self.loop = loop
    self.limit = limit
    self.handler = handler
    state = Monitor(State())
  }

  /// Any thread. Wakes the loop if the mailbox was empty.
  @inlinable
  public func push(_ element: Element, weight: Int = 1) -> Push {
    let (push, mustSchedule) = state.withLock { state -> (Push, Bool) in
      if state.isClosed { return (.closed, false) }
      state.pending.append(element)
      state.weight += weight
      let wasScheduled = state.isScheduled
      state.isScheduled = true
      return (state.weight >= limit ? .full : .taken, !wasScheduled)
    }
    if mustSchedule { schedule() }
    return push
  }

  /// Any thread. Calls `body` once, when there is room: at once, or on the loop after it took what waits. Also when the
  /// mailbox is closed.
  public func whenRoom(_ body: @escaping @Sendable () -> Void) {
    let hasRoom = state.withLock { state in
      if state.isClosed || state.weight < limit { return true }
      state.waiting.append(body)
      return false
    }
    if hasRoom { body() }
  }

  /// Any thread. Returns when there is room or the mailbox is closed.
  public func waitForRoom() async {
    await withCheckedContinuation { continuation in whenRoom { continuation.resume() } }
  }

  /// Any thread. Refuses further pushes. What was pushed before still reaches the handler.
  public func close() {
    let waiting = state.withLock { state in
      state.isClosed = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for body in waiting { body() }
  }

  @usableFromInline
  func schedule() { loop.submit(.drain(self)) }
}

extension BatchMailbox: MailboxDrain {
  func drain() {
    // The two arrays take turns, so that their room is kept; but not the room of one great flood.
    let waiting = state.withLock { state in
      swap(&state.pending, &batch)
      state.weight = 0
      state.isScheduled = false
      defer { state.waiting = [] }
      return state.waiting
    }
    handler(batch)
    batch.removeAll(keepingCapacity: batch.capacity <= 65_536)
    for body in waiting { body() }
  }
}
