import CPiconetSystem
import Glibc

/// A joinable POSIX thread with a name, all signals blocked.
struct NamedThread: Sendable {
  private let thread: pthread_t

  /// Starts the thread. `body` is released when it returns.
  init(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
    let box = Unmanaged.passRetained(ThreadBody(body))
    var thread = pthread_t()
    let error = piconet_thread_start(
      &thread, name,
      { argument in
        guard let argument else { return nil }
        Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
        return nil
      }, box.toOpaque())
    guard error == 0 else {
      box.release()
      throw SystemError("pthread_create", error)
    }
    self.thread = thread
  }

  /// Waits until the thread has ended. Call this or `detach` exactly once.
  func join() { pthread_join(thread, nil) }

  /// Lets the thread end on its own.
  func detach() { pthread_detach(thread) }
}

private final class ThreadBody: Sendable {
  let run: @Sendable () -> Void
  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
