import PiconetEngine
import PiconetRuntime
import Synchronization

/// A clock that stands still until a test moves it: tests of loops need not wait for a timer.
///
/// Moving it wakes every loop that runs on it. A job given to such a loop after the move runs after the timers that the
/// move has made due.
public final class ManualClock: MonotonicClock {
  private struct State {
    var now: Instant
    var wakes: [@Sendable () -> Void] = []
  }
  private let state: Mutex<State>

  public init(now: Instant = Instant(nanoseconds: 1_000_000_000)) { state = Mutex(State(now: now)) }

  public var now: Instant { state.withLock { $0.now } }

  public func sleep(until deadline: Instant) -> Duration? { deadline <= now ? .zero : nil }

  public func onStep(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wakes.append(wake) } }

  /// Moves the clock forward; a negative duration is no move.
  public func advance(by duration: Duration) {
    let wakes = state.withLock { state in
      state.now = max(state.now, state.now + duration)
      return state.wakes
    }
    for wake in wakes { wake() }
  }
}
