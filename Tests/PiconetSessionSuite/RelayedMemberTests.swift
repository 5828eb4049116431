import PiconetEngine
import TestSupport
import Testing

@testable import Piconet

extension SessionSuite {
  /// One node has the transport alone, another one TCP alone, and relays have both. No member is told the addresses of
  /// this very device, so the two find no other way to each other over TCP either.
  @Suite("Members over a relay", .timeLimit(.minutes(15)))
  struct RelayedMemberTests {
    private func isGroup(_ transports: [TransportKind]) -> (inout NodeConfiguration) -> Void {
      { configuration in
        configuration.transports = transports + [.relay]
        configuration.discovers = false
        configuration.listen = "127.0.0.1:0"
        configuration.interfaces = ["lo"]
        configuration.membership = .group
        configuration.introductions = .takeWord
      }
    }

    private func relay<Value>(
      _ world: SuiteWorld, _ place: Int, _ name: String, membership: SessionMembership = .pairs,
      _ body: (Node) async throws -> Value
    ) async throws -> Value {
      let change: (inout NodeConfiguration) -> Void = { configuration in
        isGroup(world.transport.kind == .tcp ? [.tcp] : [.tcp, world.transport.kind])(&configuration)
        configuration.membership = membership
        configuration.relaying = RelayQuotas()
        // Over Bluetooth an adapter answers only while it is discoverable.
        configuration.discovers = true
      }
      return try await world.node(place, name, change) { relay in
        try await relay.setAvailable(true)
        return try await body(relay)
      }
    }

    /// A node becomes a member of a relay over one transport.
    private func join(_ relay: Node, by node: Node, over kind: TransportKind, _ world: SuiteWorld) async throws {
      var addresses: [TransportAddress] = []
      try await world.until("the relay listens") {
        addresses = await relay.listeningAddresses.filter { $0.kind == kind }
        return !addresses.isEmpty
      }
      if kind == world.transport.kind { try await world.untilAnswered(addresses) }
      async let accepted = relay.invitations.first()?.accept()
      _ = try await node.invite(at: addresses, timeout: world.transport.patience)
      _ = try await accepted
    }

    private func member(_ other: Node, of node: Node, _ world: SuiteWorld) async throws -> Member {
      try await world.until("it is introduced") { node.session[other.id] != nil }
      return try #require(node.session[other.id])
    }

    @Test(
      "two without a common transport exchange messages, a stream and a file over one that has both, and name it",
      arguments: SuiteTransport.all)
    func reached(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await relay(world, 0, "Relay", membership: .group) { relay in
          try await world.node(1, "One", isGroup([transport.kind])) { one in
            try await join(relay, by: one, over: transport.kind, world)
            try await world.node(2, "Other", isGroup([.tcp])) { other in
              try await join(relay, by: other, over: .tcp, world)
              let (far, near) = try (await member(other, of: one, world), await member(one, of: other, world))
              for member in [far, near] {
                #expect(member.transport == .relay && member.route?.relays == [relay.id])
                #expect(member.proven.introducedBy == relay.id)
              }
              let count = UInt8(transport.amount(100))
              for number in 0..<count {
                try await far.send([number])
                try await near.send([number, number])
              }
              for (node, length) in [(other, 1), (one, 2)] {
                var numbers: [[UInt8]] = []
                for await message in node.session.messages {
                  numbers.append(Array(message.bytes))
                  if numbers.count == Int(count) { break }
                }
                #expect(numbers == (0..<count).map { [UInt8](repeating: $0, count: length) })
              }
              let seen = try #require(await one.session.statistics(for: far))
              #expect(seen.transport == .relay && seen.sent.messages.frames == UInt64(count))
              #expect(seen.received.messages.frames == UInt64(count) && seen.sent.messages.bytes > UInt64(count))
              let whole = (0..<transport.amount(1_000_000)).map { UInt8(truncatingIfNeeded: $0 &* 7919 >> 3) }
              async let offer = one.session.offers.first()
              async let sent: Void = { _ = try await near.send(.bytes(whole, named: "photo")) }()
              #expect(try await #require(offer).read(upTo: 1 << 21).bytes == whole)
              try await sent
              async let incoming = other.session.streams.first()
              let stream = try await far.openStream(named: "journal")
              async let written: Void = {
                try await stream.write(whole)
                try await stream.finish()
              }()
              let reading = try #require(await incoming)
              var read: [UInt8] = []
              while let bytes = try await reading.read(upTo: 1 << 16) { read += bytes }
              #expect(read == whole)
              try await written
            }
          }
        }
      }
    }

    @Test(
      "when the relay stops, messages both ways go on over another one, each once", arguments: SuiteTransport.ofThree)
    func takenOver(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        // Over Bluetooth there are three adapters, and the one with TCP alone needs none.
        try await relay(world, 0, "Relay") { relay in
          try await self.relay(world, 2, "Second") { second in
            try await world.node(1, "One", isPair([transport.kind])) { one in
              try await world.node(3, "Other", isPair([.tcp])) { other in
                for place in [relay, second] {
                  try await join(place, by: one, over: transport.kind, world)
                  try await join(place, by: other, over: .tcp, world)
                }
                // Only who has introduced the two is asked for a way between them.
                for place in [relay, second] {
                  let (here, there) = try (#require(place.session[one.id]), #require(place.session[other.id]))
                  try await place.session.introduce(here, to: there, timeout: transport.patience)
                }
                let (far, near) = try (await member(other, of: one, world), await member(one, of: other, world))
                #expect(far.route?.relays == [relay.id] && near.route?.relays == [relay.id])
                let count = UInt8(transport.amount(100))
                for number in 0..<count {
                  try await far.send([number])
                  try await near.send([number])
                  if number == count / 2 { await relay.stop() }
                }
                for node in [one, other] {
                  var numbers: [UInt8] = []
                  for await message in node.session.messages {
                    numbers += message.bytes
                    if numbers.count == Int(count) { break }
                  }
                  #expect(numbers == Array(0..<count))
                }
                #expect(far.transport == .relay && far.route?.relays == [second.id])
                #expect(near.transport == .relay && near.route?.relays == [second.id])
              }
            }
          }
        }
      }
    }

    @Test(
      "two over a relay compare codes with each other, and not with the relay: both are confirmed by more than its word",
      arguments: SuiteTransport.all)
    func compared(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        let screens = Screens()
        func comparing(_ name: String, _ kind: TransportKind) -> (inout NodeConfiguration) -> Void {
          { configuration in
            isGroup([kind])(&configuration)
            screens.agree(name)(&configuration)
          }
        }
        try await relay(world, 0, "Relay", membership: .group) { relay in
          try await world.node(1, "One", comparing("One", transport.kind)) { one in
            try await join(relay, by: one, over: transport.kind, world)
            try await world.node(2, "Other", comparing("Other", .tcp)) { other in
              try await join(relay, by: other, over: .tcp, world)
              let (far, near) = try (await member(other, of: one, world), await member(one, of: other, world))
              for member in [far, near] {
                #expect(member.route?.relays == [relay.id] && member.confirmation == .introduced(by: relay.id))
              }
              try await far.compareCodes(timeout: transport.patience)
              let end = try #require(await other.session.comparisons.first())
              #expect(end.member == near && end.failure == nil)
              for member in [far, near] { #expect(member.confirmation == .comparedCode) }
              try screens.expectSame(on: "One", "Other")
              #expect(one.session[relay.id]?.confirmation == MemberConfirmation.none)
            }
          }
        }
      }
    }

    /// Members that are introduced by hand alone.
    private func isPair(_ transports: [TransportKind]) -> (inout NodeConfiguration) -> Void {
      { configuration in
        isGroup(transports)(&configuration)
        configuration.membership = .pairs
      }
    }
  }
}
