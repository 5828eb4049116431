import Synchronization

/// The source from which an `EventSequence` reads.
protocol EventSource<Element>: Sendable {
  associatedtype Element: Sendable

  func attach(_ reader: ReaderID)
  func detach(_ reader: ReaderID)
  /// Returns the next element for this reader; nil at the end, and when the task is cancelled.
  func next(for reader: ReaderID, isolation: isolated (any Actor)?) async -> Element?
}

/// Hands events from the loop to tasks, one element after the other. Each reader gets all of them; unread events wait
/// for the next reader.
final class EventQueue<Element: Sendable>: EventSource {
  private struct State: AwaitedState {
    var queue = SharedQueue<Element>()
    var lastNumber: UInt64 = 0
    var isFinished = false
    var waiters = Waiters<ReaderID, Element?>()

    // No reader takes anything from another.
    static var servesInTurns: Bool { false }

    mutating func answer(to reader: ReaderID) -> Element?? {
      guard let (number, element) = queue.next(for: reader) else { return isFinished ? .some(nil) : nil }
      queue.pass(reader, number)
      return .some(element)
    }
  }

  private let state = Mutex(State())
  private let limit: Int

  /// - Parameter limit: how many elements wait at most; beyond it the oldest is dropped.
  init(limit: Int) { self.limit = limit }

  var count: Int { state.withLock { $0.queue.count } }

  func push(_ element: Element) {
    state.change { state in
      if state.isFinished { return }
      if state.queue.count >= limit { state.queue.removeFirst() }
      state.lastNumber += 1
      state.queue.append(element, number: state.lastNumber)
    }
  }

  /// Pushes an element of a kind whose waiting elements are limited: beyond that the oldest of its kind is dropped.
  func push(_ element: Element, atMost most: Int, of isOfKind: (Element) -> Bool) {
    state.withLock { state in
      guard state.queue.elements.count(where: isOfKind) >= most else { return }
      state.queue.removeFirst(where: isOfKind)
    }
    push(element)
  }

  /// Removes what not every reader has read yet.
  func remove(where isMeant: (Element) -> Bool) { state.withLock { $0.queue.removeAll(where: isMeant) } }

  /// Ends the queue. Elements pushed before are still handed out; then every reader gets nil.
  func finish() { state.change { $0.isFinished = true } }

  func attach(_ reader: ReaderID) { state.withLock { $0.queue.attach(reader) } }

  func detach(_ reader: ReaderID) { state.withLock { _ = $0.queue.detach(reader) } }

  func next(for reader: ReaderID, isolation: isolated (any Actor)?) async -> Element? {
    await state.wait(for: reader, ifCancelled: .some(nil))
  }
}
