import PiconetCalls
import Synchronization

/// Hands elements of several sources to one reader, which may be slow: see `FairQueue`.
final class FairMailbox<Source: Hashable & Sendable, Element: Sendable>: Sendable {
  private struct State {
    var queue: FairQueue<Source, Element>
    /// Waiting readers, the first one first: one, unless several tasks read.
    var waiting: [(number: UInt64, continuation: UnsafeContinuation<Element?, Never>)] = []
    var last: UInt64 = 0
    var isOver = false
  }

  private let state: Mutex<State>

  /// - Parameters:
  ///   - countLimit: the most elements of one source that wait; beyond that its oldest are dropped.
  ///   - costLimit: the most that those cost together.
  init(countLimit: Int, costLimit: Int = .max) {
    state = Mutex(State(queue: FairQueue(countLimit: countLimit, costLimit: costLimit)))
  }

  func add(_ element: Element, cost: Int = 0, of source: Source) {
    let reader = state.withLock { state -> UnsafeContinuation<Element?, Never>? in
      if state.isOver { return nil }
      if !state.waiting.isEmpty { return state.waiting.removeFirst().continuation }
      state.queue.add(element, cost: cost, of: source)
      return nil
    }
    reader?.resume(returning: element)
  }

  /// Ends the mailbox: no more elements come, and those that wait are read.
  func finish() {
    let readers = state.withLock { state in
      state.isOver = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for reader in readers { reader.continuation.resume(returning: nil) }
  }

  /// - Returns: nil: no more elements come, or the reading task was cancelled.
  func next() async -> Element? {
    let number = state.withLock { state in
      state.last += 1
      return state.last
    }
    return await waitForAnswer { continuation in
      let (element, isOver) = state.withLock { state -> (Element?, Bool) in
        if let element = state.queue.next() { return (element, true) }
        if !state.isOver { state.waiting.append((number, continuation)) }
        return (nil, state.isOver)
      }
      if isOver { continuation.resume(returning: element) }
    } cancel: {
      let reader = state.withLock { state in
        let place = state.waiting.firstIndex { $0.number == number }
        return place.map { state.waiting.remove(at: $0) }
      }
      reader?.continuation.resume(returning: nil)
    }
  }

  /// Returns the elements, for one reader.
  /// - Parameters:
  ///   - transform: returns nil for an element to skip.
  ///   - end: called when the reader is released.
  func stream<Value: Sendable>(
    _ transform: @escaping @Sendable (Element) -> Value?, end: @escaping @Sendable () -> Void
  ) -> AsyncStream<Value> {
    let reader = Reader(end)
    return AsyncStream(unfolding: {
      withExtendedLifetime(reader) {}
      while let element = await self.next() {
        if let value = transform(element) { return value }
      }
      return nil
    })
  }

  /// While it is held, the stream may still be read.
  private final class Reader: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
  }
}
