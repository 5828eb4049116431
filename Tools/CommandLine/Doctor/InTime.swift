import CPiconetSystem
import Glibc

/// The result of a task whose calls may hang: the waiting thread goes on without it at the deadline.
final class InTime<Value: Sendable>: Sendable {
  private let result = Guarded<Value?>(nil)
  private let ready: Int32

  /// nil if no descriptor is available. The task keeps this alive until it is done.
  init?(_ work: @escaping @Sendable () async -> Value) {
    ready = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    guard ready >= 0 else { return nil }
    Task { [self] in
      let value = await work()
      result.change { $0 = value }
      var one: UInt64 = 1
      _ = write(ready, &one, MemoryLayout.size(ofValue: one))
    }
  }

  deinit { close(ready) }

  /// Blocks its thread; nil if it takes longer.
  func value(until deadline: ContinuousClock.Instant) -> Value? {
    while result.value == nil {
      let left = deadline - .now
      guard left > .zero else { return nil }
      var entry = pollfd(fd: ready, events: Int16(POLLIN), revents: 0)
      if poll(&entry, 1, Int32(left / .milliseconds(1)) + 1) < 0, errno != EINTR { return nil }
    }
    return result.value
  }
}
