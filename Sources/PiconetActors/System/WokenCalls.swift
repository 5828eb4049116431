import PiconetCalls

/// A task that waits for the answer to its call.
struct WaitingCaller: Sendable {
  let continuation: UnsafeContinuation<PeerCalls.Answer, Never>
  /// Whether it continues in the common pool of threads, not on an executor that it prefers, such as its node's thread.
  let isInPool: Bool
  let priority: TaskPriority?

  /// Call it from the waiting task.
  init(_ continuation: UnsafeContinuation<PeerCalls.Answer, Never>) {
    self.continuation = continuation
    (isInPool, priority) = withUnsafeCurrentTask { ($0?.unownedTaskExecutor == nil, $0?.priority) }
  }
}

/// The tasks that a batch of frames wakes: callers that have their answers, and tasks that serve calls. It is made for
/// one batch of frames, and started once the batch is read.
///
/// Tasks in the common pool of threads start together, from there. A pool thread that is woken for the first task alone
/// may take the processor from the node's thread, find nothing more to do, and sleep again, for each task: eight
/// callers then had two thirds of the calls a second.
struct WokenCalls: Sendable {
  /// The most tasks that wait for others to come, and the most frames without a task that hold them back.
  static let limit = 64

  private var callers: [(caller: WaitingCaller, answer: PeerCalls.Answer)] = []
  private var calls: [(conversation: Conversation, call: CallFrame.Call)] = []

  var count: Int { callers.count + calls.count }

  mutating func add(_ caller: WaitingCaller, _ answer: PeerCalls.Answer) { callers.append((caller, answer)) }

  mutating func add(_ call: CallFrame.Call, for conversation: Conversation) { calls.append((conversation, call)) }

  /// Starts the tasks. Not under a lock: a thread that is woken may take this one's processor, and would then wait for
  /// the lock.
  consuming func start() {
    var pooled = WokenCalls()
    for (caller, answer) in callers {
      if caller.isInPool { pooled.add(caller, answer) } else { caller.continuation.resume(returning: answer) }
    }
    for (conversation, call) in calls {
      if conversation.servesInPool { pooled.add(call, for: conversation) } else { conversation.serve(call) }
    }
    if pooled.count > 1 {
      // Not below those that it wakes: a task of high priority would wait behind less urgent work.
      let highest = pooled.callers.compactMap(\.caller.priority).max().map { max($0, Task.currentPriority) }
      Task(priority: highest) { [pooled] in pooled.startAll() }
    } else {
      pooled.startAll()
    }
  }

  private func startAll() {
    for (caller, answer) in callers { caller.continuation.resume(returning: answer) }
    for (conversation, call) in calls { conversation.serve(call) }
  }
}
