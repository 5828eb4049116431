import PiconetEngine
import Synchronization

/// How an incoming transfer stands, for the task that stores it: whatever ends it, and whenever, is told once.
final class IncomingTransferState: Sendable {
  private struct State {
    var progress: (@Sendable (UInt64, UInt64) -> Void)?
    var isClaimed = false
    var hasEnded = false
  }

  private let state = Mutex(State())
  private let ending = Outcome<Ending?>()
  let total: UInt64
  let watched: Watched<TransferProgress>

  init(total: UInt64) {
    self.total = total
    watched = Watched(TransferProgress(stored: 0, total: total))
  }

  /// How it ended, if it did; nil inside: it is stored.
  var outcome: Ending?? { ending.value }

  /// Only one task stores a transfer.
  /// - Returns: false if another does.
  func claim(progress: (@Sendable (UInt64, UInt64) -> Void)?) -> Bool {
    state.withLock { state in
      guard !state.isClaimed else { return false }
      state.isClaimed = true
      if !state.hasEnded { state.progress = progress }
      return true
    }
  }

  /// Bytes of an earlier transfer are there.
  func resumed(_ offset: UInt64) {
    guard offset > 0 else { return }
    watched.update { $0.resumedFrom = offset }
    progressed(offset)
  }

  func progressed(_ stored: UInt64) {
    watched.update { $0.stored = stored }
    state.withLock { $0.progress }?(stored, total)
  }

  func paused(_ isPaused: Bool) { watched.update { $0.isPausedThere = isPaused } }

  /// The first outcome counts. Who was told of the progress is let go: what it holds may be the offer itself, and so
  /// this.
  func end(_ ending: Ending?) {
    let progress = state.withLock { state in
      state.hasEnded = true
      defer { state.progress = nil }
      return state.progress
    }
    defer { withExtendedLifetime(progress) {} }
    // First, so that whoever sees the end can't change how it stands.
    watched.finish()
    self.ending.end(ending)
  }

  /// Waits for the end.
  /// - Returns: false if the task was cancelled before.
  func hasEnded() async -> Bool { await ending.waitUnlessCancelled() != nil }

  /// Waits for the end: nil if it is stored.
  func waitUntilEnded() async -> Ending? { await ending.wait() }
}
