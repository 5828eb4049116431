import PiconetEngine
import PiconetWire
import TestSupport
import Testing

@testable import Piconet

extension SessionSuite {
  /// Node and engine decide these, whatever carries the bytes.
  @Suite("Limits and readers of messages", .timeLimit(.minutes(15)))
  struct MessageLimitTests {
    @Test(
      "messages in channels arrive once and in the order of their channel; an unread channel stops only itself",
      arguments: SuiteTransport.all)
    func channels(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair(server: { $0.channelLimit = 8 }) { pair in
          let (onClient, _) = try await pair.connect()
          // More than may wait in an unread channel.
          let unread = (0..<12).map { randomBytes(20_000, seed: UInt64($0)) }
          for message in unread { try await onClient.send(message, in: 7) }
          var first = pair.server.session.messages(in: 0).makeAsyncIterator()
          var second = pair.server.session.messages(in: 2).makeAsyncIterator()
          for number in 0..<5 as Range<UInt8> {
            let long = randomBytes(50_000, seed: UInt64(100 + number))
            try await onClient.send(long, in: 2)
            try await pair.client.session.send([number], to: [onClient], in: 0)
            #expect(await first.next().map { Array($0.bytes) } == [number])
            let message = try #require(await second.next())
            #expect(message.channel == 2 && message.sender == pair.client.id && Array(message.bytes) == long)
          }
          // The window and one message more, and what the two readers hold until they ask for the next one.
          let held = 50_001 + 2 * WireLimits.messageCost
          #expect(pair.server.session.core.log.cost <= (128 << 10) + 20_000 + WireLimits.messageCost + held)
          var last = pair.server.session.messages(in: 7).makeAsyncIterator()
          for message in unread { #expect(await last.next().map { Array($0.bytes) } == message) }
          let error = await failure { try await onClient.send([1], in: 8) }
          #expect(error?.code == .notSupported)
        }
      }
    }

    @Test("a message above the limit is refused before a byte leaves, with both numbers", arguments: SuiteTransport.all)
    func tooLarge(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair(server: { $0.messageLimit = 1000 }) { pair in
          let (onClient, _) = try await pair.connect()
          let error = await failure { try await onClient.send([UInt8](repeating: 1, count: 1001)) }
          #expect(error?.code == .messageTooLarge)
          #expect(error?.description.contains("1001") == true && error?.description.contains("1000") == true)
          try await onClient.send([UInt8](repeating: 1, count: 1000))
          #expect(await pair.server.session.messages.first()?.bytes.count == 1000)
        }
      }
    }

    @Test(
      "an unreliable message is as long as one frame takes; a longer one is refused before a byte leaves",
      arguments: SuiteTransport.all)
    func tooLargeUnreliable(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, _) = try await pair.connect()
          #expect(onClient.proven.unreliableLimit == 16_373)
          let error = await failure { try await onClient.send(randomBytes(16_374), mode: .unreliable) }
          #expect(error?.code == .messageTooLarge)
          #expect(error?.description.contains("16374") == true && error?.description.contains("16373") == true)
          let toAll = await failure { try await pair.client.session.send(randomBytes(16_374), mode: .unreliable) }
          #expect(toAll?.code == .messageTooLarge)
          // An idle link takes one of the greatest length.
          try await onClient.send(randomBytes(16_373), mode: .unreliable)
          let message = try #require(await pair.server.session.messages.first())
          #expect(message.mode == .unreliable && Array(message.bytes) == randomBytes(16_373))
        }
      }
    }

    @Test("a waiting send is cancelled with its task, and takes nothing with it", arguments: SuiteTransport.all)
    func cancelledSend(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, _) = try await pair.connect()
          let (task, count) = sendUntilItWaits(onClient, size: 50_000)
          try await world.until("a send waits") { onClient.budgets[0].waitingCount > 0 }
          task.cancel()
          #expect(await task.value?.code == .cancelled)
          #expect(onClient.budgets[0].waitingCount == 0)
          // What was taken arrives.
          for message in await pair.server.session.take(count.value) { #expect(message.bytes.count == 50_000) }
        }
      }
    }

    @Test(
      "unreliable messages arrive at most once, and unread ones are bounded", arguments: SuiteTransport.all)
    func unreliable(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, _) = try await pair.connect()
          // 16 MB in all, far above the window.
          for number in 0..<4000 {
            try await onClient.send(
              [UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 0, count: 4000), mode: .unreliable)
          }
          // Sent after them: once it is there, so are all of them that will come.
          try await onClient.send([9])
          try await world.until("the last message is there") { pair.server.core.log.hasReliable }
          #expect(pair.server.core.log.cost <= (1 << 20) + 100)
          var seen: Set<Int> = []
          for await message in pair.server.session.messages {
            guard message.mode == .unreliable else { break }
            let bytes = Array(message.bytes)
            #expect(seen.insert(Int(bytes[0]) << 8 + Int(bytes[1])).inserted)
          }
          #expect(!seen.isEmpty && seen.count < 300)
        }
      }
    }

    @Test("a reader that stops in mid-batch leaves the rest to the next reader", arguments: SuiteTransport.all)
    func nextReader(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, _) = try await pair.connect()
          for number in UInt8(0)..<100 { try await onClient.send([number]) }
          var read: [UInt8] = []
          // A new reader for every three messages.
          while read.count < 100 {
            read += await pair.server.session.take(min(3, 100 - read.count)).flatMap { Array($0.bytes) }
          }
          #expect(read == Array(0..<100))
        }
      }
    }
  }
}
