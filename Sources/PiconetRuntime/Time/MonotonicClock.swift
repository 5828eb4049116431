import Glibc
import PiconetEngine

/// The port of a clock that never goes back and can't be set.
public protocol MonotonicClock: Sendable {
  var now: Instant { get }
  /// Returns how long a loop may sleep if its next deadline is `deadline`. Zero once that has come; nil to sleep until
  /// it is woken, because this clock wakes its loops itself.
  func sleep(until deadline: Instant) -> Duration?
  /// Keeps `wake` and calls it after each step, if this is a clock that is moved by hand. Called once per loop.
  func onStep(_ wake: @escaping @Sendable () -> Void)
}

/// CLOCK_MONOTONIC.
public struct SystemClock: MonotonicClock {
  public init() {}

  public var now: Instant {
    var time = timespec()
    // Cannot fail: the clock exists on every Linux and the pointer is good.
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
  }

  public func sleep(until deadline: Instant) -> Duration? { max(.zero, deadline - now) }

  public func onStep(_ wake: @escaping @Sendable () -> Void) {}
}
