import Piconet
import Testing

@Suite("All that happens in a session, in one order", .timeLimit(.minutes(15)))
struct SessionEventsTests {
  /// What one reader has seen of one membership so far.
  private enum Story { case joined(next: UInt8), left }

  /// Reads until so many memberships have ended.
  /// - Returns: all that it got, in words, and what should not have come.
  private static func read(_ session: Session, until count: Int) async -> (events: [String], faults: [String]) {
    var stories: [Member: Story] = [:]
    var numbers: [Member: Int] = [:]
    var events: [String] = []
    var faults: [String] = []
    var left = 0
    for await event in session.events {
      switch event {
      case .joined(let member):
        numbers[member] = numbers.count
        if stories.updateValue(.joined(next: 0), forKey: member) != nil { faults.append("joined twice") }
        events.append("\(numbers.count) joined")
      case .message(let message):
        let number = message.bytes.first ?? .max
        events.append("\(numbers[message.member] ?? -1) says \(number)")
        guard case .joined(let next) = stories[message.member], next == number else {
          faults.append("message \(number) of a member with \(String(describing: stories[message.member]))")
          continue
        }
        stories[message.member] = .joined(next: next + 1)
      case .left(let member, _):
        if case .joined(3) = stories[member] {
        } else {
          faults.append("left after \(String(describing: stories[member]))")
        }
        stories[member] = .left
        events.append("\(numbers[member] ?? -1) left")
        left += 1
      case .offer, .stream, .suspended, .moved, .resumed: faults.append("\(event)")
      }
      if left == count { break }
    }
    return (events, faults)
  }

  @Test("messages that have come are taken without waiting, in their order and once; nil says that none is there")
  func messagesAtOnce() async throws {
    try await NodePair.run { pair in
      let (member, _) = try await pair.connect()
      var first = pair.server.session.messages(in: 5).makeAsyncIterator()
      var second = pair.server.session.messages(in: 5).makeAsyncIterator()
      #expect(second.nextAtOnce() == nil)
      for number in 0..<20 as Range<UInt8> { try await member.send([number], in: 5) }
      // What the one has read has come.
      for number in 0..<20 as Range<UInt8> { #expect(await first.next()?.bytes.first == number) }
      #expect(await second.next()?.bytes.first == 0)
      for number in 1..<20 as Range<UInt8> { #expect(second.nextAtOnce()?.bytes.first == number) }
      #expect(second.nextAtOnce() == nil)
      try await member.send([20], in: 5)
      #expect(await second.next()?.bytes.first == 20)
    }
  }

  @Test(
    "two readers of a thousand memberships, by peers that come back again and again, both get all of it, and nothing after `left`"
  )
  func memberships() async throws {
    let clients = 8
    let times = 125
    try await Host.run({ $0.capacity = clients + 1 }, takesOffers: false) { host in
      async let first = Self.read(host.node.session, until: clients * times)
      async let second = Self.read(host.node.session, until: clients * times)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<clients {
          group.addTask {
            try await Host.client { client in
              for _ in 0..<times {
                let member = try await client.invite(at: host.address)
                for number in 0..<3 as Range<UInt8> { try await member.send([number]) }
                await member.disconnect()
              }
            }
          }
        }
        try await group.waitForAll()
      }
      let (one, other) = await (first, second)
      #expect(one.faults == [] && other.faults == [])
      #expect(one.events == other.events)
      #expect(one.events.count == clients * times * 5)
    }
  }

  @Test("a message names its member; a peer that has come back is another one")
  func members() async throws {
    try await NodePair.run { pair in
      var seen: [Member] = []
      for _ in 0..<2 {
        let (onClient, onServer) = try await pair.connect()
        try await onClient.send([1])
        let message = try #require(await pair.server.session.messages.first())
        #expect(message.member == onServer && pair.server.session[onClient.id] == nil)
        #expect(pair.server.session[onServer.id] == onServer)
        seen.append(message.member)
        await onClient.disconnect()
        for await change in pair.server.session.membership { if case .left(onServer, _) = change { break } }
        #expect(pair.server.session[onServer.id] == nil)
      }
      #expect(seen[0] != seen[1] && seen[0].id == seen[1].id)
    }
  }

  @Test("offers and streams stand between the messages that came before and after them")
  func order() async throws {
    try await NodePair.run { pair in
      let (onClient, _) = try await pair.connect()
      try await onClient.send([1])
      let stream = try await onClient.openStream(named: "notes")
      try await onClient.send([2])
      let transfer = try await onClient.startSending(.bytes([9], named: "picture"))
      try await onClient.send([3])
      var words: [String] = []
      for await event in pair.server.session.events {
        switch event {
        case .joined: words.append("joined")
        case .message(let message): words.append("message \(message.bytes[message.bytes.startIndex])")
        case .stream(let stream):
          words.append("stream \(stream.name)")
          #expect(stream.member.id == pair.client.id)
        case .offer(let offer):
          words.append("offer \(offer.displayName)")
          #expect(offer.member.id == pair.client.id)
          await offer.decline(.notWanted)
        case .left, .suspended, .moved, .resumed: words.append("\(event)")
        }
        if words.count == 6 { break }
      }
      // Messages keep their order among each other; what else is sent may come between them.
      #expect(words.first == "joined")
      #expect(words.filter { $0.hasPrefix("message") } == ["message 1", "message 2", "message 3"])
      #expect(words.contains("stream notes") && words.contains("offer picture"))
      #expect(await failure { try await transfer.result }?.code == .notWanted)
      stream.cancel()
    }
  }
}
