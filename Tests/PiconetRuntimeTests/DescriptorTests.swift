import Glibc
import PiconetRuntime
import TestSupport
import Testing

@Suite("Descriptors on a loop", .timeLimit(.minutes(15)))
struct DescriptorTests {
  @Test("a watched descriptor's handler is called on the loop, in each round while it stays ready")
  func levelTriggered() async throws {
    try await withLoop { loop, actor in
      let gate = Gate()
      let (near, far) = socketPair()
      try await actor.run { actor in
        var calls = 0
        let handler = ClosureHandler { _ in }
        handler.body = { [unowned handler] readiness in
          #expect(loop.isOnLoop)
          #expect(readiness == .read)
          calls += 1
          // Not read: a level-triggered descriptor is reported again.
          if calls == 3 {
            handler.watch?.cancel()
            gate.open()
          }
        }
        handler.watch = try loop.watch(near, for: .read, handler: handler)
        actor.keep(handler)
      }
      #expect(write(far, "x", 1) == 1)
      await gate.wait()
      #expect(await actor.run { _ in loop.watchCount } == 0)
      close(near)
      close(far)
    }
  }

  @Test("a watch that another handler cancels in the same batch is not called, nor is its slot's next user")
  func removalInsideTheBatch() async throws {
    try await withLoop { loop, actor in
      let pairs = (0..<3).map { _ in socketPair() }
      for pair in pairs { #expect(write(pair.1, "x", 1) == 1) }
      let called = try await actor.run { actor -> Int in
        // Both are ready before the loop looks: one batch. The first to be called cancels both, and puts a descriptor
        // that is not ready into a free slot.
        var calls = 0
        var handlers: [ClosureHandler] = []
        let idle = socketPair()
        let replacement = ClosureHandler { _ in Issue.record("an event of the former watch arrived") }
        for index in 0..<2 {
          handlers.append(
            ClosureHandler { _ in
              calls += 1
              handlers[0].watch?.cancel()
              handlers[1].watch?.cancel()
              _ = index
              if replacement.watch == nil {
                replacement.watch = try? loop.watch(idle.0, for: .read, handler: replacement)
              }
            })
        }
        handlers[0].watch = try loop.watch(pairs[0].0, for: .read, handler: handlers[0])
        handlers[1].watch = try loop.watch(pairs[1].0, for: .read, handler: handlers[1])
        actor.kept = handlers + [replacement]
        let counter = Counter { calls }
        actor.keep(counter)
        return 0
      }
      #expect(called == 0)
      // Three more turns of the loop: all that could come has come.
      for _ in 0..<3 { await loop.perform {} }
      let calls = await actor.run { actor in actor.kept.compactMap { $0 as? Counter }.first?.value() }
      #expect(calls == 1)
      for pair in pairs {
        close(pair.0)
        close(pair.1)
      }
    }
  }

  @Test("interest that was taken away in the same batch holds at once")
  func interestWithinTheBatch() async throws {
    try await withLoop { loop, actor in
      let (first, firstFar) = socketPair()
      let (second, secondFar) = socketPair()
      #expect(write(firstFar, "x", 1) == 1)
      #expect(write(secondFar, "x", 1) == 1)
      try await actor.run { actor in
        var handlers: [ClosureHandler] = []
        var calls = 0
        for _ in 0..<2 {
          handlers.append(
            ClosureHandler { _ in
              calls += 1
              for handler in handlers { handler.watch?.setInterest([]) }
            })
        }
        handlers[0].watch = try loop.watch(first, for: .read, handler: handlers[0])
        handlers[1].watch = try loop.watch(second, for: .read, handler: handlers[1])
        actor.kept = handlers + [Counter { calls }]
      }
      for _ in 0..<3 { await loop.perform {} }
      #expect(await actor.run { actor in actor.kept.compactMap { $0 as? Counter }.first?.value() } == 1)
      for descriptor in [first, firstFar, second, secondFar] { close(descriptor) }
    }
  }

  @Test("a hung-up descriptor of which nothing is wanted does not keep the loop busy, and is reported once wanted")
  func hangUpWhileNothingIsWanted() async throws {
    try await withLoop { loop, actor in
      let (near, far) = socketPair()
      let gate = Gate()
      let rounds = RoundCounter()
      try await actor.run { actor in
        let handler = ClosureHandler { _ in }
        handler.body = { [unowned handler] readiness in
          #expect(readiness.contains(.read))
          handler.watch?.cancel()
          gate.open()
        }
        handler.watch = try loop.watch(near, for: [], handler: handler)
        actor.keep(handler)
        loop.addRoundHandler(rounds)
      }
      close(far)
      // Each hop to the loop and back is a round or two; a loop that never slept would make many more meanwhile.
      let before = await actor.run { _ in rounds.count }
      for _ in 0..<200 { await loop.perform {} }
      let after = await actor.run { _ in rounds.count }
      #expect(after - before < 600)
      await actor.run { actor in (actor.kept.first as? ClosureHandler)?.watch?.setInterest(.read) }
      await gate.wait()
      close(near)
    }
  }

  @Test("a watch whose handler is gone ends by itself")
  func handlerGone() async throws {
    try await withLoop { loop, actor in
      let (near, far) = socketPair()
      try await actor.run { _ in
        _ = try loop.watch(near, for: .read, handler: ClosureHandler { _ in })
        #expect(loop.watchCount == 1)
      }
      #expect(write(far, "x", 1) == 1)
      for _ in 0..<3 { await loop.perform {} }
      #expect(await actor.run { _ in loop.watchCount } == 0)
      close(near)
      close(far)
    }
  }

  @Test("a descriptor that epoll does not take is refused with the reason")
  func refusedDescriptor() async throws {
    try await withLoop { loop, actor in
      let file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
      defer { close(file) }
      await actor.run { _ in
        #expect(throws: SystemError("epoll_ctl", EPERM)) {
          _ = try loop.watch(file, for: .read, handler: ClosureHandler { _ in })
        }
        #expect(loop.watchCount == 0)
      }
    }
  }

  @Test("round handlers are called once a round, after its events and jobs")
  func roundHandlers() async throws {
    // A round may also end because time passes.
    try await withLoop(clock: ManualClock()) { loop, actor in
      let log = await actor.run { actor -> [String] in
        let recorder = RoundRecorder()
        actor.keep(recorder)
        loop.addRoundHandler(recorder)
        for number in 0..<3 { loop.executeLater { recorder.log.append("job \(number)") } }
        return recorder.log
      }
      #expect(log == [])
      let later = await actor.run { actor in (actor.kept.first as? RoundRecorder)?.log ?? [] }
      #expect(later.prefix(4) == ["job 0", "job 1", "job 2", "round"])
    }
  }

  @Test("a round ends when its jobs have had their time: the others come in the next one, in their order")
  func roundsOfLongJobs() async throws {
    let clock = ManualClock()
    try await withLoop(clock: clock) { loop, actor in
      await actor.run { actor in
        let recorder = RoundRecorder()
        actor.keep(recorder)
        loop.addRoundHandler(recorder)
        for number in 0..<20 {
          loop.executeLater {
            recorder.log.append("job \(number)")
            clock.advance(by: EventLoop.jobTime / 2)
          }
        }
      }
      var log: [String] = []
      while !log.contains("job 19") {
        log = await actor.run { actor in (actor.kept.first as? RoundRecorder)?.log ?? [] }
      }
      #expect(log.filter { $0 != "round" } == (0..<20).map { "job \($0)" })
      // The clock is looked at once in two jobs, and each of them may have waked the loop.
      let rounds = log.split(separator: "round").map(\.count)
      #expect(rounds.count >= 4 && rounds.allSatisfy { $0 <= 5 }, "\(rounds)")
    }
  }
}

final class Counter {
  let value: () -> Int
  init(_ value: @escaping () -> Int) { self.value = value }
}

private final class RoundRecorder: RoundHandler {
  var log: [String] = []
  func roundHasEnded() { log.append("round") }
}

private final class RoundCounter: RoundHandler, @unchecked Sendable {
  // Sendable is right: touched on the loop only.
  var count = 0
  func roundHasEnded() { count += 1 }
}
