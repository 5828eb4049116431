import Synchronization
import TestSupport
import Testing

@testable import PiconetRuntime

@Suite("Who uses a store", .timeLimit(.minutes(15)))
struct StoreUseTests {
  @Test("the end of a transfer during its commit comes after the commit, on the thread that commits")
  func during() async throws {
    let worker = try WorkerThread(name: "disk")
    let pool = WorkerPool(name: "commit", width: 1)
    let use = StoreUse()
    let log = Mutex<[String]>([])
    let begun = Gate()
    let ending = Gate()
    use.beginCommit()
    #expect(
      pool.submit {
        use.commit {
          begun.open()
          ending.waitBlocking()
          log.withLock { $0.append("committed") }
        }
      })
    await begun.wait()
    use.end(on: worker) { log.withLock { $0.append("discarded") } }
    await worker.finishSubmitted()
    #expect(log.withLock { $0 } == [])
    ending.open()
    await pool.finishSubmitted()
    #expect(log.withLock { $0 } == ["committed", "discarded"])
    pool.stop()
    worker.stop()
  }

  @Test("work before a commit, after a failed one, or without one goes to the disk thread")
  func otherwise() async throws {
    struct Failed: Error {}
    let worker = try WorkerThread(name: "disk")
    let log = Mutex<[String]>([])
    let use = StoreUse()
    use.end(on: worker) { log.withLock { $0.append("before") } }
    use.beginCommit()
    #expect(throws: Failed.self) { try use.commit { throw Failed() } }
    use.end(on: worker) { log.withLock { $0.append("after") } }
    use.beginCommit()
    use.endCommit()
    use.end(on: worker) { log.withLock { $0.append("not begun") } }
    worker.stop()
    #expect(log.withLock { $0 } == ["before", "after", "not begun"])
  }
}
