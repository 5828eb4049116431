/// One thing for a loop to do.
enum LoopJob {
  case task(UnownedJob)
  case preferring(UnownedJob, LoopTaskExecutor)
  case call(() -> Void)
  /// Was done.
  case nothing
}

/// First in, first out, without moving what waits.
struct JobQueue {
  private var jobs: [LoopJob] = []
  private var head = 0

  var isEmpty: Bool { head == jobs.count }
  var count: Int { jobs.count - head }

  mutating func append(_ job: LoopJob) { jobs.append(job) }

  /// Takes all of `more`, which keeps its room.
  mutating func append(takingAll more: inout [LoopJob]) {
    if isEmpty {
      jobs.removeAll(keepingCapacity: true)
      head = 0
      swap(&jobs, &more)
    } else {
      jobs.append(contentsOf: more)
      more.removeAll(keepingCapacity: true)
    }
  }

  mutating func popFirst() -> LoopJob? {
    guard head < jobs.count else { return nil }
    // Moved out, not copied: what a job holds lives no longer than the job.
    var job = LoopJob.nothing
    swap(&job, &jobs[head])
    head += 1
    if head == jobs.count {
      jobs.removeAll(keepingCapacity: jobs.count <= 4096)
      head = 0
    } else if head >= 1024 && head * 2 >= jobs.count {
      jobs.removeSubrange(..<head)
      head = 0
    }
    return job
  }

  /// Takes everything.
  mutating func takeAll() -> [LoopJob] {
    let all = Array(jobs[head...])
    self = JobQueue()
    return all
  }
}
