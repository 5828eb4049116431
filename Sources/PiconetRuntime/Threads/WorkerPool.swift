/// Threads for calls that block and may run concurrently, in no particular order. A thread starts when work waits and
/// there are fewer than `width`, and ends when no work waits: an idle pool has none. The queue is bounded, and
/// submitting never waits.
public final class WorkerPool: BlockingThreads {
  private struct State {
    var queue: [(number: UInt64, work: @Sendable () -> Void)] = []
    var unfinished = UnfinishedJobs()
    var threads = PoolThreads()
    var isStopping = false
  }

  /// The most threads.
  public let width: Int
  /// The most jobs that wait.
  public let limit: Int
  private let name: String
  private let state = Monitor(State())

  /// Starts no thread.
  /// - Parameters:
  ///   - name: the name of each thread.
  ///   - width: the most threads, at least 1.
  ///   - limit: the most jobs that may wait.
  public init(name: String, width: Int, limit: Int = 1024) {
    precondition(width > 0, "a pool has at least one thread")
    self.name = name
    self.width = width
    self.limit = limit
  }

  /// Any thread. Runs `work` on one of the pool's threads.
  /// - Returns: false if the queue is full, no thread can be started, or the pool is stopping: `work` will not run.
  public func submit(_ work: @escaping @Sendable () -> Void) -> Bool {
    let (isTaken, ended) = state.withLock { state -> (Bool, [NamedThread]) in
      guard !state.isStopping, state.queue.count < limit else { return (false, []) }
      // One for each unfinished job: a busy thread may be busy for long.
      if state.threads.count < min(width, state.unfinished.count + 1),
        !state.threads.start(name: name, { self.run($0) }), state.threads.isEmpty
      {
        return (false, [])
      }
      state.queue.append((state.unfinished.add(), work))
      return (true, state.threads.takeEnded())
    }
    for thread in ended { thread.join() }
    return isTaken
  }

  /// Any thread. Waits until everything submitted before has run.
  public func finishSubmitted() async {
    await WaitingTasks<UInt64>.wait { task in state.withLock { $0.unfinished.wait(task) } }
  }

  /// Any thread but the pool's. Runs the waiting work, and waits for the end of all threads. Idempotent.
  public func stop() {
    state.withLock { $0.isStopping = true }
    let ended = state.withLock(when: { $0.threads.isEmpty }, do: { $0.threads.takeEnded() })
    for thread in ended { thread.join() }
  }

  private func run(_ thread: Int) {
    while let (number, work) = take(for: thread) {
      work()
      state.withLock { $0.unfinished.finished(number) }?.wake()
    }
    state.notify()
  }

  /// Returns the next job; nil: no job waits, and the thread ends.
  private func take(for thread: Int) -> (UInt64, @Sendable () -> Void)? {
    state.withLock { state in
      if !state.queue.isEmpty { return state.queue.removeFirst() }
      state.threads.ends(thread)
      return nil
    }
  }
}
