import Foundation
import Piconet
import TestSupport
import Testing

@Suite("The article about several sessions", .timeLimit(.minutes(15)))
struct SeveralSessionsTests {
  private static func configuration(_ session: String, _ name: String) -> NodeConfiguration {
    Players.keep(NodeConfiguration(sessionID: "", name: name), session: session, .peer)
  }

  private static var device: NodeHostConfiguration {
    var device = NodeHostConfiguration()
    device.interfaces = ["lo"]
    return device
  }

  @Test("nodes of a host are one device in several sessions, and each sees its own only")
  func severalSessions() async throws {
    let (game, album) = (UUID().uuidString, UUID().uuidString)
    try await takePart(
      in: [Self.configuration(game, "Anna"), Self.configuration(album, "Anna")], on: Self.device
    ) { nodes in
      #expect(nodes[0].id.peer == nodes[1].id.peer && nodes[0].id != nodes[1].id)
      try await takePart(in: [Self.configuration(album, "Ben")], on: Self.device) { others in
        let anna = try await others[0].firstPeer(named: "Anna", timeout: .seconds(60))
        let ben = try await nodes[1].firstPeer(named: "Ben", timeout: .seconds(60))
        #expect(anna.id == nodes[1].id && ben.id == others[0].id)
        async let accepted = others[0].invitations.first { _ in true }?.accept()
        let member = try await nodes[1].invite(ben)
        #expect(try await accepted?.id == nodes[1].id && member.id == others[0].id)
        #expect(nodes[0].currentPeers.isEmpty && nodes[0].session.members.isEmpty)
      }
    }
  }

  @Test("a round has a session of its own, and its end takes nothing from the others")
  func round() async throws {
    let (lobby, round) = (UUID().uuidString, UUID().uuidString)
    try await NodeHost.run(Self.device) { host in
      try await host.run(Self.configuration(lobby, "Anna")) { waiting in
        try await waiting.setAvailable(true)
        let result = try await playRound(Self.configuration(round, "Anna"), on: host) { node in
          #expect(node.id.peer == host.fingerprint && node.id.peer == waiting.id.peer)
          return "won"
        }
        #expect(result == "won")
        try await Node.run(Self.configuration(lobby, "Ben")) { ben in
          try await ben.setAvailable(true)
          #expect(try await ben.firstPeer(named: "Anna", timeout: .seconds(60)).id == waiting.id)
        }
      }
    }
  }
}
