import PiconetEngine

/// The thread that uses the store of a transfer: the disk thread, or for its commit one of a pool, and never two at
/// once.
///
/// The loop begins a commit when nothing else is under way, and begins nothing else until it has the answer. The
/// exception is the last call, which may come at any time: it waits for the end of the commit, on the thread that
/// commits.
final class StoreUse: Sendable {
  private struct State {
    var isCommitting = false
    var last: (@Sendable () -> Void)?
  }

  private let state = Monitor(State())

  /// Begins a commit, on the loop. `commit` must follow, on any thread.
  func beginCommit() { state.withLock { $0.isCommitting = true } }

  /// Commits, on the calling thread.
  func commit<Value, Failure: Error>(_ work: () throws(Failure) -> Value) throws(Failure) -> Value {
    defer { endCommit() }
    return try work()
  }

  /// Ends the commit, if there is one.
  func endCommit() {
    let last = state.withLock { state in
      state.isCommitting = false
      defer { state.last = nil }
      return state.last
    }
    last?()
  }

  /// Runs the last call for the store, from the loop: on the disk thread, or, during a commit, after that on its
  /// thread.
  func end(on worker: WorkerThread, _ last: @escaping @Sendable () -> Void) {
    let isLater = state.withLock { state in
      if state.isCommitting { state.last = last }
      return state.isCommitting
    }
    // If the disk thread takes no more jobs, the store's `deinit` does it.
    if !isLater { _ = worker.submit(last) }
  }
}
