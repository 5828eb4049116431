/// Hands elements from any thread to a loop, all waiting ones at once: one lock to push, one wake-up for a batch.
///
/// Bounded by how its producers react to `full`: if each waits for room then, each is at most one push beyond the
/// limit.
public final class BatchMailbox<Element: Sendable>: @unchecked Sendable {
  // Sendable is right: everything is constant; the waiting elements are in the batches' monitor.

  /// The result of a push.
  public enum Push: Sendable, Hashable {
    /// Taken, and there is room for more.
    case taken
    /// Taken, but now the mailbox is at its limit: wait for room before the next push.
    case full
    /// Not taken: the mailbox is closed.
    case closed
  }

  @usableFromInline let batches: MailboxBatches<Element>
  @usableFromInline let limit: Int
  @usableFromInline let loop: EventLoop
  /// The function that the loop calls: made where the element's type is known, so that it is specialized for that.
  @usableFromInline let drain: () -> Void

  /// - Parameter limit: the weight at which the mailbox is full; each push says what its element weighs.
  @inlinable
  public init(loop: EventLoop, limit: Int) {
    precondition(limit > 0, "a mailbox needs room")
    self.loop = loop
    self.limit = limit
    let batches = MailboxBatches<Element>()
    self.batches = batches
    drain = { batches.drain() }
  }

  /// Any thread, once. Hands the waiting elements, and those that come until the mailbox is closed, to `handler`, which
  /// the mailbox holds that long.
  /// - Parameter handler: gets all waiting elements, in the order of the pushes, on the loop. The array is valid only
  ///   during the call, and the handler may take elements out instead of copying them.
  @inlinable
  public func receive(_ handler: @escaping (inout [Element]) -> Void) {
    let mustSchedule = batches.state.withLock { state in
      precondition(state.receiver == nil, "a mailbox has one receiver")
      if !state.isClosed { state.receiver = MailboxBatches<Element>.Receiver(handler) }
      return state.schedule()
    }
    if mustSchedule { schedule() }
  }

  /// Any thread. Wakes the loop if the mailbox was empty. Before there is a receiver, pushed elements wait.
  @inlinable
  public func push(_ element: consuming Element, weight: Int = 1) -> Push {
    let (push, mustSchedule) = batches.state.withLock(moving: element) { state, element -> (Push, Bool) in
      if state.isClosed { return (.closed, false) }
      state.pending.append(element)
      state.weight += weight
      return (state.weight >= limit ? .full : .taken, state.schedule())
    }
    if mustSchedule { schedule() }
    return push
  }

  /// Any thread. Calls `body` once, when there is room or the mailbox is closed: at once, or on the loop after it took
  /// the waiting elements.
  public func whenRoom(_ body: @escaping @Sendable () -> Void) {
    let hasRoom = batches.state.withLock { state in
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

  /// Any thread. Refuses further pushes. Elements pushed before still reach the handler.
  public func close() {
    let (waiting, receiver) = batches.state.withLock { state in
      state.isClosed = true
      defer {
        state.waiting = []
        if !state.isScheduled { state.receiver = nil }
      }
      return (state.waiting, state.isScheduled ? nil : state.receiver)
    }
    for body in waiting { body() }
    // Outside the lock: the values that it holds are released with it.
    withExtendedLifetime(receiver) {}
  }

  /// On the loop. Takes the waiting elements now, before the loop comes to them.
  func takeWaiting() { drain() }

  @usableFromInline
  func schedule() { loop.submit(.call(drain)) }
}
