import PiconetActors
import PiconetEngine
import TestSupport
import Testing

@testable import Piconet

extension SessionSuite {
  /// Two transports at once: the simulated one and TCP.
  @Suite("From one transport to another", .timeLimit(.minutes(15)))
  struct FailoverTests {
    /// TCP first; the simulated transport beside it.
    private func both(_ configuration: inout NodeConfiguration) {
      configuration.transports = [.tcp, .simulated]
      configuration.listen = "127.0.0.1:0"
      configuration.interfaces = ["lo"]
    }

    @Test("when TCP is gone messages go on over another transport, and nothing is lost")
    func overToAnother() async throws {
      try await SuiteWorld.run(.simulated) { world in
        let blind: @Sendable (inout NodeConfiguration) -> Void = {
          both(&$0)
          $0.discovers = false
        }
        try await world.pair(server: blind, client: blind) { pair in
          let (relay, onClient, onServer) = try await overTCP(pair)
          defer { relay.close() }
          let (cut, tellCut) = AsyncStream.makeStream(of: Void.self)
          let sending = Task {
            for number in 0..<2_000 {
              // Some messages are on their way when TCP goes, and the rest are sent while it is gone.
              if number == 500 { for await _ in cut { break } }
              try await onClient.send([UInt8(number & 255), 1, 2])
            }
          }
          var came = 0
          for await message in pair.server.session.messages {
            #expect(message.bytes.first == UInt8(came & 255))
            came += 1
            if came == 300 {
              relay.close()
              tellCut.yield()
            }
            if came == 2_000 { break }
          }
          try await sending.value
          #expect(came == 2_000)
          try await world.until("both have changed over") {
            onClient.transport == .simulated && onServer.transport == .simulated
          }
        }
      }
    }

    @Test("a call under way is answered over another transport when TCP is gone, and one over TCP when that is back")
    func calls() async throws {
      try await SuiteWorld.run(.simulated) { world in
        try await world.pair(server: both, client: both) { pair in
          let (relay, onClient, onServer) = try await overTCP(pair)
          defer { relay.close() }
          try await ErrandPair.run(onClient, of: pair.client, onServer, of: pair.server) { errands in
            let first = await errands.heldCall()
            relay.close()
            #expect(try await errands.errand.join("over ", "whatever") == "over whatever")
            try await world.until("both have gone over") {
              onClient.transport == .simulated && onServer.transport == .simulated
            }
            errands.giveLeave(with: 1)
            #expect(try await first.value == 1)
            let second = await errands.heldCall()
            // TCP is seen again, where no relay is in between.
            try await pair.client.setAvailable(true)
            try await world.until("it is back") { onClient.transport == .tcp && onServer.transport == .tcp }
            errands.giveLeave(with: 2)
            #expect(try await second.value == 2)
            #expect(try await errands.errand.join("a", "b") == "ab")
          }
        }
      }
    }

    @Test("a search for objects over chosen transports finds those that can be reached by them, and no others")
    func masked() async throws {
      try await SuiteWorld.run(.simulated) { world in
        func offering(_ transports: Set<TransportKind>?) -> (inout NodeConfiguration) -> Void {
          { configuration in
            both(&configuration)
            configuration.apply(SessionOptions(.messages, transports: transports))
            // Beside the transports that a program chooses among.
            if transports == [.tcp] { configuration.additional = nil }
          }
        }
        try await world.node(0, "TCP", offering([.tcp])) { overTCP in
          try await world.node(1, "Simulated", offering([.simulated])) { simulated in
            try await world.node(2, "Client", offering(nil)) { client in
              for node in [overTCP, simulated] {
                try await node.advertise(Advertisement(names: ["suite.\(node.name)"], interfaces: ["suite.errand"]))
                try await node.setAvailable(true)
              }
              var masked = client.advertisers(ofNamesBeginning: "suite.", over: [.simulated]).makeAsyncIterator()
              let all = client.advertisers(ofNamesBeginning: "suite.")
              try await client.setAvailable(true)
              var names: Set<String> = []
              for await case .found(let peer, let name) in all {
                names.insert(name)
                #expect(peer.addresses.allSatisfy { $0.kind == (name == "suite.TCP" ? .tcp : .simulated) })
                if names.count == 2 { break }
              }
              // Both are seen by now; a change of each, that of the one over TCP first.
              for node in [overTCP, simulated] {
                try await node.advertise(Advertisement(names: ["suite.\(node.name).2"]))
              }
              var changes: [String] = []
              while changes.count < 3, let change = await masked.next() {
                if case .found(_, let name) = change { changes.append("found \(name)") }
                if case .lost(_, let name) = change { changes.append("lost \(name)") }
              }
              #expect(changes == ["found suite.Simulated", "lost suite.Simulated", "found suite.Simulated.2"])
            }
          }
        }
      }
    }

    @Test("a member moves to the better transport when it is seen")
    func up() async throws { try await moves(isAllowed: true) }

    @Test("a member stays where it is when moving is forbidden")
    func forbidden() async throws { try await moves(isAllowed: false) }

    private func moves(isAllowed: Bool) async throws {
      try await SuiteWorld.run(.simulated) { world in
        let moving: @Sendable (inout NodeConfiguration) -> Void = {
          both(&$0)
          $0.movesBetweenTransports = isAllowed
        }
        try await world.pair(server: moving, client: moving) { pair in
          let simulated = await pair.server.listeningAddresses.filter { $0.kind == .simulated }
          async let accepted = pair.server.invitations.first()?.accept()
          let onClient = try await pair.client.invite(at: simulated)
          let onServer = try #require(try await accepted)
          let sending = Task { for number in 0..<20_000 { try await onClient.send([UInt8(number & 255), 1, 2]) } }
          try await pair.client.setAvailable(true)
          if isAllowed {
            try await world.until("it has moved") { onClient.transport == .tcp && onServer.transport == .tcp }
          }
          var came = 0
          for await message in pair.server.session.messages {
            #expect(message.bytes.first == UInt8(came & 255))
            came += 1
            if came == 20_000 { break }
          }
          try await sending.value
          if !isAllowed { #expect(onClient.transport == .simulated) }
        }
      }
    }

    /// Connects the two over TCP, through a relay.
    private func overTCP(_ pair: SuitePair) async throws -> (Relay, onClient: Member, onServer: Member) {
      let (relay, addresses) = try await relayed(pair)
      async let accepted = pair.server.invitations.first()?.accept()
      let onClient = try await pair.client.invite(at: addresses)
      let onServer = try #require(try await accepted)
      #expect(onClient.transport == .tcp && onServer.transport == .tcp)
      return (relay, onClient, onServer)
    }

    /// The server's addresses, TCP's behind a relay.
    private func relayed(_ pair: SuitePair) async throws -> (Relay, [TransportAddress]) {
      let addresses = await pair.server.listeningAddresses
      let tcp = try #require(addresses.first { $0.kind == .tcp })
      let port = try #require(tcp.text.split(separator: ":").last.flatMap { UInt16($0) })
      let relay = try Relay(to: port)
      return (
        relay,
        [TransportAddress(kind: .tcp, text: relay.address)] + addresses.filter { $0.kind == .simulated }
      )
    }
  }
}
