import Synchronization

/// The conversations that an advertiser or a browser has under way. They belong to the sessions that they are for: the
/// node goes on after it was stopped, until the last of them is over.
final class Conversations: Sendable {
  private struct State {
    var count = 0
    var isStopped = false
  }

  private let state = Mutex(State())
  private let whenOver: @Sendable () -> Void

  /// - Parameter whenOver: called when everything is stopped and no conversation goes on; perhaps more than once.
  init(whenOver: @escaping @Sendable () -> Void) { self.whenOver = whenOver }

  var isStopped: Bool { state.withLock { $0.isStopped } }

  /// - Returns: nil if everything is stopped.
  func begin() -> Conversation? {
    let isBegun = state.withLock { state in
      if state.isStopped, state.count == 0 { return false }
      state.count += 1
      return true
    }
    return isBegun ? Conversation { [self] in ended() } : nil
  }

  /// Stops everything but the conversations under way. May be called again.
  /// - Returns: whether any are under way.
  func stop() -> Bool {
    let goesOn = state.withLock { state in
      state.isStopped = true
      return state.count > 0
    }
    if !goesOn { whenOver() }
    return goesOn
  }

  private func ended() {
    let isOver = state.withLock { state in
      state.count -= 1
      return state.isStopped && state.count == 0
    }
    if isOver { whenOver() }
  }
}

/// One conversation about an invitation.
final class Conversation: Sendable {
  private let whenOver: Mutex<(@Sendable () -> Void)?>

  init(whenOver: @escaping @Sendable () -> Void) { self.whenOver = Mutex(whenOver) }

  /// Ends it. Only the first call counts.
  func end() {
    let call = whenOver.withLock { whenOver in
      defer { whenOver = nil }
      return whenOver
    }
    call?()
  }
}
