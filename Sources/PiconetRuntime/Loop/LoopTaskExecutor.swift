/// A loop as the preferred executor of tasks (SE-0417): code that is not isolated to an actor runs on the loop's
/// thread.
///
/// It is a separate object from the loop, which is a serial executor: a job run as if isolated to the loop would have
/// to be enqueued again at each nonisolated step, and every message has some.
public final class LoopTaskExecutor: TaskExecutor {
  private let loop: EventLoop

  public init(loop: EventLoop) { self.loop = loop }

  public func enqueue(_ job: consuming ExecutorJob) { loop.submit(.preferring(UnownedJob(job), self)) }

  public func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }
}
