/// The elements that wait in a mailbox, and those that the loop has taken out.
@usableFromInline
final class MailboxBatches<Element: Sendable> {
  @usableFromInline
  struct State {
    @usableFromInline var pending: [Element] = []
    @usableFromInline var weight = 0
    /// Nil before `receive`, and after the end.
    @usableFromInline var receiver: Receiver?
    @usableFromInline var isScheduled = false
    @usableFromInline var isClosed = false
    @usableFromInline var waiting: [@Sendable () -> Void] = []
    @inlinable init() {}

    /// Whether the loop has to be told now that elements wait.
    @inlinable
    mutating func schedule() -> Bool {
      if isScheduled || receiver == nil || pending.isEmpty { return false }
      isScheduled = true
      return true
    }
  }

  /// A class: a closure alone would be allocated again each time it leaves the lock.
  @usableFromInline
  final class Receiver {
    @usableFromInline let take: (inout [Element]) -> Void
    @inlinable init(_ take: @escaping (inout [Element]) -> Void) { self.take = take }
  }

  @usableFromInline let state: Monitor<State>
  // Touched only on the loop, `batch` only by `drain`, which takes it out of the object: not checked for overlapping
  // accesses.
  @usableFromInline @exclusivity(unchecked) var batch: [Element] = []

  @inlinable
  init() { state = Monitor(State()) }

  /// On the loop.
  @inlinable
  func drain() {
    // The two arrays take turns, so that their room is kept, except after one great flood.
    let (waiting, receiver) = state.withLock { state in
      swap(&state.pending, &batch)
      state.weight = 0
      state.isScheduled = false
      defer {
        if !state.waiting.isEmpty { state.waiting = [] }
        if state.isClosed { state.receiver = nil }
      }
      return (state.waiting, state.receiver)
    }
    // Taken out of the object meanwhile, so that it is ours alone.
    var taken: [Element] = []
    swap(&taken, &batch)
    receiver?.take(&taken)
    if !taken.isEmpty || taken.capacity > 65_536 { taken.removeAll(keepingCapacity: taken.capacity <= 65_536) }
    swap(&taken, &batch)
    for body in waiting { body() }
  }
}
