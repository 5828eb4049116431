import PiconetRuntime

/// An actor that lives on a loop, so that tests can make and call what is confined to it.
package actor LoopActor {
  package nonisolated let loop: EventLoop
  /// Objects that must live as long as the test.
  package var kept: [AnyObject] = []
  package var log: [String] = []
  package var counted = 0

  package init(_ loop: EventLoop) { self.loop = loop }

  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  package func run<Value: Sendable>(_ body: @Sendable (isolated LoopActor) throws -> Value) rethrows -> Value {
    try body(self)
  }

  package func keep(_ object: AnyObject) { kept.append(object) }
}

/// Runs `body` with a loop, which is stopped afterwards.
package func withLoop<Value>(
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
