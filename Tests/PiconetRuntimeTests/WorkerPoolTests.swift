import PiconetRuntime
import Synchronization
import TestSupport
import Testing

@Suite("Worker pool", .timeLimit(.minutes(15)))
struct WorkerPoolTests {
  @Test("work that blocks runs beside other work, on as many threads as the pool is wide and no more")
  func width() async throws {
    let pool = WorkerPool(name: "pool-width", width: 4)
    let opening = Gate()
    let running = Mutex((now: 0, most: 0))
    let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
    for _ in 0..<20 {
      let isTaken = pool.submit {
        running.withLock { count in
          count.now += 1
          count.most = max(count.most, count.now)
        }
        beginning.yield()
        // Each lets the next one through.
        opening.waitBlocking()
        opening.open()
        running.withLock { $0.now -= 1 }
      }
      #expect(isTaken)
    }
    var count = 0
    for await _ in begun {
      count += 1
      if count == 4 { break }
    }
    #expect(running.withLock { $0.now } == 4)
    opening.open()
    pool.stop()
    #expect(running.withLock { $0 } == (0, 4))
  }

  @Test("threads end when nothing waits, and begin again with the next work")
  func rest() async throws {
    let pool = WorkerPool(name: "pool-rest", width: 3)
    for _ in 0..<50 {
      let done = Gate()
      #expect(pool.submit { done.open() })
      await done.wait()
    }
    pool.stop()
    #expect(threadNames().filter { $0 == "pool-rest" }.isEmpty)
  }

  @Test("a full queue refuses, what waits runs before the end, and a pool that was stopped refuses")
  func bounded() async throws {
    let pool = WorkerPool(name: "pool", width: 1, limit: 2)
    let started = Gate()
    let blocked = Gate()
    let ran = Mutex(0)
    #expect(
      pool.submit {
        started.open()
        blocked.waitBlocking()
      })
    await started.wait()
    for _ in 0..<2 { #expect(pool.submit { ran.withLock { $0 += 1 } }) }
    #expect(!pool.submit {})
    blocked.open()
    pool.stop()
    pool.stop()
    #expect(ran.withLock { $0 } == 2)
    #expect(!pool.submit {})
  }

  @Test("a caller that waits for submitted work goes on when it has run")
  func finishSubmitted() async throws {
    let pool = WorkerPool(name: "pool", width: 2)
    await pool.finishSubmitted()
    let first = Gate()
    let isDone = Mutex(false)
    #expect(
      pool.submit {
        first.waitBlocking()
        isDone.withLock { $0 = true }
      })
    async let finished: Void = pool.finishSubmitted()
    first.open()
    await finished
    #expect(isDone.withLock { $0 })
    pool.stop()
  }
}
