/// What waits in a mailbox, and what the loop has taken of it.
@usableFromInline
final class MailboxBatches<Element: Sendable> {
  @usableFromInline
  struct State {
    @usableFromInline var pending: [Element] = []
    @usableFromInline var weight = 0
    @usableFromInline var isScheduled = false
    @usableFromInline var isClosed = false
    @usableFromInline var waiting: [@Sendable () -> Void] = []
    @inlinable init() {}
  }

  @usableFromInline let state: Monitor<State>
  // Touched on the loop only, `batch` by `drain` alone, which takes it out of the object: not checked for overlapping accesses.
  @usableFromInline let handler: (inout [Element]) -> Void
  @usableFromInline @exclusivity(unchecked) var batch: [Element] = []

  @inlinable
  init(handler: @escaping (inout [Element]) -> Void) {
    self.handler = handler
    state = Monitor(State())
  }

  /// On the loop.
  @inlinable
  func drain() {
    // The two arrays take turns, so that their room is kept; but not the room of one great flood.
    let waiting = state.withLock { state in
      swap(&state.pending, &batch)
      state.weight = 0
      state.isScheduled = false
      defer { if !state.waiting.isEmpty { state.waiting = [] } }
      return state.waiting
    }
    // Out of the object meanwhile: it is ours alone then.
    var taken: [Element] = []
    swap(&taken, &batch)
    handler(&taken)
    if !taken.isEmpty || taken.capacity > 65_536 { taken.removeAll(keepingCapacity: taken.capacity <= 65_536) }
    swap(&taken, &batch)
    for body in waiting { body() }
  }
}
