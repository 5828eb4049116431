/// Gives an attempt up when the other side does nothing for too long. The time that a person at this device needs
/// for an answer does not count, and the limit begins again after it. Any thread may use it.
final class AttemptTimer: Sendable {
  private struct State: Sendable {
    var giveUp: (@Sendable () -> Void)?
    var timer: Task<Void, Never>?
    var isAsking = false
    var isOver = false
  }

  private let limit: Duration
  private let state = Guarded(State())

  init(_ limit: Duration) { self.limit = limit }

  /// Whether the attempt was given up.
  var isOver: Bool { state.value.isOver }

  /// - Parameter giveUp: called at most once.
  func begin(_ giveUp: @escaping @Sendable () -> Void) {
    state.change { state in
      state.giveUp = giveUp
      start(&state)
    }
  }

  /// A person here is being asked.
  func pause() {
    state.change { state in
      state.isAsking = true
      state.timer?.cancel()
    }
  }

  /// The person has answered.
  func resume() {
    state.change { state in
      state.isAsking = false
      start(&state)
    }
  }

  /// The attempt has its outcome.
  func end() {
    state.change { state in
      state.giveUp = nil
      state.timer?.cancel()
    }
  }

  private func start(_ state: inout State) {
    state.timer?.cancel()
    guard state.giveUp != nil, !state.isAsking else { return }
    state.timer = Task { [self] in
      var time = WaitingTime(limit, at: .now)
      repeat {
        do { try await ContinuousClock().sleep(until: time.end) } catch { return }
      } while !time.isOver(at: .now)
      expire()
    }
  }

  private func expire() {
    let giveUp = state.change { state -> (@Sendable () -> Void)? in
      // The question, or the end, may have come at this very moment.
      guard !Task.isCancelled, !state.isAsking, let giveUp = state.giveUp else { return nil }
      state.isOver = true
      state.giveUp = nil
      return giveUp
    }
    giveUp?()
  }
}
