import PiconetRuntime
import Synchronization
import TestSupport
import Testing

@Suite("Threads that read", .timeLimit(.minutes(15)))
struct ReadingThreadsTests {
  private final class Owner: Sendable {}

  @Test("a read that hangs holds up what is behind it in its lane, and nothing else")
  func hanging() async throws {
    let threads = ReadingThreads(name: "read-hang", width: 2, patience: .milliseconds(1))
    let (bad, good) = (Owner(), Owner())
    let hangs = Gate()
    let order = Mutex<[String]>([])
    #expect(threads.lane(of: bad).submit { hangs.waitBlocking() })
    #expect(threads.lane(of: bad).submit { order.withLock { $0.append("behind") } })
    for count in 1...3 {
      let done = Gate()
      #expect(
        threads.lane(of: good).submit {
          order.withLock { $0.append("\(count)") }
          done.open()
        })
      await done.wait()
    }
    #expect(order.withLock { $0 } == ["1", "2", "3"])
    hangs.open()
    await threads.finishSubmitted()
    #expect(order.withLock { $0 } == ["1", "2", "3", "behind"])
    threads.stop()
    #expect(threadNames().filter { $0.hasPrefix("read-hang") }.isEmpty)
  }

  @Test("there are no more threads than allowed; jobs without a lane run at once")
  func width() async throws {
    let threads = ReadingThreads(name: "read-width", width: 3, patience: .milliseconds(1))
    let opening = Gate()
    let running = Mutex((now: 0, most: 0))
    let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
    for _ in 0..<10 {
      let isTaken = threads.submit {
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
      if count == 3 { break }
    }
    opening.open()
    threads.stop()
    #expect(running.withLock { $0 } == (0, 3))
    #expect(!threads.submit {})
  }

  @Test("jobs of one lane run in their order, and threads end by themselves when nothing is left")
  func order() async throws {
    let threads = ReadingThreads(name: "read-order", width: 4, patience: .milliseconds(1))
    let owner = Owner()
    let order = Mutex<[Int]>([])
    for count in 0..<500 {
      #expect(threads.lane(of: owner).submit { order.withLock { $0.append(count) } })
    }
    await threads.finishSubmitted()
    #expect(order.withLock { $0 } == Array(0..<500))
    while threadNames().contains(where: { $0.hasPrefix("read-order") }) { await Task.yield() }
    let done = Gate()
    #expect(threads.submit { done.open() })
    await done.wait()
    threads.stop()
  }
}
