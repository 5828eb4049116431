import Foundation
import Testing

@testable import MultipeerConnectivity

/// Both change what is answered for everybody, so they are not beside each other.
@Suite("What asks a person", .serialized, .timeLimit(.minutes(10)))
struct UnattendedTests {
  /// Told of an assistant and a controller.
  ///
  /// Unchecked: the players have locks, and the rest is told on the main queue.
  private final class Told: NSObject, MCAdvertiserAssistantDelegate, MCBrowserViewControllerDelegate,
    @unchecked Sendable
  {
    let player: Player
    init(_ player: Player) { self.player = player }

    func advertiserAssistantWillPresentInvitation(_ advertiserAssistant: MCAdvertiserAssistant) { player.note("asked") }
    func advertiserAssistantDidDismissInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {
      player.note("answered")
    }
    func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController) { player.note("finished") }
    func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController) {
      player.note("cancelled")
    }
    func browserViewController(
      _ browserViewController: MCBrowserViewController, shouldPresentNearbyPeer peerID: MCPeerID,
      withDiscoveryInfo info: [String: String]?
    ) -> Bool { info?["hidden"] == nil }
  }

  @Test(
    "an assistant and a controller meet where nobody can be asked, if the program says so", arguments: [true, false])
  @MainActor func together(isAccepted: Bool) async throws {
    MCUnattendedAnswer.current = isAccepted ? .accept : .decline
    defer { MCUnattendedAnswer.current = .decline }
    let type = Player.serviceType()
    let (anna, ben, carl) = (Player("Anna", type), Player("Ben", type), Player("Carl", type))
    let (toAnna, toBen) = (Told(anna), Told(ben))
    let assistant = MCAdvertiserAssistant(serviceType: type, discoveryInfo: ["a": "b"], session: ben.session)
    assistant.delegate = toBen
    assistant.start()
    carl.advertise(["hidden": "1"])
    let controller = MCBrowserViewController(serviceType: type, session: anna.session)
    controller.delegate = toAnna
    #expect(controller.minimumNumberOfPeers == 2 && controller.maximumNumberOfPeers == 8)
    controller.present()
    if isAccepted {
      await anna.sees("finished")
      await ben.sees("answered")
      #expect(anna.session.connectedPeers == [ben.peer])
      #expect(carl.transcript == [])
    } else {
      await anna.sees("cancelled")
      anna.browse()
      await anna.sees("found Ben a=b")
      anna.invite(try #require(anna.peer(named: "Ben")))
      await anna.sees("Ben notConnected")
      #expect(ben.transcript.first == "asked")
    }
    assistant.stop()
    for player in [anna, ben, carl] { player.leave() }
  }

  @Test("a controller keeps its numbers of peers within the limits")
  @MainActor func limits() {
    let controller = MCBrowserViewController(
      serviceType: "a", session: MCSession(peer: MCPeerID(displayName: "Anna")))
    controller.maximumNumberOfPeers = 20
    #expect(controller.maximumNumberOfPeers == 8)
    controller.minimumNumberOfPeers = 0
    #expect(controller.minimumNumberOfPeers == 2)
    controller.maximumNumberOfPeers = 3
    controller.minimumNumberOfPeers = 5
    #expect(controller.minimumNumberOfPeers == 3)
  }
}
