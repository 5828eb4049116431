import PiconetEngine
import Synchronization

/// How an incoming transfer stands, for the task that stores it: whatever ends it, and whenever, is told once.
final class IncomingTransferState: Sendable {
  private struct State {
    var progress: (@Sendable (UInt64, UInt64) -> Void)?
    var isClaimed = false
    /// How it ended; nil inside: it is stored.
    var outcome: Ending??
    var waiter: CheckedContinuation<Ending?, Never>?
  }

  private let state = Mutex(State())
  let total: UInt64

  init(total: UInt64) { self.total = total }

  /// How it ended, if it did; nil inside: it is stored.
  var outcome: Ending?? { state.withLock { $0.outcome } }

  /// Only one task stores a transfer.
  /// - Returns: false if another does.
  func claim(progress: (@Sendable (UInt64, UInt64) -> Void)?) -> Bool {
    state.withLock { state in
      guard !state.isClaimed else { return false }
      state.isClaimed = true
      state.progress = progress
      return true
    }
  }

  func progressed(_ stored: UInt64) { state.withLock { $0.progress }?(stored, total) }

  /// The first outcome counts.
  func end(_ ending: Ending?) {
    let waiter = state.withLock { state -> CheckedContinuation<Ending?, Never>? in
      guard state.outcome == nil else { return nil }
      state.outcome = .some(ending)
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: ending)
  }

  /// Waits for the end: nil if it is stored. For the task that has claimed it.
  func waitUntilEnded() async -> Ending? {
    await withCheckedContinuation { continuation in
      let outcome = state.withLock { state in
        if state.outcome == nil { state.waiter = continuation }
        return state.outcome
      }
      if let outcome { continuation.resume(returning: outcome) }
    }
  }
}
