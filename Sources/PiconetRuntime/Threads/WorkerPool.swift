/// Threads for calls that block and may run concurrently, in no particular order. A thread starts when work waits and
/// there are fewer than `width`, and ends when no work waits: an idle pool has none. The queue is bounded, and
/// submitting never waits.
public final class WorkerPool: BlockingThreads {
  private struct State {
    var queue: [(number: UInt64, work: @Sendable () -> Void)] = []
    /// The numbers of the jobs that wait or run.
    var unfinished: Set<UInt64> = []
    var next: UInt64 = 0
    var threads: [Int: NamedThread] = [:]
    var nextThread = 0
    /// Threads that have ended their work and have not been joined yet.
    var ended: [NamedThread] = []
    /// Each until the jobs before this number are finished.
    var waiters = WaitingTasks<UInt64>()
    var isStopping = false

    /// - Returns: the tasks whose wait is over with this job.
    mutating func finished(_ number: UInt64) -> WokenTasks? {
      unfinished.remove(number)
      if waiters.isEmpty { return nil }
      let first = unfinished.min() ?? .max
      return waiters.take { $0 <= first }
    }
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
    precondition(width > 0, "somebody has to do the work")
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
      if state.threads.count < min(width, state.unfinished.count + 1), !start(&state), state.threads.isEmpty {
        return (false, [])
      }
      state.unfinished.insert(state.next)
      state.queue.append((state.next, work))
      state.next += 1
      defer { state.ended = [] }
      return (true, state.ended)
    }
    for thread in ended { thread.join() }
    return isTaken
  }

  /// Any thread. Waits until everything submitted before has run.
  public func finishSubmitted() async {
    await WaitingTasks<UInt64>.wait { task in
      state.withLock { state in
        if state.unfinished.isEmpty { return false }
        state.waiters.add(task, for: state.next)
        return true
      }
    }
  }

  /// Any thread but the pool's. Runs the waiting work, and waits for the end of all threads. Idempotent.
  public func stop() {
    state.withLock { $0.isStopping = true }
    let ended = state.withLock(
      when: { $0.threads.isEmpty },
      do: { state -> [NamedThread] in
        defer { state.ended = [] }
        return state.ended
      })
    for thread in ended { thread.join() }
  }

  private func start(_ state: inout State) -> Bool {
    let number = state.nextThread
    // The new thread waits for the lock, which we hold.
    guard let thread = try? NamedThread(name: name, { self.run(number) }) else { return false }
    state.nextThread += 1
    state.threads[number] = thread
    return true
  }

  private func run(_ thread: Int) {
    while let (number, work) = take(for: thread) {
      work()
      state.withLock { $0.finished(number) }?.wake()
    }
    state.notify()
  }

  /// Returns the next job; nil: no job waits, and the thread ends.
  private func take(for thread: Int) -> (UInt64, @Sendable () -> Void)? {
    state.withLock { state in
      if !state.queue.isEmpty { return state.queue.removeFirst() }
      if let own = state.threads.removeValue(forKey: thread) { state.ended.append(own) }
      return nil
    }
  }
}
