import Glibc
import PiconetRuntime
import Synchronization
import TestSupport
import Testing

@Suite("A loop as an executor", .timeLimit(.minutes(15)))
struct LoopExecutorTests {
  @Test("tasks that prefer the loop, and actors on it, run on its thread")
  func tasksRunOnTheLoop() async throws {
    try await withLoop { loop, actor in
      #expect(!loop.isOnLoop)
      let isOn = await withTaskExecutorPreference(LoopTaskExecutor(loop: loop)) {
        await Task.yield()
        return loop.isOnLoop
      }
      #expect(isOn)
      #expect(await actor.run { _ in loop.isOnLoop })
      let ofTask = await Task(executorPreference: LoopTaskExecutor(loop: loop)) {
        await withTaskGroup(of: Bool.self) { group in
          for _ in 0..<10 { group.addTask { loop.isOnLoop } }
          return await group.reduce(true) { $0 && $1 }
        }
      }.value
      #expect(ofTask)
    }
  }

  @Test("handlers outside any task may assume the isolation of an actor on the loop")
  func assumedIsolation() async throws {
    try await withLoop { loop, actor in
      await loop.perform { actor.assumeIsolated { $0.log.append("inside") } }
      #expect(await actor.run { $0.log } == ["inside"])
    }
  }

  @Test("a hundred thousand jobs from other threads all run, in order")
  func manyJobs() async throws {
    try await withLoop { loop, actor in
      let count = 100_000
      for number in 0..<count {
        loop.execute { actor.assumeIsolated { if $0.kept.isEmpty { $0.next(number) } } }
      }
      #expect(await actor.run { $0.log } == [])
      #expect(await actor.run { $0.log.count } == 0)
      #expect(await actor.counted == count)
    }
  }

  @Test("ten thousand tasks that hop between the loop and the global pool all end")
  func manyTasks() async throws {
    try await withLoop { loop, actor in
      let total = await withTaskGroup(of: Int.self) { group in
        for _ in 0..<10_000 { group.addTask { await actor.run { _ in loop.isOnLoop ? 1 : 0 } } }
        return await group.reduce(0, +)
      }
      #expect(total == 10_000)
    }
  }

  @Test("a job that adds itself for ever does not starve a socket, nor a timer, nor the end")
  func fairness() async throws {
    try await withLoop { loop, actor in
      let gate = Gate()
      let timed = Gate()
      let (near, far) = socketPair()
      try await actor.run { actor in
        let handler = ClosureHandler { _ in }
        handler.body = { [unowned handler] _ in
          handler.watch?.cancel()
          gate.open()
        }
        handler.watch = try loop.watch(near, for: .read, handler: handler)
        let timer = LoopTimer(loop: loop) { timed.open() }
        timer.set(after: .milliseconds(1))
        actor.kept = [handler, timer]
      }
      let isOver = Flag()
      forever(loop, isOver)
      #expect(write(far, "x", 1) == 1)
      await gate.wait()
      await timed.wait()
      close(near)
      close(far)
      loop.stop()
      isOver.value.store(true, ordering: .relaxed)
    }
  }

  @Test("jobs and tasks after stop are not lost: they run elsewhere, one at a time")
  func afterStop() async throws {
    let loop = try EventLoop(name: "stopped-loop")
    let actor = LoopActor(loop)
    loop.stop()
    loop.stop()
    let count = await withTaskGroup(of: Void.self) { group in
      for _ in 0..<200 { group.addTask { await actor.next() } }
      await group.waitForAll()
      return await actor.counted
    }
    #expect(count == 200)
  }

  @Test("a loop can be stopped from its own thread")
  func stopFromWithin() async throws {
    let loop = try EventLoop(name: "self-stopped")
    await loop.perform { loop.stop() }
    loop.stop()
    await loop.perform {}
  }

  @Test("two hundred loops and workers leave no thread and no descriptor behind")
  func nothingIsLeft() async {
    // In a process of its own, so that other tests do not count.
    await #expect(processExitsWith: .success) {
      let descriptors = descriptorCount()
      for _ in 0..<200 {
        let loop = try EventLoop(name: "leak-test")
        let worker = try WorkerThread(name: "leak-test")
        loop.execute {}
        #expect(worker.submit {})
        worker.stop()
        loop.stop()
      }
      // libdispatch may open up to three for itself at any time; a leak would be two hundred at least.
      #expect(descriptorCount() < descriptors + 10)
      // A joined thread is done, but the kernel may list it a moment longer.
      while threadNames().contains("leak-test") { sched_yield() }
    }
  }
}

private final class Flag: Sendable {
  let value = Atomic(false)
}

private func forever(_ loop: EventLoop, _ isOver: Flag) {
  loop.execute { if !isOver.value.load(ordering: .relaxed) { forever(loop, isOver) } }
}

extension LoopActor {
  func next() { counted += 1 }

  func next(_ number: Int) {
    if number == counted { counted += 1 }
  }
}
