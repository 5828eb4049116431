import PiconetRuntime
import TestSupport
import Testing

@Suite("Worker thread", .timeLimit(.minutes(15)))
struct WorkerThreadTests {
  @Test("work runs in order off the loop, answers come back on it, and stop runs what waits")
  func answers() async throws {
    try await withLoop { loop, actor in
      let worker = try WorkerThread(name: "worker")
      await actor.run { actor in
        for number in 0..<100 {
          let isTaken = worker.submit(answering: loop) {
            #expect(!loop.isOnLoop)
            return number * 2
          } then: { [unowned actor] value in
            actor.assumeIsolated { $0.log.append("\(value)") }
          }
          #expect(isTaken)
        }
      }
      worker.stop()
      #expect(await actor.run { $0.log } == (0..<100).map { "\($0 * 2)" })
    }
  }

  @Test("a full queue refuses, and so does a stopped worker")
  func bounded() async throws {
    let loop = try EventLoop(name: "loop")
    let worker = try WorkerThread(name: "worker", limit: 2)
    let started = Gate()
    let blocked = Gate()
    #expect(
      worker.submit {
        started.open()
        blocked.waitBlocking()
      })
    await started.wait()
    #expect(worker.submit {})
    #expect(worker.submit {})
    #expect(!worker.submit {})
    blocked.open()
    worker.stop()
    worker.stop()
    #expect(!worker.submit {})
    loop.stop()
  }
}
