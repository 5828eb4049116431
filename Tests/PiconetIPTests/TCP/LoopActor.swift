import Glibc
import PiconetRuntime

/// An actor that lives on a loop, so that tests can make and call what is confined to it.
actor LoopActor {
  nonisolated let loop: EventLoop
  /// What has to live as long as the test.
  var kept: [AnyObject] = []
  var log: [String] = []
  var counted = 0

  init(_ loop: EventLoop) { self.loop = loop }

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  func run<Value: Sendable>(_ body: @Sendable (isolated LoopActor) throws -> Value) rethrows -> Value {
    try body(self)
  }

  func keep(_ object: AnyObject) { kept.append(object) }
}

/// A loop for the time of `body`.
func withLoop<Value>(
  _ name: String = "test-loop", clock: any MonotonicClock = SystemClock(),
  _ body: (EventLoop, LoopActor) async throws -> Value
) async throws -> Value {
  let loop = try EventLoop(name: name, clock: clock)
  let actor = LoopActor(loop)
  let result: Result<Value, any Error>
  do { result = .success(try await body(loop, actor)) } catch { result = .failure(error) }
  await actor.run { $0.kept = [] }
  loop.stop()
  return try result.get()
}

/// Something that a test waits for, once.
final class Gate: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation
  private let lock: UnsafeSemaphore
  init() {
    (stream, continuation) = AsyncStream.makeStream()
    lock = UnsafeSemaphore()
  }
  func open() {
    continuation.finish()
    lock.post()
  }
  /// For threads that may block: plain ones, never those of the concurrency pool.
  func waitBlocking() { lock.wait() }
  func wait() async { for await _ in stream {} }
}

func descriptorCount() -> Int { directoryCount("/proc/self/fd") }

func directoryCount(_ path: String) -> Int { directoryNames(path).count }

func directoryNames(_ path: String) -> [String] {
  guard let directory = opendir(path) else { return [] }
  defer { closedir(directory) }
  var names: [String] = []
  while let entry = readdir(directory) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if name != "." && name != ".." { names.append(name) }
  }
  return names
}

final class UnsafeSemaphore: @unchecked Sendable {
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
