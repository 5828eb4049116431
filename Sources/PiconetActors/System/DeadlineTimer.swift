import Synchronization

/// Wakes a system when the first of its calls may be due. There is one task at most, which sleeps; calls that end in
/// time cost it nothing.
final class DeadlineTimer: Sendable {
  private struct State {
    /// When it wakes; nil while nothing is due.
    var planned: Duration?
    var sleeper: Task<Void, Never>?
    var isOver = false
  }

  private let start = ContinuousClock.now
  private let state = Mutex(State())
  private let fire: Mutex<(@Sendable (Duration) -> Duration?)?> = Mutex(nil)

  /// The time since it was made.
  var now: Duration { start.duration(to: .now) }

  /// - Parameter fire: ends what is due at the time that it gets, and says when it is to be called again.
  func start(_ fire: @escaping @Sendable (Duration) -> Duration?) { self.fire.withLock { $0 = fire } }

  /// Something is due then.
  func needs(_ deadline: Duration) {
    state.withLock { state in
      guard !state.isOver, deadline < state.planned ?? .seconds(Int64.max) else { return }
      state.planned = deadline
      state.sleeper?.cancel()
      let wake = start + deadline
      state.sleeper = Task { [weak self] in
        guard (try? await ContinuousClock().sleep(until: wake)) != nil else { return }
        self?.wake(planned: deadline)
      }
    }
  }

  private func wake(planned: Duration) {
    let isMeant = state.withLock { state in
      guard state.planned == planned else { return false }
      state.planned = nil
      state.sleeper = nil
      return true
    }
    guard isMeant, let fire = fire.withLock({ $0 }), let next = fire(now) else { return }
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
