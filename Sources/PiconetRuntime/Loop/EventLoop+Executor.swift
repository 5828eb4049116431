/// A loop as an actor's executor (SE-0392): jobs enqueued on the loop's own thread run in the same round, with no
/// system call; from elsewhere they wake it.
///
/// An actor on a loop has to keep the loop alive itself: `UnownedSerialExecutor` does not.
extension EventLoop: SerialExecutor {
  public func enqueue(_ job: consuming ExecutorJob) { submit(.task(UnownedJob(job))) }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// Makes `assumeIsolated` and `preconditionIsolated` hold in handlers that the loop calls, outside any task.
  public func checkIsolated() { precondition(isOnLoop, "not on the loop \(name)") }

  public func isIsolatingCurrentContext() -> Bool? { isOnLoop }

  func run(_ job: UnownedJob) {
    job.runSynchronously(on: asUnownedSerialExecutor())
  }
}
