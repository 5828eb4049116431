/// Threads for calls that block.
public protocol BlockingThreads: Sendable {
  /// Any thread. Runs `work` on one of these.
  /// - Returns: false if they take no more: `work` will not run.
  func submit(_ work: @escaping @Sendable () -> Void) -> Bool
}

extension BlockingThreads {
  /// On `loop`. Runs `work` on one of the threads, then `then` with its value on `loop`.
  /// - Returns: see `submit(_:)`; if false, neither will run.
  public func submit<Value: Sendable>(
    answering loop: EventLoop, _ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void
  ) -> Bool {
    precondition(loop.isOnLoop, "answers go to the loop that asks")
    let answer = LoopConfined(then)
    return submit {
      let value = work()
      loop.execute { answer.value(value) }
    }
  }
}

/// One thread for calls that block (disks, name look-ups), in the order in which they were submitted. Its queue is
/// bounded, and submitting never waits.
public final class WorkerThread: BlockingThreads {
  private struct State {
    var queue: [@Sendable () -> Void] = []
    var isStopping = false
    var thread: NamedThread?
  }

  /// The most jobs that wait.
  public let limit: Int
  private let state: Monitor<State>

  /// Starts the thread.
  /// - Parameter limit: the most jobs that may wait.
  public init(name: String, limit: Int = 1024) throws(SystemError) {
    self.limit = limit
    state = Monitor(State())
    let thread = try NamedThread(name: name) { self.run() }
    state.withLock { $0.thread = thread }
  }

  /// Any thread. Runs `work` on the worker.
  /// - Returns: false if the queue is full or the worker is stopping: `work` will not run.
  public func submit(_ work: @escaping @Sendable () -> Void) -> Bool {
    let isTaken = state.withLock { state in
      if state.isStopping || state.queue.count >= limit { return false }
      state.queue.append(work)
      return true
    }
    if isTaken { state.notify() }
    return isTaken
  }

  /// Any thread. Waits until everything submitted before has run, whatever the limit.
  public func finishSubmitted() async {
    await withCheckedContinuation { continuation in
      let isTaken = state.withLock { state in
        if !state.isStopping { state.queue.append { continuation.resume() } }
        return !state.isStopping
      }
      // If the worker is stopping, `stop` waits for the remaining work.
      if isTaken { state.notify() } else { continuation.resume() }
    }
  }

  /// Any thread but the worker itself. Runs the waiting work, then ends the thread and waits for its end. Idempotent.
  /// May take as long as the calls under way: a name look-up has its own time limit (resolv.conf).
  public func stop() {
    let thread = state.withLock { state in
      state.isStopping = true
      defer { state.thread = nil }
      return state.thread
    }
    state.notify()
    thread?.join()
  }

  private func run() {
    while true {
      let (batch, isStopping) = state.withLock(
        when: { $0.isStopping || !$0.queue.isEmpty },
        do: { state in
          defer { state.queue = [] }
          return (state.queue, state.isStopping)
        })
      for work in batch { work() }
      if batch.isEmpty && isStopping { return }
    }
  }
}
