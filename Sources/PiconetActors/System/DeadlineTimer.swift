import PiconetCalls
import Synchronization

/// Wakes a system when the first of its calls may be due. At most one task sleeps for it; calls that end in time cost
/// it nothing.
final class DeadlineTimer: Sendable {
  private struct State {
    /// When it wakes; nil while no call is due.
    var planned: Duration?
    var sleeper: Task<Void, Never>?
    var isOver = false
    var time = AwakeTime()
  }

  private let start = ContinuousClock.now
  private let state = Mutex(State())
  private let fire: Mutex<(@Sendable (Duration) -> Duration?)?> = Mutex(nil)

  /// The time since it was made, without gaps in which the process did not run.
  var now: Duration { state.withLock { time(&$0) } }

  private func time(_ state: inout State) -> Duration {
    state.time.time(at: start.duration(to: .now), due: state.planned)
  }

  /// - Parameter fire: ends the calls that are due at the given time, and returns when to call it again.
  func start(_ fire: @escaping @Sendable (Duration) -> Duration?) { self.fire.withLock { $0 = fire } }

  /// Notes that a call is due then.
  func needs(_ deadline: Duration) {
    state.withLock { state in
      guard !state.isOver, deadline < state.planned ?? .seconds(Int64.max) else { return }
      state.planned = deadline
      state.sleeper?.cancel()
      let wake = start + state.time.clock(at: deadline)
      state.sleeper = Task { [weak self] in
        guard (try? await ContinuousClock().sleep(until: wake)) != nil else { return }
        self?.wake(planned: deadline)
      }
    }
  }

  private func wake(planned: Duration) {
    let now = state.withLock { state -> Duration? in
      guard state.planned == planned else { return nil }
      let now = time(&state)
      state.planned = nil
      state.sleeper = nil
      return now
    }
    guard let now, let fire = fire.withLock({ $0 }), let next = fire(now) else { return }
    needs(next)
  }

  func stop() {
    state.withLock { state in
      state.isOver = true
      state.sleeper?.cancel()
      state.sleeper = nil
    }
    fire.withLock { $0 = nil }
  }
}
