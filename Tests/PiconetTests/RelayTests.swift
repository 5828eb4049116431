import Foundation
import Piconet
import Synchronization
import Testing

/// No member is told the addresses of this very device, so on loopback two members of a relay find no other way to
/// each other.
@Suite("Members that are reached over others", .timeLimit(.minutes(15)))
struct RelayTests {
  /// A row of nodes, each of which has been invited by the one before it, and by no other.
  private func run(
    _ count: Int, relaying: RelayQuotas? = RelayQuotas(), in session: String = UUID().uuidString,
    membership: SessionMembership = .group, introductions: IntroductionPolicy = .takeWord,
    removals: RemovalPolicy = .introducers, compare: (@Sendable (Member, String) async -> Bool)? = nil,
    behind nodes: [Node] = [], _ body: @escaping @Sendable ([Node]) async throws -> Void
  ) async throws {
    if nodes.count == count { return try await body(nodes) }
    var configuration = NodeConfiguration(sessionID: session, name: "Node \(nodes.count)")
    configuration.discovers = false
    configuration.listen = "127.0.0.1:0"
    configuration.transports = [.tcp, .relay]
    configuration.membership = membership
    configuration.introductions = introductions
    configuration.relaying = relaying
    configuration.removals = removals
    configuration.compare = compare
    try await Node.run(configuration) { node in
      try await node.setAvailable(true)
      if let former = nodes.last {
        async let accepted = node.invitations.first()?.accept()
        _ = try await former.invite(at: try #require(await node.listeningAddresses.first).text)
        _ = try await accepted
      }
      try await run(
        count, relaying: relaying, in: session, membership: membership, introductions: introductions,
        removals: removals, compare: compare, behind: nodes + [node], body)
    }
  }

  private func member(_ other: Node, of node: Node) async throws -> Member {
    var changes = node.session.membership.makeAsyncIterator()
    repeat {
      if let member = node.session[other.id] { return member }
    } while await changes.next() != nil
    throw PiconetError(.left, blame: .us)
  }

  @Test("two who have only a third one in common exchange messages, streams and files over it")
  func three() async throws {
    try await run(3) { nodes in
      let (one, relay, other) = (nodes[0], nodes[1], nodes[2])
      let far = try await member(other, of: one)
      let near = try await member(one, of: other)
      #expect(far.transport == .relay && far.route?.relays == [relay.id] && far.route?.relayCount == 1)
      #expect(near.route?.relays == [relay.id] && near.route?.isDirect == false)
      #expect(one.session[relay.id]?.route?.isDirect == true)
      #expect(far.proven.introducedBy == relay.id)

      for number in 0..<200 as Range<UInt8> { try await far.send([number]) }
      var numbers: [UInt8] = []
      for await message in other.session.messages {
        numbers += message.bytes
        if numbers.count == 200 { break }
      }
      #expect(numbers == Array(0..<200))

      let whole = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7919 >> 3) }
      async let offer = one.session.offers.first()
      let sending = Task { try await near.send(.bytes(whole, named: "photo")) }
      let received = try await #require(offer).read(upTo: 1 << 22)
      #expect(received.bytes == whole)
      _ = try await sending.value

      async let incoming = one.session.streams.first()
      let stream = try await near.openStream(named: "journal")
      let writing = Task {
        try await stream.write(whole)
        try await stream.finish()
      }
      let reading = try await #require(incoming)
      var count = 0
      while let bytes = try await reading.read(upTo: 1 << 16) { count += bytes.count }
      #expect(count == whole.count)
      try await writing.value
    }
  }

  @Test("two who have only a third one in common compare a code over it, each with the other and not with the relay")
  func compared() async throws {
    let codes = Mutex<[String]>([])
    try await run(
      3,
      compare: { _, code in
        codes.withLock { $0.append(code) }; return true
      }
    ) { nodes in
      let (one, relay, other) = (nodes[0], nodes[1], nodes[2])
      let far = try await member(other, of: one)
      let near = try await member(one, of: other)
      #expect(far.route?.relays == [relay.id] && far.confirmation == .introduced(by: relay.id))
      try await far.compareCodes()
      #expect(far.confirmation == .comparedCode)
      // The other side is confirmed as soon as this one's word is there.
      #expect(await other.session.comparisons.first()?.failure == nil)
      #expect(near.confirmation == .comparedCode)
      let shown = codes.withLock { $0 }
      #expect(shown.count == 2 && Set(shown).count == 1)
      #expect(one.session[relay.id]?.confirmation == MemberConfirmation.none)
    }
  }

  @Test("one that an introduction has shown is invited over the relay, with a context and a code, and a person decides")
  func invited() async throws {
    try await run(3, membership: .pairs, introductions: .show) { nodes in
      let (one, relay, other) = (nodes[0], nodes[1], nodes[2])
      let members = [try await member(one, of: relay), try await member(other, of: relay)]
      let introducing = Task { try await relay.session.introduce(members[0], to: members[1], timeout: .seconds(300)) }
      let shown = try #require(await one.session.introductions.first()).asPeer
      #expect(shown.id == other.id && shown.name == "Node 2" && shown.addresses.isEmpty)
      async let invitation = other.invitations.first()
      async let accepted = one.invite(shown, context: [1, 2, 3], timeout: .seconds(120))
      let asked = try #require(await invitation)
      #expect(asked.context == [1, 2, 3] && asked.peer.id == one.id && asked.peer.transport == .relay)
      _ = try await asked.accept()
      let far = try await accepted
      #expect(far.route?.relays == [relay.id] && far.proven.introducedBy == nil)
      try await introducing.value
    }
  }

  @Test("over two relays, and over three, each of whose links lies in those of the ones before")
  func row() async throws {
    try await run(5) { nodes in
      let far = try await member(nodes[4], of: nodes[0])
      let near = try await member(nodes[0], of: nodes[4])
      #expect(far.route?.relayCount == 3 && near.route?.relayCount == 3)
      try await far.send([1, 2, 3])
      #expect(await nodes[4].session.messages.first()?.bytes == [1, 2, 3])
      for (index, node) in nodes.enumerated() {
        for (place, other) in nodes.enumerated() where place != index {
          let member = try await member(other, of: node)
          #expect(member.route?.relayCount == abs(place - index) - 1)
        }
      }
    }
  }

  @Test("a node that does not relay brings no members together")
  func none() async throws {
    try await run(3, relaying: nil) { nodes in
      let two = [try #require(nodes[1].session[nodes[0].id]), try #require(nodes[1].session[nodes[2].id])]
      let error = await failure {
        try await nodes[1].session.introduce(two[0], to: two[1], timeout: .seconds(1))
      }
      #expect(error != nil)
      #expect(nodes[0].session[nodes[2].id] == nil)
    }
  }

  /// Why a node is no member of another one any more.
  private func ending(of other: Node, at node: Node) async -> PiconetError? {
    for await case .left(let member, let error) in node.session.membership where member.id == other.id { return error }
    return nil
  }

  @Test("a node that leaves all, in a row of five, first leaves the members that it reaches over others")
  func leavesAll() async throws {
    try await run(5) { nodes in
      let others = nodes.dropFirst()
      for other in others {
        _ = try await member(other, of: nodes[0])
        _ = try await member(nodes[0], of: other)
      }
      async let endings = withTaskGroup(of: PiconetError?.self) { group in
        for other in others { group.addTask { await ending(of: nodes[0], at: other) } }
        return await group.reduce(into: []) { $0.append($1) }
      }
      await nodes[0].session.disconnectAll()
      let codes = await endings.map { $0?.code }
      #expect(codes == [.left, .left, .left, .left])
    }
  }

  @Test("when a relay removes one of two members, each of them loses the other")
  func removedByRelay() async throws {
    try await run(3, removals: .members) { nodes in
      let (one, relay, other) = (nodes[0], nodes[1], nodes[2])
      _ = try await member(one, of: other)
      _ = try await member(other, of: one)
      async let here = ending(of: other, at: one)
      async let there = ending(of: one, at: other)
      try await relay.session.remove(try await member(other, of: relay))
      let (kept, gone) = await (here, there)
      #expect(kept?.code == .removed && kept?.removedBy == relay.id)
      // It leaves the other one by itself: the goodbyes between the two went over the relay that has left it.
      #expect(gone?.code == .left)
    }
  }

  @Test("when the relay leaves, what it carried is suspended, and another relay takes over")
  func second() async throws {
    let session = UUID().uuidString
    try await run(3, in: session) { nodes in
      let (one, relay, other) = (nodes[0], nodes[1], nodes[2])
      let far = try await member(other, of: one)
      var configuration = NodeConfiguration(sessionID: session, name: "Second")
      configuration.discovers = false
      configuration.listen = "127.0.0.1:0"
      configuration.transports = [.tcp, .relay]
      configuration.relaying = RelayQuotas()
      try await Node.run(configuration) { second in
        for node in [one, other] {
          async let accepted = node.invitations.first()?.accept()
          _ = try await second.invite(at: try #require(await node.listeningAddresses.first).text)
          _ = try await accepted
        }
        var changes = one.session.membership.makeAsyncIterator()
        await relay.stop()
        while far.route?.relays != [second.id], await changes.next() != nil {}
        #expect(far.transport == .relay && far.route?.relayCount == 1)
        try await far.send([9])
        #expect(await other.session.messages.first()?.bytes == [9])
      }
    }
  }

  @Test("a member over a relay moves to a direct link once there is one; questions and answers come once, and in order")
  func direct() async throws {
    var configuration = NodeConfiguration(sessionID: UUID().uuidString, name: "One of three")
    configuration.listen = "127.0.0.1:0"
    configuration.interfaces = ["lo"]
    configuration.transports = [.tcp, .relay]
    configuration.membership = .group
    configuration.introductions = .takeWord
    let hidden = configuration
    configuration.relaying = RelayQuotas()
    try await Node.run(configuration) { relay in
      try await relay.setAvailable(true)
      let address = try #require(await relay.listeningAddresses.first).text
      let accepting = Task { for await invitation in relay.invitations { _ = try? await invitation.accept() } }
      // The two hide, so discovery sees neither.
      try await Node.run(hidden) { one in
        _ = try await one.invite(at: address)
        try await Node.run(hidden) { other in
          _ = try await other.invite(at: address)
          let (far, near) = try (await member(other, of: one), await member(one, of: other))
          #expect(far.route?.relays == [relay.id] && near.route?.relays == [relay.id])
          // One question after the other, each with its number, until both have moved, and a thousand more.
          let answering = Task {
            for await message in other.session.messages {
              try await near.send(Array(message.bytes))
              if message.bytes.isEmpty { break }
            }
          }
          for node in [one, other] { try await node.setAvailable(true) }
          var answers = one.session.messages.makeAsyncIterator()
          var (number, left) = (0, 1_000)
          while left > 0 {
            number += 1
            if far.transport == .tcp, near.transport == .tcp { left -= 1 }
            let question = [UInt8(number & 255), UInt8(number >> 8 & 255), UInt8(number >> 16 & 255)]
            try await far.send(question)
            #expect(await answers.next()?.bytes.elementsEqual(question) == true)
          }
          try await far.send([])
          #expect(await answers.next()?.bytes.isEmpty == true)
          try await answering.value
          #expect([far, near].allSatisfy { $0.transport == .tcp && $0.route?.isDirect == true })
        }
      }
      accepting.cancel()
      await accepting.value
    }
  }
}
