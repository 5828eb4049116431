import PiconetEngine
import PiconetRuntime
import PiconetWire
import Testing

@testable import Piconet

extension SessionSuite {
  @Suite("Groups and broken rules", .timeLimit(.minutes(15)))
  struct GroupTests {
    @Test(
      "a removed member leaves the whole group; all are told which member removed it", arguments: SuiteTransport.ofThree
    )
    func removed(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.group(server: { $0.removals = .members }) { pair, third in
          let member = try #require(pair.client.session.members.first { $0.id == third.id })
          try await pair.client.session.remove(member)
          #expect(await failure { try await member.send([1]) }?.code == .removed)
          for (node, blame) in [(pair.client, Blame.nobody), (pair.server, .nobody)] {
            let error = await node.session.nextDeparture()
            #expect(error?.code == .removed && error?.blame == blame, "\(String(describing: error))")
            #expect(error?.peer == third.id && error?.removedBy == pair.client.id)
          }
          for _ in 0..<2 {
            let error = await third.session.nextDeparture()
            #expect(error?.code == .removed && error?.blame == .peer, "\(String(describing: error))")
            #expect(error?.removedBy == pair.client.id)
          }
          #expect(third.session.members.isEmpty)
          // The others stay together.
          try await pair.client.session.send([7])
          #expect(await pair.server.session.messages.first()?.bytes == [7])
          #expect(await failure { try await pair.client.session.remove(member) }?.code == .notConnected)
        }
      }
    }

    @Test("a node that allows no removal keeps a member that another one removes", arguments: SuiteTransport.ofThree)
    func removalNotAllowed(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.group(server: { $0.removals = .nobody }) { pair, third in
          let member = try #require(pair.client.session.members.first { $0.id == third.id })
          try await pair.client.session.remove(member)
          #expect(await third.session.nextDeparture()?.removedBy == pair.client.id)
          // It is sent after the request: once it is there, the request has been heard.
          try await pair.client.session.send([7])
          #expect(await pair.server.session.messages.first()?.bytes == [7])
          try await pair.server.session.send([8], to: pair.server.session.members.filter { $0.id == third.id })
          #expect(await third.session.messages.first()?.bytes == [8])
        }
      }
    }

    @Test(
      "two members that have never met are introduced by the third: both have its word for one another, and talk",
      arguments: SuiteTransport.ofThree)
    func introduced(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair(client: { $0.introductions = .takeWord }) { pair in
          _ = try await pair.connect()
          try await pair.client.setAvailable(true)
          try await world.node(2, "Third", { $0.introductions = .takeWord }) { third in
            async let accepted = pair.server.invitations.first()?.accept()
            _ = try await third.invite(at: pair.addresses(), timeout: transport.patience)
            _ = try await accepted
            try await third.setAvailable(true)
            _ = try await world.addresses(of: third)
            let (one, other) = try (
              #require(pair.server.session[pair.client.id]), #require(pair.server.session[third.id])
            )
            try await pair.server.session.introduce(one, to: other, timeout: transport.patience)
            let (there, here) = try (
              #require(pair.client.session[third.id]), #require(third.session[pair.client.id])
            )
            #expect(there.proven.introducedBy == pair.server.id && here.proven.introducedBy == pair.server.id)
            try await there.send([1])
            #expect(await third.session.messages.first()?.bytes == [1])
          }
        }
      }
    }

    @Test(
      "in a group who joins one joins all, and a message to all reaches all", arguments: SuiteTransport.ofThree)
    func joinsAll(over transport: SuiteTransport) async throws {
      @Sendable func isGroup(_ configuration: inout NodeConfiguration) {
        configuration.membership = .group
        configuration.introductions = .takeWord
      }
      try await SuiteWorld.run(transport) { world in
        try await world.pair(server: isGroup, client: isGroup) { pair in
          _ = try await pair.connect()
          try await pair.client.setAvailable(true)
          try await world.node(2, "Third", isGroup) { third in
            try await third.setAvailable(true)
            _ = try await world.addresses(of: third)
            async let accepted = pair.server.invitations.first()?.accept()
            _ = try await third.invite(at: pair.addresses(), timeout: transport.patience)
            _ = try await accepted
            for (node, other) in [(third, pair.client), (pair.client, third)] where node.session[other.id] == nil {
              for await case .joined(let member) in node.session.membership where member.id == other.id { break }
            }
            try await third.session.send([3])
            for node in [pair.client, pair.server] { #expect(await node.session.messages.first()?.bytes == [3]) }
          }
        }
      }
    }

    @Test("a node that leaves all is left by all, and can connect again", arguments: SuiteTransport.ofThree)
    func leavesAll(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.group { pair, third in
          await pair.server.session.disconnectAll()
          #expect(pair.server.session.members.isEmpty)
          for node in [pair.client, third] {
            let error = await node.session.nextDeparture()
            #expect(error?.code == .left && error?.blame == .peer && error?.peer == pair.server.id)
            #expect(node.session.members.count == 1)
          }
          _ = try await pair.connect()
        }
      }
    }

    @Test(
      "a message to all does not wait at the others for a member that reads nothing", arguments: SuiteTransport.ofThree)
    func slowMember(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.group { pair, third in
          let members = pair.client.session.members
          let slow = try #require(members.first { $0.id == third.id })
          let (task, _) = sendUntilItWaits(slow, size: 50_000)
          try await world.until("the slow one is full") { slow.budgets[0].waitingCount > 0 }
          let toAll = Task { try await pair.client.session.send([9]) }
          #expect(await pair.server.session.messages.first()?.bytes == [9])
          await slow.disconnect()
          // For a message to all it is no error if one of them leaves meanwhile.
          try await toAll.value
          _ = await task.value
        }
      }
    }

    @Test(
      "a member that breaks the protocol is left at once; both know whose fault it was", arguments: SuiteTransport.all)
    func broken(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair(client: { $0.messageLimit = 1_000 }) { pair in
          let tooLong = FrameEncoder.encode(.message([UInt8](repeating: 1, count: 1_001)[...]))
          let tooLongUnreliable = FrameEncoder.encode(
            .unreliableMessage(number: 9, [UInt8](repeating: 1, count: 1_001)[...]))
          let rounds: [([UInt8], PiconetError.Code)] = [
            ([0x3F, 0], .protocolBroken), (tooLong, .limitExceeded), (tooLongUnreliable, .limitExceeded),
          ]
          for (link, (bytes, code)) in rounds.enumerated() {
            _ = try await pair.connect()
            // As if the server had sent it.
            pair.client.core.submit(.fact(.received(LinkID(rawValue: UInt64(link + 1)), bytes[...])))
            let onClient = await pair.client.session.nextDeparture()
            #expect(onClient?.code == code && onClient?.blame == .peer, "\(String(describing: onClient))")
            let onServer = await pair.server.session.nextDeparture()
            #expect(onServer?.code == code && onServer?.blame == .us, "\(String(describing: onServer))")
          }
          _ = try await pair.connect()
        }
      }
    }
  }
}

extension SuiteWorld {
  /// A server with two members, which are also members of each other's session.
  func group<Value>(
    server change: (inout NodeConfiguration) -> Void = { _ in }, _ body: (SuitePair, Node) async throws -> Value
  ) async throws -> Value {
    try await pair(server: change) { pair in
      _ = try await pair.connect()
      return try await node(2, "Third") { third in
        async let accepted = pair.server.invitations.first()?.accept()
        _ = try await third.invite(at: pair.addresses(), timeout: transport.patience)
        _ = try await accepted
        try await third.setAvailable(true)
        let addresses = try await addresses(of: third)
        async let acceptedByThird = third.invitations.first()?.accept()
        _ = try await pair.client.invite(at: addresses, timeout: transport.patience)
        _ = try await acceptedByThird
        return try await body(pair, third)
      }
    }
  }
}
