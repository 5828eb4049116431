import CPiconetSystem
import Glibc
import PiconetEngine
import Synchronization

/// A thread that waits for descriptors, timers and jobs, and serves them in rounds.
///
/// A round has these steps, in order:
/// - The loop sleeps until there is something to do.
/// - It serves descriptors that are ready, and then timers that are due.
/// - It runs jobs: at most `jobsPerRound`, so that a flood of them starves no socket, and for `jobTime`, so that the
///   output of the first ones does not wait for the last.
/// - It calls every round handler once. Work that should be done once per batch, such as flushing a link, belongs
///   there.
///
/// Every method must be called on the loop's thread, except those marked "any thread". A loop is also an executor: an
/// actor whose `unownedExecutor` it is, and tasks that prefer a `LoopTaskExecutor` of it, run on its thread.
///
/// The owner of a loop must call `stop`; a loop that is never stopped lives as long as the program.
public final class EventLoop: @unchecked Sendable {
  // Sendable is right: the state that other threads reach is constant, atomic or in the monitor. All else is touched
  // only on the loop's thread and, after its end, by one thread at a time, as the monitor's phase allows.

  /// The most jobs of one round.
  public static let jobsPerRound = 512

  /// How long jobs run before the round ends. Two sides that answer each other in batches would otherwise take turns,
  /// one idle while the other works: the first answers have to leave while the others are made. A shorter time costs
  /// more records and writes than it gains.
  public static let jobTime = Duration.microseconds(30)

  public let name: String
  public let clock: any MonotonicClock

  private let wakeUp: WakeUp
  private let shared: Monitor<Shared>
  /// Whether jobs, or the end, wait in `shared`. Set and cleared under its lock: a round that finds it clear need not
  /// lock.
  private let hasNews = Atomic<Bool>(false)
  /// The thread that may touch the confined state; 0 for none.
  private let owner = Atomic<UInt>(0)

  private let epoll: EpollSet
  // Not checked for overlapping accesses, which would cost more than all the rest of a round: only the loop's thread
  // uses these, and no access to them calls anything that could come back here. They can't be one struct that a round
  // borrows, since what a round calls (handlers, timers, jobs) adds to them.
  @exclusivity(unchecked) private var watches = WatchTable()
  @exclusivity(unchecked) private var changed: [DescriptorWatch] = []
  @exclusivity(unchecked) private var timers = TimerHeap()
  @exclusivity(unchecked) private var awake = AwakeTime()
  @exclusivity(unchecked) private var jobs = JobQueue()
  @exclusivity(unchecked) private var incoming: [LoopJob] = []
  @exclusivity(unchecked) private var roundHandlers: [any RoundHandler] = []
  private var hasEnded = false

  private struct Shared {
    enum Phase { case running, stopping, ended }
    var phase = Phase.running
    var jobs: [LoopJob] = []
    /// Set when a thread runs jobs that came after the end.
    var isDraining = false
    var thread: NamedThread?
  }

  /// Starts the loop's thread.
  /// - Parameter name: the thread's name; the system shows its first 15 bytes.
  public init(name: String, clock: any MonotonicClock = SystemClock()) throws(SystemError) {
    self.name = name
    self.clock = clock
    let wakeUp = try WakeUp()
    do {
      epoll = try EpollSet(wakeUp: wakeUp.descriptor)
    } catch {
      wakeUp.close()
      throw error
    }
    self.wakeUp = wakeUp
    shared = Monitor(Shared())
    let thread: NamedThread
    do {
      thread = try NamedThread(name: name) { self.run() }
    } catch {
      wakeUp.close()
      throw error
    }
    shared.withLock { $0.thread = thread }
    // A weak reference slows down all reference counting of the loop: none is made if the clock needs none.
    if !(clock is SystemClock) { clock.onStep { [weak self] in self?.execute {} } }
  }

  // MARK: Any thread

  /// Whether the caller is on the loop's thread.
  public var isOnLoop: Bool { owner.load(ordering: .relaxed) == UInt(pthread_self()) }

  /// Runs `body` on the loop: called from another thread, as soon as the loop gets to it; called on the loop itself,
  /// later in the same round. Calls from one thread run in their order.
  ///
  /// Nothing is lost: jobs that come after `stop` run on a short-lived thread started for them, one at a time.
  public func execute(_ body: @escaping @Sendable () -> Void) { submit(.call(body)) }

  /// Runs `body` on the loop and waits for its value.
  public func perform<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in execute { continuation.resume(returning: body()) } }
  }

  /// Ends the loop and waits until its thread is gone and its own descriptors are closed. Jobs submitted before have
  /// then run; jobs that those add may run later, see `execute`. Watches and timers end without being called; owners
  /// must close the watched descriptors themselves.
  ///
  /// Idempotent. Called on the loop itself it can't wait: then the thread ends after this round.
  public func stop() {
    let thread = shared.withLock { shared -> NamedThread? in
      if shared.phase == .running { shared.phase = .stopping }
      hasNews.store(true, ordering: .relaxed)
      defer { shared.thread = nil }
      return shared.thread
    }
    if isOnLoop {
      thread?.detach()
      return
    }
    wakeUp.wake()
    shared.withLock(when: { $0.phase == .ended }, do: { _ in })
    thread?.join()
  }

  // MARK: On the loop

  /// The clock's time, read now.
  public var now: Instant { clock.now }

  /// The clock's time without gaps in which the process did not run. Code that waits for the other side of a link that
  /// is being made uses this time: see `LoopTimer.set(awake:)`.
  public var awakeTime: Instant {
    let clock = now
    _ = awake.pass(to: clock, due: timers.nextDeadline)
    return awake.time(at: clock)
  }

  func clock(atAwake time: Instant) -> Instant { awake.clock(at: time) }

  /// Runs `body` later in this round, after the jobs that wait already.
  public func executeLater(_ body: @escaping () -> Void) {
    precondition(isOnLoop, "executeLater is for the loop's own thread")
    jobs.append(.call(body))
  }

  /// Watches a descriptor until the watch is cancelled. The handler is held weakly; a watch whose handler is gone is
  /// cancelled when the descriptor becomes ready.
  /// - Throws: the kernel's error, such as ENOSPC (too many watches of this user), EPERM (a regular file).
  public func watch(
    _ descriptor: Int32, for interest: Readiness, handler: any DescriptorHandler
  ) throws(SystemError) -> DescriptorWatch {
    let watch = DescriptorWatch(descriptor: descriptor, interest: interest, handler: handler, loop: self)
    let token = watches.insert(watch)
    do {
      try epoll.add(descriptor, interest, token: token.packed)
    } catch {
      watches.remove(token)
      throw error
    }
    watch.token = token
    return watch
  }

  /// Calls `handler` at the end of each round from this one on, in the order of the calls, until it is removed.
  public func addRoundHandler(_ handler: any RoundHandler) {
    roundHandlers.append(handler)
  }

  public func removeRoundHandler(_ handler: any RoundHandler) {
    roundHandlers.removeAll { $0 === handler }
  }

  /// The number of watched descriptors.
  public var watchCount: Int { watches.count }

  func noteChanged(_ watch: DescriptorWatch) { changed.append(watch) }

  func remove(_ watch: DescriptorWatch) {
    guard let token = watch.token else { return }
    watch.token = nil
    watches.remove(token)
    epoll.remove(watch.descriptor)
  }

  func setTimer(_ timer: LoopTimer, _ deadline: Instant?) {
    if hasEnded { return }
    // No deadline lies before this round: a timer that is set to the past again and again lets the others through.
    timers.set(timer, deadline.map { max($0, roundStart) })
  }

  // MARK: Rounds

  private var roundStart = Instant(nanoseconds: 0)

  func submit(_ job: consuming LoopJob) {
    if isOnLoop { jobs.append(job) } else { submitFromElsewhere(job) }
  }

  private func submitFromElsewhere(_ job: LoopJob) {
    let mustDrain = shared.withLock { shared -> Bool in
      shared.jobs.append(job)
      hasNews.store(true, ordering: .relaxed)
      if shared.phase != .ended || shared.isDraining { return false }
      shared.isDraining = true
      return true
    }
    if mustDrain { startDraining() } else { wakeUp.wake() }
  }

  private func run() {
    owner.store(UInt(pthread_self()), ordering: .relaxed)
    while round() {}
    // Only the jobs that were queued when the stop came; jobs that they add are left to `end`.
    var left = jobs.count
    while left > 0, let job = jobs.popFirst() {
      run(job)
      left -= 1
    }
    endRound()
    end()
  }

  /// Runs one round; false when the loop should stop.
  private func round() -> Bool {
    tellKernel()
    let count = epoll.wait(sleeps: jobs.isEmpty && prepareToSleep())
    wakeUp.didSleep()
    for index in 0..<count { deliver(epoll.event(index)) }
    let phase = takeIncoming()
    fireTimers()
    runJobs()
    endRound()
    return phase == .running
  }

  /// Makes sure that the next deadline, a job or the end wakes the loop.
  /// - Returns: false if there is something to do at once.
  private func prepareToSleep() -> Bool {
    // Looking at the clock and setting a kernel timer for each message would be wasted: the alarm that is set will do.
    if let deadline = timers.nextDeadline, !epoll.hasAlarm(by: deadline), let time = clock.sleep(until: deadline) {
      guard time > .zero else { return false }
      epoll.setAlarm(at: deadline, in: time)
    }
    wakeUp.willSleep()
    return shared.withLock { $0.jobs.isEmpty && $0.phase == .running }
  }

  private func deliver(_ event: (token: UInt64, readiness: Readiness, hasFailed: Bool)) {
    guard event.token != EpollSet.wakeUpToken, let watch = watches[WatchToken(packed: event.token)] else { return }
    var readiness = event.readiness.intersection(watch.interest)
    if event.hasFailed, !watch.interest.isEmpty { readiness.formUnion(watch.interest.union(.read)) }
    if readiness.isEmpty { return }
    if let handler = watch.handler { handler.descriptorIsReady(readiness) } else { watch.cancel() }
  }

  private func takeIncoming() -> Shared.Phase {
    // A job that comes right now is seen before the loop sleeps, under the lock.
    guard hasNews.load(ordering: .relaxed) else { return .running }
    let phase = shared.withLock { shared in
      swap(&shared.jobs, &incoming)
      hasNews.store(false, ordering: .relaxed)
      return shared.phase
    }
    if !incoming.isEmpty { jobs.append(takingAll: &incoming) }
    return phase
  }

  private func fireTimers() {
    // If the alarm has yet to go off, nothing is due.
    guard let next = timers.nextDeadline, !epoll.hasAlarm(by: next) else { return }
    roundStart = now
    _ = awake.pass(to: roundStart, due: next)
    if next > roundStart { return }
    let limit = timers.nextSequence
    while let timer = timers.takeDue(at: roundStart, setBefore: limit) { timer.handler() }
  }

  private func runJobs() {
    var left = Self.jobsPerRound
    var end: Instant?
    while left > 0, let job = jobs.popFirst() {
      run(job)
      left -= 1
      // A round of one or two jobs looks at no clock.
      guard left.isMultiple(of: 2), !jobs.isEmpty else { continue }
      let now = now
      if let end, end <= now { return }
      end = end ?? now + Self.jobTime
    }
  }

  /// Whether the round that ends has left jobs to the next one.
  var hasJobs: Bool { !jobs.isEmpty }

  private func endRound() {
    var index = 0
    // By index: a handler may add or remove handlers.
    while index < roundHandlers.count {
      roundHandlers[index].roundHasEnded()
      index += 1
    }
  }

  private func tellKernel() {
    if changed.isEmpty { return }
    for watch in changed {
      watch.isChanged = false
      guard let token = watch.token, watch.interest != watch.applied else { continue }
      epoll.modify(watch.descriptor, watch.interest, token: token.packed)
      watch.applied = watch.interest
    }
    changed.removeAll(keepingCapacity: true)
  }

  // MARK: The end

  private func end() {
    for watch in watches.all { watch.cancel() }
    timers.removeAll()
    changed = []
    roundHandlers = []
    hasEnded = true
    epoll.close()
    wakeUp.close()
    let left = jobs.takeAll()
    owner.store(0, ordering: .relaxed)
    let mustDrain = shared.withLock { shared -> Bool in
      shared.jobs.insert(contentsOf: left, at: 0)
      hasNews.store(true, ordering: .relaxed)
      shared.phase = .ended
      shared.isDraining = !shared.jobs.isEmpty
      return shared.isDraining
    }
    shared.notify()
    if mustDrain { startDraining() }
  }

  /// Runs the jobs that came after the end on a separate thread, or right here if none can be started: that jobs run in
  /// order and one at a time matters more than where.
  private func startDraining() {
    do {
      try NamedThread(name: name) { self.drain() }.detach()
    } catch {
      drain()
    }
  }

  private func drain() {
    owner.store(UInt(pthread_self()), ordering: .relaxed)
    while true {
      _ = takeIncoming()
      while let job = jobs.popFirst() { run(job) }
      let isDone = shared.withLock { shared -> Bool in
        guard shared.jobs.isEmpty else { return false }
        // Inside the lock: the next drainer must not find us as the owner, nor may we overwrite its mark.
        owner.store(0, ordering: .relaxed)
        shared.isDraining = false
        return true
      }
      if isDone { return }
    }
  }

  private func run(_ job: LoopJob) {
    switch job {
    case .task(let task): run(task)
    case .preferring(let task, let executor): task.runSynchronously(on: executor.asUnownedTaskExecutor())
    case .call(let body): body()
    case .nothing: break
    }
  }
}

/// Called at the end of each round of a loop.
public protocol RoundHandler: AnyObject {
  func roundHasEnded()
}
