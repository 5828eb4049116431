import PiconetEngine
import TestSupport
import Testing

@testable import Piconet

extension SessionSuite {
  @Suite("One sequence of events", .timeLimit(.minutes(15)))
  struct EventTests {
    /// All that happens, in words, until so many memberships have ended. A reader gets everything from its beginning
    /// on, and what no other has read before. So each reader begins before anything happens.
    private static func read(_ reader: sending SessionEvents.AsyncIterator, until count: Int) async -> [String] {
      var reader = reader
      var events: [String] = []
      var numbers: [Member: Int] = [:]
      while let event = await reader.next() {
        switch event {
        case .joined(let member):
          numbers[member] = numbers.count
          events.append("\(numbers.count) joined")
        case .message(let message):
          events.append("\(numbers[message.member].map { $0 + 1 } ?? 0) says \(message.bytes.first ?? 0)")
        case .left(let member, _):
          events.append("\(numbers[member].map { $0 + 1 } ?? 0) left")
          if events.count(where: { $0.hasSuffix("left") }) == count { return events }
        case .offer, .stream, .suspended, .moved, .resumed: events.append("\(event)")
        @unknown default: break
        }
      }
      return events
    }

    @Test(
      "both readers have the join of each membership first, its messages in order, and its end last, again and again",
      arguments: SuiteTransport.all)
    func rejoins(over transport: SuiteTransport) async throws {
      let rounds = 3
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let one = pair.server.session.events.makeAsyncIterator()
          let other = pair.server.session.events.makeAsyncIterator()
          async let first = Self.read(one, until: rounds)
          async let second = Self.read(other, until: rounds)
          for _ in 0..<rounds {
            let (member, _) = try await pair.connect()
            for number in 0..<5 { try await member.send([UInt8(number)]) }
            await member.disconnect()
            try await world.until("it has left") { pair.server.session.members.isEmpty }
          }
          let expected = (1...rounds).flatMap { round in
            ["\(round) joined"] + (0..<5).map { "\(round) says \($0)" } + ["\(round) left"]
          }
          #expect(await first == expected)
          #expect(await second == expected)
        }
      }
    }

    @Test(
      "messages sent before a link was cut come before the member's suspension, the rest after its return",
      arguments: SuiteTransport.breakable)
    func suspension(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let reader = pair.client.session.events.makeAsyncIterator()
          async let events = Self.read(reader, until: 1)
          var messages = pair.client.session.messages.makeAsyncIterator()
          let (_, onServer) = try await pair.connect(breakable: true)
          try await onServer.send([1])
          #expect(await messages.next()?.bytes == [1])
          try await world.cut()
          try await onServer.send([2])
          #expect(await messages.next()?.bytes == [2])
          await onServer.disconnect()
          let row = await events
          #expect(row.first == "1 joined" && row.last == "1 left")
          let kinds = row.map { $0.prefix { $0 != "(" } }
          let suspended = try #require(kinds.firstIndex { $0.hasPrefix("suspended") })
          let resumed = try #require(kinds.lastIndex { $0.hasPrefix("resumed") })
          #expect(try #require(row.firstIndex(of: "1 says 1")) < suspended && suspended < resumed)
          #expect(try resumed < #require(row.firstIndex(of: "1 says 2")))
        }
      }
    }
  }
}
