/// Threads that read files to be sent. Jobs of one lane run one at a time, in their order; those of different lanes may
/// run at once.
///
/// One thread does everything as long as no call takes long. If none has begun a job for a whole `patience` and one
/// waits that could run, one more starts, up to `width`: a disk that hangs holds up only its own files. A further
/// thread ends when nothing is left for it, and the last one when there was nothing to do for as long: idle ones take
/// no thread. The queue is bounded, and submitting never waits.
public final class ReadingThreads: BlockingThreads {
  /// The threads for jobs that run one at a time.
  public struct Lane: BlockingThreads {
    fileprivate let threads: ReadingThreads
    fileprivate let id: ObjectIdentifier

    /// Any thread. Runs `work` on one of the threads, behind what was submitted in the same lane before.
    /// - Returns: see `ReadingThreads.submit(_:)`.
    public func submit(_ work: @escaping @Sendable () -> Void) -> Bool { threads.submit(in: id, work) }
  }

  private struct Job {
    let number: UInt64
    /// nil: it runs beside all others.
    let lane: ObjectIdentifier?
    let work: @Sendable () -> Void
  }

  private struct State {
    var queue: [Job] = []
    var unfinished = UnfinishedJobs()
    /// Lanes with a job that runs.
    var busy: Set<ObjectIdentifier> = []
    /// How many jobs have begun.
    var begun: UInt64 = 0
    var threads = PoolThreads()
    /// Threads that wait for a job.
    var idle = 0
    /// Set when there was nothing to do for a while: the last thread ends.
    var isResting = false
    /// Looks whether the threads are held up; there is one while there is anything to do.
    var watch: NamedThread?
    var isStopping = false

    /// The first job whose lane is free.
    var runnable: Int? { queue.firstIndex { job in job.lane.map { !busy.contains($0) } ?? true } }
  }

  /// The most threads that read.
  public let width: Int
  /// The most jobs that wait.
  public let limit: Int
  private let name: String
  private let patience: Duration
  private let state = Monitor(State())
  /// Whether the watch is to end.
  private let alarm = Monitor(false)

  /// Starts no thread.
  /// - Parameters:
  ///   - name: of each thread.
  ///   - width: the most threads that read, at least 1.
  ///   - limit: the most jobs that may wait.
  ///   - patience: after this long without a job begun one more thread starts.
  public init(name: String, width: Int = 8, limit: Int = 16_384, patience: Duration = .milliseconds(250)) {
    precondition(width > 0, "there is at least one thread")
    self.name = name
    self.width = width
    self.limit = limit
    self.patience = patience
  }

  deinit { for thread in state.withLock({ $0.threads.takeEnded() }) { thread.detach() } }

  /// Any thread. Runs `work` beside all others.
  /// - Returns: false if the queue is full, no thread can be started, or this is stopping: `work` will not run.
  public func submit(_ work: @escaping @Sendable () -> Void) -> Bool { submit(in: nil, work) }

  /// Returns the lane of this object, which must outlive the lane's jobs.
  public func lane(of object: AnyObject) -> Lane { Lane(threads: self, id: ObjectIdentifier(object)) }

  private func submit(in lane: ObjectIdentifier?, _ work: @escaping @Sendable () -> Void) -> Bool {
    let (isTaken, ended) = state.withLock { state -> (Bool, [NamedThread]) in
      guard !state.isStopping, state.queue.count < limit else { return (false, []) }
      state.isResting = false
      if state.threads.isEmpty, !start(&state) { return (false, []) }
      // Without a watch a disk that hangs holds up all others, no more.
      if state.watch == nil { state.watch = try? NamedThread(name: "\(name)-watch") { self.look() } }
      state.queue.append(Job(number: state.unfinished.add(), lane: lane, work: work))
      return (true, state.threads.takeEnded())
    }
    if isTaken { state.notify() }
    for thread in ended { thread.join() }
    return isTaken
  }

  /// Any thread. Waits until all that was submitted before has run.
  public func finishSubmitted() async {
    await WaitingTasks<UInt64>.wait { task in state.withLock { $0.unfinished.wait(task) } }
  }

  /// Any thread but these. Runs what waits, and waits for the end of all threads. Idempotent. May take as long as the
  /// calls that are on their way.
  public func stop() {
    let watch = state.withLock { state in
      state.isStopping = true
      defer { state.watch = nil }
      return state.watch
    }
    alarm.withLock { $0 = true }
    alarm.notify()
    state.notify()
    watch?.join()
    let ended = state.withLock(when: { $0.threads.isEmpty }, do: { $0.threads.takeEnded() })
    for thread in ended { thread.join() }
  }

  // MARK: The threads

  private func start(_ state: inout State) -> Bool { state.threads.start(name: name) { self.run($0) } }

  private func run(_ thread: Int) {
    while let job = take(for: thread) {
      job.work()
      finished(job)
    }
    state.notify()
  }

  private func finished(_ job: Job) {
    let (woken, isFree) = state.withLock { state -> (WokenTasks?, Bool) in
      if let lane = job.lane { state.busy.remove(lane) }
      // An idle thread may have waited for this lane.
      return (state.unfinished.finished(job.number), state.idle > 0 && !state.queue.isEmpty)
    }
    woken?.wake()
    if isFree { state.notify() }
  }

  /// Waits for the next job.
  /// - Returns: nil: the thread is over.
  private func take(for thread: Int) -> Job? {
    state.withLock { $0.idle += 1 }
    return state.withLock(
      when: { $0.runnable != nil || $0.idle > 1 || $0.isResting || $0.isStopping },
      do: { state in
        state.idle -= 1
        if let index = state.runnable {
          let job = state.queue.remove(at: index)
          if let lane = job.lane { state.busy.insert(lane) }
          state.begun += 1
          return job
        }
        // What waits then is in lanes whose threads go on with it.
        state.threads.ends(thread)
        return nil
      })
  }

  // MARK: The watch

  private func look() {
    var begun: UInt64?
    while alarm.wait(atMost: patience, until: { $0 }) == false {
      let isOver = state.withLock { state in
        let isHeldUp = begun == state.begun
        begun = state.begun
        if isHeldUp, state.idle == 0, state.runnable != nil, state.threads.count < width { _ = start(&state) }
        guard isHeldUp, state.unfinished.isEmpty, !state.isStopping else { return false }
        state.isResting = true
        // The next job begins another watch, and joins this one.
        if let watch = state.watch { state.threads.ends(watch) }
        state.watch = nil
        return true
      }
      if isOver { return state.notify() }
    }
  }
}
