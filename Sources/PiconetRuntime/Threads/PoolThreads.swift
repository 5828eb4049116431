/// The threads of a pool, which start and end as there is work.
struct PoolThreads {
  private var running: [Int: NamedThread] = [:]
  private var next = 0
  /// Threads that have ended their work and have not been joined yet.
  private var ended: [NamedThread] = []

  var isEmpty: Bool { running.isEmpty }
  var count: Int { running.count }

  /// Starts a thread. Call this under the pool's lock: the new thread waits for it.
  /// - Parameter body: gets the thread's number.
  /// - Returns: false if no thread can be started.
  mutating func start(name: String, _ body: @escaping @Sendable (Int) -> Void) -> Bool {
    let number = next
    guard let thread = try? NamedThread(name: name, { body(number) }) else { return false }
    next += 1
    running[number] = thread
    return true
  }

  /// The thread has no more work, and is about to end.
  mutating func ends(_ number: Int) { if let own = running.removeValue(forKey: number) { ends(own) } }

  /// Keeps a thread that is about to end until it is joined.
  mutating func ends(_ thread: NamedThread) { ended.append(thread) }

  /// Returns the threads that have to be joined, outside the lock.
  mutating func takeEnded() -> [NamedThread] {
    defer { ended = [] }
    return ended
  }
}
