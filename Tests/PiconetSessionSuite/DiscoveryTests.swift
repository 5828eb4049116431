import PiconetEngine
import TestSupport
import Testing

@testable import Piconet

extension SessionSuite {
  @Suite(
    "Discovery", .timeLimit(.minutes(15)),
    .machine("--adapters 3 --env PICONET_SUITE=le", or: .anywhere))
  struct DiscoveryTests {
    @Test(
      "a peer is found with its name and info, invited from the list, and lost when it hides",
      arguments: SuiteTransport.all)
    func found(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        let info = ["role": "host", "level": "3"]
        try await world.pair(
          server: {
            $0.mode = .server
            $0.discoveryInfo = info
          }, client: { $0.mode = .client }
        ) { pair in
          try await pair.client.setAvailable(true)
          let peer = try #require(await world.sees(pair.client, pair.server))
          #expect(peer.name == "Server")
          #expect(peer.info == info)
          async let accepted = pair.server.invitations.first()?.accept()
          let member = try await pair.client.invite(peer, timeout: transport.patience)
          #expect(member.id == pair.server.id)
          #expect(member.proven.transport == transport.kind)
          _ = try await accepted
          try await pair.server.setAvailable(false)
          try await world.seesNobody(pair.client)
          // Hiding leaves connections alone.
          try await member.send([1])
          #expect(await pair.server.session.messages.first()?.bytes == [1])
        }
      }
    }

    @Test(
      "a node that searches sees changes of another's info and name, and one that connects hears the new name",
      arguments: SuiteTransport.all)
    func changed(over transport: SuiteTransport) async throws {
      // Over Bluetooth a device is asked again after 20 s, and this test needs that twice.
      let patience = transport.forgetting
      try await SuiteWorld.run(transport, limit: transport.testLimit + patience) { world in
        try await world.pair(server: { $0.mode = .server }, client: { $0.mode = .client }) { pair in
          #expect(await failure { try await pair.server.setDiscoveryInfo(["=": ""]) }?.code == .invalidArgument)
          #expect(await failure { try await pair.server.setName("") }?.code == .invalidArgument)
          try await pair.client.setAvailable(true)
          let first = try #require(await world.sees(pair.client, pair.server))
          #expect(first.info.isEmpty && first.name == "Server")
          let info = ["level": "4"]
          try await pair.server.setDiscoveryInfo(info)
          try await pair.server.setName("Renamed")
          #expect(pair.server.name == "Renamed" && pair.server.discoveryInfo == info)
          let peers = try await world.peers(of: pair.client, "the new name and info", patience: patience) {
            $0.contains { $0.name == "Renamed" && $0.info == info }
          }
          async let accepted = pair.server.invitations.first()?.accept()
          let peer = try #require(peers.first { $0.id == pair.server.id })
          let none = await failure { try await pair.client.invite(peer, transports: []) }
          #expect(none?.code == .invalidArgument, "\(String(describing: none))")
          let member = try await pair.client.invite(peer, timeout: transport.patience, transports: [transport.kind])
          #expect(member.name == "Renamed" && member.proven.transport == transport.kind)
          _ = try await accepted
          // Shown again after it was hidden, it has what was changed meanwhile.
          try await pair.server.setAvailable(false)
          // Over the air a peer that is gone is forgotten later.
          if !transport.usesBluetooth { try await world.seesNobody(pair.client) }
          try await pair.server.setDiscoveryInfo([:])
          try await pair.server.setAvailable(true)
          _ = try await world.peers(of: pair.client, "no info", patience: patience) {
            $0.contains { $0.info.isEmpty }
          }
        }
      }
    }

    @Test("a node that searches before any peer is there finds one that comes later", arguments: SuiteTransport.all)
    func late(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.node(1, "Client", { $0.mode = .client }) { client in
          try await client.setAvailable(true)
          #expect(client.currentPeers.isEmpty)
          try await world.node(0, "Server", { $0.mode = .server }) { server in
            try await server.setAvailable(true)
            _ = try #require(await world.sees(client, server))
          }
          try await world.seesNobody(client)
        }
      }
    }

    @Test(
      "two nodes that advertise and search find each other, and no node of another session",
      arguments: SuiteTransport.all)
    func mutual(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.node(0, "Stranger", { $0.sessionID += "-other" }) { stranger in
          try await stranger.setAvailable(true)
          try await world.node(0, "Left") { left in
            try await world.node(1, "Right") { right in
              try await left.setAvailable(true)
              try await right.setAvailable(true)
              _ = try #require(await world.sees(right, left))
              _ = try #require(await world.sees(left, right))
              #expect(left.currentPeers.map(\.id) == [right.id])
              #expect(right.currentPeers.map(\.id) == [left.id])
              #expect(stranger.currentPeers.isEmpty)
            }
          }
        }
      }
    }

    @Test("a transport that can listen only later is told of then", arguments: SuiteTransport.pluggable)
    func listensLater(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        let memory = try #require(world.memory)
        memory.setPluggedIn(false)
        try await world.node(
          0, "Server",
          {
            // The simulated transport beside TCP, which listens at once.
            $0.transports = [.tcp, .simulated]
            $0.mode = .server
            $0.listen = "127.0.0.1:0"
            $0.interfaces = []
          }
        ) { server in
          try await server.setAvailable(true)
          #expect(await server.listeningAddresses.map(\.kind) == [.tcp])
          memory.setPluggedIn(true)
          // Before that, others may see it without an address.
          try await world.until("it listens") {
            await server.listeningAddresses.contains { $0.kind == .simulated }
          }
          try await world.node(1, "Client", { $0.mode = .client }) { client in
            try await client.setAvailable(true)
            let peer = try #require(await world.sees(client, server))
            async let accepted = server.invitations.first()?.accept()
            #expect(try await client.invite(peer).proven.transport == .simulated)
            _ = try await accepted
          }
        }
      }
    }
  }
}

extension SuiteWorld {
  /// What `node` sees of `other` as soon as it sees it.
  func sees(_ node: Node, _ other: Node) async throws -> Peer? {
    let peers = try await peers(of: node, "\(node.name) sees \(other.name)") { $0.contains { $0.id == other.id } }
    return peers.first { $0.id == other.id }
  }

  func seesNobody(_ node: Node) async throws {
    _ = try await peers(of: node, "\(node.name) sees nobody any more", patience: transport.forgetting) { $0.isEmpty }
  }

  /// The list of peers as soon as it is as wanted.
  func peers(
    of node: Node, _ what: String, patience: Duration? = nil, _ holds: @escaping @Sendable ([Peer]) -> Bool
  ) async throws -> [Peer] {
    try await within(what, patience: patience) {
      for await peers in node.peers where holds(peers) { return peers }
      return []
    }
  }
}
