import Glibc
import PiconetRuntime
import TestSupport
import Testing

@Suite("Batch mailbox", .timeLimit(.minutes(15)))
struct BatchMailboxTests {
  @Test("eight threads push a hundred thousand each: all arrive, in the order of each producer")
  func producers() async throws {
    try await withLoop { loop, actor in
      let done = Gate()
      let mailbox = await loop.perform {
        let tally = Tally()
        let mailbox = BatchMailbox<(Int, Int)>(loop: loop, limit: .max)
        mailbox.receive { batch in
          #expect(loop.isOnLoop)
          for (producer, number) in batch {
            if tally.next[producer] != number { tally.disorder += 1 }
            tally.next[producer] = number + 1
          }
          tally.count += batch.count
          if tally.count == 800_000 {
            #expect(tally.disorder == 0)
            done.open()
          }
        }
        return mailbox
      }
      let workers = try (0..<8).map { _ in try WorkerThread(name: "producer") }
      for (producer, worker) in workers.enumerated() {
        #expect(worker.submit { for number in 0..<100_000 { _ = mailbox.push((producer, number)) } })
      }
      await done.wait()
      for worker in workers { worker.stop() }
    }
  }

  @Test("at its limit a mailbox says so, and calls those who wait after the loop took what was there")
  func limit() async throws {
    try await withLoop { loop, actor in
      let blocked = Gate()
      let mailbox = BatchMailbox<Int>(loop: loop, limit: 10)
      mailbox.receive { _ in }
      // The loop is kept busy until the pushes are done, so that it drains nothing meanwhile.
      var lock = BlockedLoop(loop)
      #expect(mailbox.push(1, weight: 9) == .taken)
      #expect(mailbox.push(2) == .full)
      mailbox.whenRoom { blocked.open() }
      lock.release()
      await blocked.wait()
      await mailbox.waitForRoom()
      #expect(mailbox.push(3) == .taken)
    }
  }

  @Test("a closed mailbox takes nothing more, delivers what it has, and leaves no sender waiting")
  func closing() async throws {
    try await withLoop { loop, actor in
      let mailbox = BatchMailbox<Int>(loop: loop, limit: 1)
      mailbox.receive { batch in
        actor.assumeIsolated { $0.log += batch.map(String.init) }
      }
      var lock = BlockedLoop(loop)
      #expect(mailbox.push(1) == .full)
      let gate = Gate()
      mailbox.whenRoom { gate.open() }
      mailbox.close()
      await gate.wait()
      await mailbox.waitForRoom()
      #expect(mailbox.push(2) == .closed)
      lock.release()
      #expect(await actor.run { $0.log } == ["1"])
    }
  }

  @Test("items that are pushed before there is a receiver wait, and come first")
  func early() async throws {
    try await withLoop { loop, actor in
      let mailbox = BatchMailbox<Int>(loop: loop, limit: .max)
      #expect(mailbox.push(1) == .taken)
      #expect(mailbox.push(2) == .taken)
      mailbox.receive { batch in
        actor.assumeIsolated { $0.log += batch.map(String.init) }
      }
      #expect(mailbox.push(3) == .taken)
      #expect(await actor.run { $0.log } == ["1", "2", "3"])
    }
  }

  @Test("once it is closed and empty a mailbox lets go of its receiver")
  func lettingGo() async throws {
    try await withLoop { loop, actor in
      for pushes in [true, false] {
        let gone = Gate()
        let mailbox = BatchMailbox<Int>(loop: loop, limit: .max)
        mailbox.receive { [farewell = Farewell(gone)] _ in withExtendedLifetime(farewell) {} }
        if pushes { #expect(mailbox.push(1) == .taken) }
        mailbox.close()
        await gone.wait()
        #expect(mailbox.push(2) == .closed)
      }
    }
  }

  @Test("producers that wait for room bound the mailbox to its limit and one push each")
  func bounded() async throws {
    try await withLoop { loop, actor in
      let mailbox = BatchMailbox<Int>(loop: loop, limit: 100)
      mailbox.receive { batch in
        actor.assumeIsolated { actor in
          #expect(batch.count <= 104)
          actor.counted += batch.count
        }
      }
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask {
            for number in 0..<5000 where mailbox.push(number) == .full { await mailbox.waitForRoom() }
          }
        }
      }
      #expect(await actor.counted == 20_000)
    }
  }
}

/// Tells when it is released.
private final class Farewell: Sendable {
  private let gone: Gate
  init(_ gone: Gate) { self.gone = gone }
  deinit { gone.open() }
}

private final class Tally {
  var next = [Int](repeating: 0, count: 8)
  var count = 0
  var disorder = 0
}

/// Keeps a loop busy until it is released.
struct BlockedLoop {
  private let pipe: (Int32, Int32)

  init(_ loop: EventLoop) {
    var ends: [Int32] = [-1, -1]
    precondition(Glibc.pipe(&ends) == 0)
    pipe = (ends[0], ends[1])
    let end = ends[0]
    loop.execute {
      var byte: UInt8 = 0
      _ = read(end, &byte, 1)
      close(end)
    }
  }

  mutating func release() {
    close(pipe.1)
  }
}
