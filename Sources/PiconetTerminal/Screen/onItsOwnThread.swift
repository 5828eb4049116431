import Glibc

/// Runs `body`, which blocks, on a new thread: Swift's own pool has only as many threads as there are processors, and
/// these must not wait for a person.
///
/// - Returns: nil if no thread could be made.
package func onItsOwnThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result? {
  await withCheckedContinuation { continuation in
    let job = Unmanaged.passRetained(BlockingJob { continuation.resume(returning: body()) })
    var thread = pthread_t()
    let failed = pthread_create(
      &thread, nil,
      { argument in
        if let argument { Unmanaged<BlockingJob>.fromOpaque(argument).takeRetainedValue().run() }
        return nil
      }, job.toOpaque())
    guard failed == 0 else {
      job.release()
      return continuation.resume(returning: nil)
    }
    pthread_detach(thread)
  }
}

private final class BlockingJob: Sendable {
  package let run: @Sendable () -> Void
  package init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
