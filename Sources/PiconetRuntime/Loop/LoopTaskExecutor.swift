/// A loop as the preferred executor of tasks (SE-0417): what is not isolated to an actor runs on the loop's thread.
///
/// An object of its own beside the loop as a serial executor: a job that was run as if it were isolated to the loop
/// would have to be enqueued anew at each step that is isolated to nothing, and every message has some.
public final class LoopTaskExecutor: TaskExecutor {
  private let loop: EventLoop

  public init(loop: EventLoop) { self.loop = loop }

  public func enqueue(_ job: consuming ExecutorJob) { loop.submit(.preferring(UnownedJob(job), self)) }

  public func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }
}
