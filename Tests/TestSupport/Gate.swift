import Glibc

/// Something that a test waits for, once.
package final class Gate: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation
  private let lock: Semaphore
  package init() {
    (stream, continuation) = AsyncStream.makeStream()
    lock = Semaphore()
  }
  package func open() {
    continuation.finish()
    lock.post()
  }
  /// For threads that may block: plain ones, never those of the concurrency pool.
  package func waitBlocking() { lock.wait() }
  package func wait() async { for await _ in stream {} }
}

private final class Semaphore: @unchecked Sendable {
  // Sendable is right: a semaphore is made for threads.
  private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
  init() { sem_init(semaphore, 0, 0) }
  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }
  func post() { sem_post(semaphore) }
  func wait() { while sem_wait(semaphore) != 0 {} }
}
