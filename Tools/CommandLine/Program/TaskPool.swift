import PiconetTaskPool
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

/// The threads of a program's tasks: those of task-pool.h in place of libdispatch's, which never sleep for long.
///
/// The runtime is told of them as Swift 6.3 has it, by an executor factory; that is no public interface before a later
/// version (SE-0505), so every other compiler leaves the runtime's own pool in place. The runtime's hooks for global
/// jobs (`swift_task_enqueueGlobal_hook` and its sisters) would not do: in 6.3 neither `Task.sleep` nor `Task.yield`
/// goes through them.
public enum TaskPool {
  /// Call it once, before the first task, and where threads are to be confined after that.
  /// - Returns: whether the pool is in place; if not, the runtime's own runs the tasks.
  @discardableResult
  public static func start() -> Bool {
    #if compiler(>=6.3) && compiler(<6.4)
      guard piconet_task_pool_start() else { return false }
      _createExecutors(factory: Executors.self)
      return true
    #else
      return false
    #endif
  }
}

#if compiler(>=6.3) && compiler(<6.4)
  extension TaskPool {
    private struct Executors: ExecutorFactory {
      /// The main actor stays the runtime's.
      static let mainExecutor: any MainExecutor = PlatformExecutorFactory.mainExecutor
      static let defaultExecutor: any TaskExecutor = Executor()
    }

    private final class Executor: TaskExecutor, SchedulingExecutor {
      func enqueue(_ job: consuming ExecutorJob) { piconet_task_pool_run(Self.pointer(UnownedJob(job))) }

      func enqueue<C: Clock>(_ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C) {
        guard clock is ContinuousClock || runtime == nil else {
          runtime?.enqueue(job, at: instant, tolerance: tolerance, clock: clock)
          return
        }
        enqueue(job, after: clock.now.duration(to: instant), tolerance: tolerance, clock: clock)
      }

      func enqueue<C: Clock>(_ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C) {
        guard clock is ContinuousClock || runtime == nil else {
          runtime?.enqueue(job, after: delay, tolerance: tolerance, clock: clock)
          return
        }
        let nanoseconds = (delay as? Duration).map(Self.nanoseconds) ?? 0
        piconet_task_pool_run_after(nanoseconds, Self.pointer(UnownedJob(job)))
      }

      /// For clocks other than the continuous one, which no program here uses.
      private let runtime = PlatformExecutorFactory.defaultExecutor as? any SchedulingExecutor

      private static func pointer(_ job: UnownedJob) -> UnsafeMutableRawPointer {
        unsafeBitCast(job, to: UnsafeMutableRawPointer.self)
      }

      /// Rounded up, so that no task wakes early; the largest number if it overflows.
      private static func nanoseconds(_ delay: Duration) -> Int64 {
        let (seconds, attoseconds) = delay.components
        let (product, isLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isLarger) = product.addingReportingOverflow(attoseconds / 1_000_000_000 + 1)
        return isLarge || isLarger ? (seconds < 0 ? 0 : .max) : sum
      }
    }
  }
#endif
