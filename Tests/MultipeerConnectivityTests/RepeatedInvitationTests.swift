import Foundation
import Piconet
import Synchronization
import Testing

@testable import MultipeerConnectivity

/// An inviter whose link broke comes again with the same paper.
@Suite("An invitation that comes again", .timeLimit(.minutes(5)))
struct RepeatedInvitationTests {
  private func withInviter(of ben: Player, _ body: (Node, Peer, InvitationPaper) async throws -> Void) async throws {
    var configuration = NodeConfiguration(sessionID: ServiceTypeRules.sessionID(ben.serviceType), name: "Anna")
    configuration.mode = .client
    configuration.transports = [.tcp]
    configuration.interfaces = ["lo"]
    try await Node.run(configuration) { node in
      try await node.setAvailable(true)
      let peer = try await node.firstPeer(named: "Ben", timeout: .seconds(30))
      let card = PeerCard(MCPeerID(displayName: "Anna"), .required)
      try await body(
        node, peer,
        InvitationPaper(card: card, fingerprint: node.id.peer, ticket: Ticket(), patience: 30, context: nil))
    }
  }

  @Test("the program is asked once, and its answer goes to the newest", arguments: [true, false])
  func askedOnce(isAccepted: Bool) async throws {
    let ben = Player("Ben", Player.serviceType())
    ben.answers = nil
    ben.advertise()
    try await withInviter(of: ben) { node, peer, paper in
      await #expect(throws: PiconetError.self) {
        _ = try await node.invite(peer, context: paper.bytes, timeout: .milliseconds(300))
      }
      let second = Task { try await node.invite(peer, context: paper.bytes, timeout: .seconds(30)) }
      await ben.sees("invited by Anna")
      // Either invitation may reach the program's answer; the lasting one gets it.
      ben.answer(isAccepted)
      if isAccepted {
        _ = try await second.value
        let message = try #require(await node.session.messages.first { _ in true })
        #expect(try MeetingPlace(Array(message.bytes)).ticket == paper.ticket)
      } else {
        let first = await #expect(throws: PiconetError.self) { _ = try await second.value }
        let next = await #expect(throws: PiconetError.self) {
          _ = try await node.invite(peer, context: paper.bytes, timeout: .seconds(30))
        }
        #expect(first?.code == .declined && next?.code == .declined)
      }
      #expect(ben.transcript.filter { $0.hasPrefix("invited") } == ["invited by Anna"])
    }
    ben.leave()
  }

  @Test("one with another ticket is another one")
  func anotherTicket() async throws {
    let ben = Player("Ben", Player.serviceType())
    ben.answers = { _ in false }
    ben.advertise()
    try await withInviter(of: ben) { node, peer, paper in
      var paper = paper
      for _ in 0..<2 {
        await #expect(throws: PiconetError.self) {
          _ = try await node.invite(peer, context: paper.bytes, timeout: .seconds(30))
        }
        paper.ticket = Ticket()
      }
      #expect(ben.transcript == ["invited by Anna", "invited by Anna"])
    }
    ben.leave()
  }
}
