import PiconetEngine
import PiconetWire
import Testing

@testable import Piconet

extension SessionSuite {
  @Suite("Modes and states", .timeLimit(.minutes(15)))
  struct StateTests {
    @Test(
      "a peer is told of as available, connecting, connected, disconnected with the reason, available, and unavailable",
      arguments: SuiteTransport.all)
    func wholeLife(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair(server: { $0.mode = .server }, client: { $0.mode = .client }) { pair in
          try await pair.client.setAvailable(true)
          let peer = try #require(await world.sees(pair.client, pair.server))
          async let accepted = pair.server.invitations.first()?.accept()
          let member = try await pair.client.invite(peer, timeout: transport.patience)
          let onServer = try #require(try await accepted)
          #expect(pair.client.currentStates[pair.server.id].map(word) == "connected")
          await onServer.disconnect()
          _ = await pair.client.session.nextDeparture()
          try await pair.server.setAvailable(false)
          let told = try await world.states(6, of: pair.client, about: member.id)
          #expect(
            told == ["available", "connecting", "connected", "disconnected: left, peer", "available", "unavailable"])
          // The server, which does not search, is told of the connection only.
          let toldServer = try await world.states(3, of: pair.server, about: pair.client.id)
          #expect(toldServer == ["connecting", "connected", "disconnected: left, nobody"])
          #expect(pair.client.currentStates.isEmpty && pair.server.currentStates.isEmpty)
        }
      }
    }

    @Test(
      "an invitation that is declined, cancelled or not answered ends once on both sides, with its reason",
      arguments: SuiteTransport.all)
    func attempts(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          var inviting = Task { try await pair.invite() }
          try await pair.invitation(of: inviting).decline()
          #expect(await failure { try await inviting.value }?.code == .declined)

          inviting = Task { try await pair.invite() }
          let cancelled = try await pair.invitation(of: inviting)
          inviting.cancel()
          #expect(await failure { try await inviting.value }?.code == .cancelled)
          _ = await cancelled.ended()

          inviting = Task { try await pair.invite(timeout: transport.shortAttempt) }
          let ignored = try await pair.invitation(of: inviting)
          #expect(await failure { try await inviting.value }?.code == .timedOut)
          _ = await ignored.ended()

          let onClient = try await world.states(6, of: pair.client, about: pair.server.id)
          #expect(
            onClient == [
              "connecting", "disconnected: declined, peer", "connecting", "disconnected: cancelled, us", "connecting",
              "disconnected: timedOut, peer",
            ])
          let onServer = try await world.states(6, of: pair.server, about: pair.client.id)
          #expect(
            onServer.prefix(5) == [
              "connecting", "disconnected: declined, us", "connecting", "disconnected: cancelled, peer", "connecting",
            ])
          // Which side's time runs out first is up to the link.
          #expect(onServer[5].hasPrefix("disconnected: timedOut"), "\(onServer)")
        }
      }
    }

    @Test("a mode is changed at any time, and leaves connections alone", arguments: SuiteTransport.all)
    func modes(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair(server: { $0.mode = .server }, client: { $0.mode = .client }) { pair in
          let (onClient, onServer) = try await pair.connect()
          try await pair.client.setAvailable(true)
          _ = try #require(await world.sees(pair.client, pair.server))
          // The node that searched is seen now, and the one that was seen searches.
          try await pair.server.setMode(.client)
          try await pair.client.setMode(.server)
          #expect(pair.server.mode == .client && pair.server.isAvailable)
          _ = try #require(await world.sees(pair.server, pair.client))
          #expect(pair.client.currentPeers.isEmpty)
          #expect(await pair.server.listeningAddresses.isEmpty)
          try await pair.client.setAvailable(false)
          try await world.seesNobody(pair.server)
          try await pair.server.setAvailable(false)
          // A mode that is set while the node hides counts once the node is available again.
          try await pair.server.setMode(.peer)
          #expect(await pair.server.listeningAddresses.isEmpty)
          try await pair.server.setAvailable(true)
          _ = try await pair.addresses()
          try await onClient.send([1])
          try await onServer.send([2])
          #expect(await pair.server.session.messages.first()?.bytes == [1])
          #expect(await pair.client.session.messages.first()?.bytes == [2])
        }
      }
    }

    @Test(
      "discovery info of the largest size is seen as it is; more is refused, naming both numbers",
      arguments: SuiteTransport.all)
    func largestInfo(over transport: SuiteTransport) async throws {
      let info = ["k": String(repeating: "é", count: 126) + "x", "l": String(repeating: "y", count: 143)]
      try await SuiteWorld.run(transport) { world in
        try await world.pair(server: { $0.discoveryInfo = info }) { pair in
          try await pair.client.setAvailable(true)
          let peer = try #require(await world.sees(pair.client, pair.server))
          #expect(peer.info == info)
        }
        let tooMuch = await failure {
          try await world.node(0, "Server", { $0.discoveryInfo = ["k": info["k"]! + "x"] }) { _ in }
        }
        #expect(tooMuch?.code == .invalidArgument)
        #expect(tooMuch?.description.contains("255") == true && tooMuch?.description.contains("256") == true)
      }
    }
  }
}

/// A state in words, its reason by code and blame.
func word(_ state: PeerState) -> String {
  if case .disconnected(let error) = state { return "disconnected: \(error.code), \(error.blame)" }
  return "\(state)"
}

extension SuiteWorld {
  /// The next states of one peer that a node is told of.
  func states(_ count: Int, of node: Node, about peer: NodeID) async throws -> [String] {
    try await within("\(node.name) is told \(count) states", patience: transport.forgetting) {
      var told: [String] = []
      for await change in node.states where change.peer == peer {
        told.append(word(change.state))
        if told.count == count { break }
      }
      return told
    }
  }
}
