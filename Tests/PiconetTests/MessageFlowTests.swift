import Foundation
import PiconetEngine
import PiconetWire
import Synchronization
import Testing

@testable import Piconet

@Suite("Messages when it gets crowded", .timeLimit(.minutes(5)))
struct MessageFlowTests {
  /// Sends until a send waits; how many were taken before.
  private static func sendUntilItWaits(_ member: Member, size: Int) -> (
    task: Task<PiconetError?, Never>, count: Watched<Int>
  ) {
    let count = Watched(0)
    let task = Task { () -> PiconetError? in
      do throws(PiconetError) {
        while true {
          try await member.send([UInt8](repeating: 1, count: size))
          count.update { $0 += 1 }
        }
      } catch {
        return error
      }
    }
    return (task, count)
  }

  @Test("a reader that reads nothing stops its sender; what waits is bounded on both sides; reading lets it go on")
  func slowReader() async throws {
    try await NodePair.run { pair in
      let (onClient, onServer) = try await pair.connect()
      let (task, count) = Self.sendUntilItWaits(onClient, size: 10_000)
      let window = 1 << 20
      // The receiver holds a window, the sender's queue another, and no more however long it goes on.
      while pair.server.core.messages.cost < window - 20_000 || onClient.budget.waitingCount == 0 { await Task.yield() }
      #expect(pair.server.core.messages.cost <= window)
      #expect(count.value * 10_032 <= 2 * window + 10_032)
      let before = count.value
      var read = 0
      for await message in pair.server.session.messages {
        #expect(message.bytes.count == 10_000)
        read += 1
        if read == 500 { break }
      }
      var version: UInt64 = 0
      while let (value, next) = await count.next(after: version, isolation: nil), value <= before + 100 {
        version = next
      }
      #expect(count.value > before + 100)
      // The receiver leaves: whoever waits is told why.
      await onServer.disconnect()
      let error = await task.value
      #expect(error?.code == .left && error?.blame == .peer, "\(String(describing: error))")
      #expect(await failure { try await onClient.send([1]) }?.code == .left)
    }
  }

  @Test("a waiting send is cancelled with its task, and takes nothing with it")
  func cancelledSend() async throws {
    try await NodePair.run { pair in
      let (onClient, _) = try await pair.connect()
      let (task, _) = Self.sendUntilItWaits(onClient, size: 50_000)
      while onClient.budget.waitingCount == 0 { await Task.yield() }
      task.cancel()
      #expect(await task.value?.code == .cancelled)
      #expect(onClient.budget.waitingCount == 0)
    }
  }

  @Test("messages of ten tasks at once arrive once each, those of one task in its order")
  func concurrency() async throws {
    try await NodePair.run { pair in
      let (onClient, _) = try await pair.connect()
      async let received: [[UInt8]] = {
        var all: [[UInt8]] = []
        for await message in pair.server.session.messages {
          all.append(Array(message.bytes))
          if all.count == 10 * 300 { break }
        }
        return all
      }()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<10 {
          group.addTask {
            for number in 0..<300 {
              try await onClient.send(
                [UInt8(task), UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 0, count: task * 700))
            }
          }
        }
        try await group.waitForAll()
      }
      var next = [Int](repeating: 0, count: 10)
      for message in await received {
        let task = Int(message[0])
        #expect(Int(message[1]) << 8 + Int(message[2]) == next[task])
        next[task] += 1
      }
      #expect(next == [Int](repeating: 300, count: 10))
    }
  }

  @Test("unreliable messages arrive at most once, and those that nobody reads are bounded")
  func unreliable() async throws {
    try await NodePair.run { pair in
      let (onClient, _) = try await pair.connect()
      // 16 MB in all: far above the window.
      for number in 0..<4000 {
        try await onClient.send(
          [UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 0, count: 4000), mode: .unreliable)
      }
      // In order behind them: when it is there, all of them are that will come.
      try await onClient.send([9])
      while !pair.server.core.messages.hasReliable { await Task.yield() }
      #expect(pair.server.core.messages.cost <= (1 << 20) + 100)
      var seen: Set<Int> = []
      for await message in pair.server.session.messages {
        guard message.mode == .unreliable else { break }
        let number =
          Int(message.bytes[message.bytes.startIndex]) << 8 + Int(message.bytes[message.bytes.startIndex + 1])
        #expect(seen.insert(number).inserted)
      }
      #expect(!seen.isEmpty && seen.count < 300)
    }
  }

  @Test("what members leave behind unread does not pile up, however often they come and go")
  func leftBehind() async throws {
    try await Host.run({ $0.capacity = 2 }) { host in
      let member = [UInt8](repeating: 1, count: 95 * 1024)
      try await Host.client { client in
        for _ in 0..<8 {
          let onHost = try await client.connect(to: host.address)
          for _ in 0..<10 { try await onHost.send(member) }
          await onHost.disconnect()
        }
      }
      // Two windows for each of two members, where ten times that was sent.
      for await error in host.departures.prefix(8) { #expect(error.code == .left) }
      #expect(host.node.core.messages.cost <= 4 << 20)
      // What is still there is whole and can be read.
      #expect(await host.node.session.messages.first()?.bytes.count == 95 * 1024)
    }
  }

  @Test("a disconnect delivers what was sent before it")
  func disconnectDelivers() async throws {
    try await NodePair.run { pair in
      let (onClient, _) = try await pair.connect()
      async let received: Int = {
        var count = 0
        for await message in pair.server.session.messages {
          count += 1
          if message.bytes.count == 1 { break }
        }
        return count
      }()
      for _ in 0..<300 { try await onClient.send([UInt8](repeating: 1, count: 20_000)) }
      try await onClient.send([2])
      await onClient.disconnect()
      #expect(await received == 301)
      #expect(await failure { try await onClient.send([3]) }?.code == .left)
    }
  }

  @Test("a reader that stops in mid-batch leaves the rest to the next reader")
  func nextReader() async throws {
    try await NodePair.run { pair in
      let (onClient, _) = try await pair.connect()
      for number in UInt8(0)..<100 { try await onClient.send([number]) }
      var read: [UInt8] = []
      while read.count < 100 {
        // A new reader for each three.
        var count = 0
        for await message in pair.server.session.messages {
          read += message.bytes
          count += 1
          if count == 3 || read.count == 100 { break }
        }
      }
      #expect(read == Array(0..<100))
    }
  }
}
