import Foundation

/// Hands a stream's events to its delegate on the run loop where it is scheduled. Several events are handed over
/// together, and an event whose cause has gone is not handed over.
///
/// Unchecked: the variable parts are under the lock. Run loops are told from other threads by a timer, which Core
/// Foundation allows, and which wakes them.
final class StreamEvents: @unchecked Sendable {
  private let lock = NSLock()
  private var places: [(loop: RunLoop, mode: RunLoop.Mode)] = []
  private var pending: Stream.Event = []
  private var isPosted = false
  private weak var stream: Stream?
  private let isDue: @Sendable (Stream.Event) -> Bool

  /// - Parameter isDue: returns whether an event still has its cause.
  init(isDue: @escaping @Sendable (Stream.Event) -> Bool) { self.isDue = isDue }

  func attach(_ stream: Stream) { lock.withLock { self.stream = stream } }

  var isScheduled: Bool { lock.withLock { !places.isEmpty } }

  func schedule(in loop: RunLoop, _ mode: RunLoop.Mode) {
    lock.withLock {
      if !places.contains(where: { $0.loop === loop && $0.mode == mode }) { places.append((loop, mode)) }
      postLocked()
    }
  }

  func remove(from loop: RunLoop, _ mode: RunLoop.Mode) {
    lock.withLock { places.removeAll { $0.loop === loop && $0.mode == mode } }
  }

  func post(_ event: Stream.Event) {
    lock.withLock {
      pending.insert(event)
      postLocked()
    }
  }

  func clear() {
    lock.withLock {
      pending = []
      places = []
    }
  }

  private func postLocked() {
    guard !pending.isEmpty, !isPosted, let loop = places.first?.loop else { return }
    isPosted = true
    let timer = Timer(timeInterval: 0, repeats: false) { [weak self] _ in self?.fire() }
    for place in places where place.loop === loop { loop.add(timer, forMode: place.mode) }
  }

  private func fire() {
    let (events, stream) = lock.withLock {
      defer {
        pending = []
        isPosted = false
      }
      return (pending, self.stream)
    }
    guard let stream else { return }
    for event in Self.order where events.contains(event) && isDue(event) {
      stream.delegate?.stream(stream, handle: event)
    }
    // Returns to the program as after any other source's event: programs check in between whether to end. A timer alone
    // does not let them.
    RunLoop.current._stop()
  }

  private static let order: [Stream.Event] = [
    .openCompleted, .hasBytesAvailable, .hasSpaceAvailable, .errorOccurred, .endEncountered,
  ]
}
