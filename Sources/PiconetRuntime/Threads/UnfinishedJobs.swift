/// The jobs of a pool that wait or run, and the tasks that wait until all jobs of a moment have run.
struct UnfinishedJobs {
  private var numbers: Set<UInt64> = []
  private var next: UInt64 = 0
  /// Each until the jobs before this number are finished.
  private var waiters = WaitingTasks<UInt64>()

  var isEmpty: Bool { numbers.isEmpty }
  var count: Int { numbers.count }

  /// Adds a job.
  /// - Returns: its number.
  mutating func add() -> UInt64 {
    defer { next += 1 }
    numbers.insert(next)
    return next
  }

  /// - Returns: the tasks whose wait is over with this job.
  mutating func finished(_ number: UInt64) -> WokenTasks? {
    numbers.remove(number)
    if waiters.isEmpty { return nil }
    let first = numbers.min() ?? .max
    return waiters.take { $0 <= first }
  }

  /// Has the task wait until all present jobs have run.
  /// - Returns: false if there are none.
  mutating func wait(_ task: CheckedContinuation<Void, Never>) -> Bool {
    if numbers.isEmpty { return false }
    waiters.add(task, for: next)
    return true
  }
}
