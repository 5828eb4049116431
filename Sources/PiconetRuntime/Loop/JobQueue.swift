/// One job of a loop.
enum LoopJob {
  case task(UnownedJob)
  case preferring(UnownedJob, LoopTaskExecutor)
  case call(() -> Void)
  /// An empty place.
  case nothing
}

/// First in, first out, in a ring: elements are never moved, and the array is never deallocated however often it is
/// emptied.
struct JobQueue {
  /// The number of places is a power of two.
  private var ring = [LoopJob](repeating: .nothing, count: leastCapacity)
  private var head = 0
  private(set) var count = 0

  private static let leastCapacity = 16
  /// After a larger flood the capacity beyond this is released.
  private static let keptCapacity = 4096

  var isEmpty: Bool { count == 0 }

  mutating func append(_ job: consuming LoopJob) {
    if count == ring.count { grow(to: 2 * ring.count) }
    ring[place(count)] = job
    count += 1
  }

  /// Takes all elements out of `more`, which keeps its capacity.
  mutating func append(takingAll more: inout [LoopJob]) {
    more.drain { append($0) }
  }

  mutating func popFirst() -> LoopJob? {
    guard count > 0 else { return nil }
    // Moved out, not copied: the values that a job holds live no longer than the job.
    var job = LoopJob.nothing
    swap(&job, &ring[head])
    head = place(1)
    count -= 1
    if count == 0, ring.count > Self.keptCapacity { self = JobQueue() }
    return job
  }

  /// Takes everything.
  mutating func takeAll() -> [LoopJob] {
    let all = (0..<count).map { ring[place($0)] }
    self = JobQueue()
    return all
  }

  /// The place of the job that has this many before it.
  private func place(_ index: Int) -> Int { (head + index) & (ring.count - 1) }

  private mutating func grow(to capacity: Int) {
    var larger: [LoopJob] = []
    larger.reserveCapacity(capacity)
    for index in 0..<count { larger.append(ring[place(index)]) }
    larger.append(contentsOf: repeatElement(.nothing, count: capacity - count))
    ring = larger
    head = 0
  }
}
