import Foundation
import PiconetTerminal
import TestSupport
import Testing

@testable import MultipeerConnectivity

/// These tests run one after the other: they change the answers of the whole process, to which raw mode belongs, too.
@Suite("What asks a person", .serialized, .timeLimit(.minutes(10)))
struct InterfaceTests {
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
    "an assistant and a controller meet without a person to ask, if the program says so", arguments: [true, false])
  @MainActor func together(isAccepted: Bool) async throws {
    PeerInterfaces.current = UnattendedInterface()
    UnattendedAnswer.ofProcess = isAccepted ? .accept : .decline
    defer { UnattendedAnswer.ofProcess = .decline }
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

  /// Asks at a terminal of the test's own.
  private func terminal() throws -> PseudoTerminal {
    let terminal = try #require(PseudoTerminal())
    let traits = TerminalTraits(isTerminal: true) { ["TERM": "xterm", "LANG": "C.UTF-8"][$0] }
    PeerInterfaces.current = TerminalInterface(isPossible: { true }) { dialog, tell in
      await dialog.run(
        input: terminal.program, output: StandardStream(descriptor: terminal.program), traits: traits,
        readingTime: .zero, tell)
    }
    return terminal
  }

  private func sees(_ text: String, on terminal: PseudoTerminal) async throws {
    try #require(await onItsOwnThread { terminal.waits(for: text) } == true, "'\(text)' in \(terminal.shown)")
    terminal.forget()
  }

  @Test("at a terminal a person invites from the list, answers invitations below it, and finishes")
  @MainActor func list() async throws {
    let terminal = try terminal()
    defer { PeerInterfaces.current = UnattendedInterface() }
    let type = Player.serviceType()
    let (anna, ben, carl) = (Player("Anna", type), Player("Ben", type), Player("Carl", type))
    let told = Told(anna)
    let assistant = MCAdvertiserAssistant(serviceType: type, discoveryInfo: nil, session: anna.session)
    assistant.delegate = told
    assistant.start()
    ben.advertise()
    let controller = MCBrowserViewController(serviceType: type, session: anna.session)
    controller.delegate = told
    controller.minimumNumberOfPeers = 3
    controller.present()
    try await sees("Ben", on: terminal)
    terminal.type("\r")
    await anna.sees("Ben connected")
    carl.browse()
    await carl.sees("found Anna")
    carl.invite(anna.peer)
    try await sees("Carl wants to connect. [y]es / [n]o", on: terminal)
    #expect(anna.transcript.contains("asked") && !anna.transcript.contains("answered"))
    terminal.type("y")
    await anna.sees("Carl connected")
    await anna.sees("answered")
    try await sees("Carl", on: terminal)
    terminal.type("\t")
    await anna.sees("finished")
    #expect(Set(anna.session.connectedPeers) == [ben.peer, carl.peer])
    #expect(ben.transcript.filter { $0 == "invited by Anna" }.count == 1)
    assistant.stop()
    for player in [anna, ben, carl] { player.leave() }
  }

  @Test("a person is asked without a list, too, one question after the other; Escape cancels a list")
  @MainActor func questions() async throws {
    let terminal = try terminal()
    defer { PeerInterfaces.current = UnattendedInterface() }
    let type = Player.serviceType()
    let (anna, ben, carl) = (Player("Anna", type), Player("Ben", type), Player("Carl", type))
    let told = Told(anna)
    let assistant = MCAdvertiserAssistant(serviceType: type, discoveryInfo: nil, session: anna.session)
    assistant.start()
    for player in [ben, carl] {
      player.browse()
      await player.sees("found Anna")
    }
    ben.invite(anna.peer)
    try await sees("Ben wants to connect. [y]es / [n]o", on: terminal)
    carl.invite(anna.peer)
    terminal.type("n")
    await ben.sees("Anna notConnected")
    #expect(ben.session.error(forPeer: anna.peer)?.code == .cancelled)
    try await sees("Carl wants to connect. [y]es / [n]o", on: terminal)
    terminal.type("y")
    await anna.sees("Carl connected")
    // A question that the program's own end of the list leaves open is asked again.
    let controller = MCBrowserViewController(serviceType: type, session: anna.session)
    controller.delegate = told
    controller.present()
    try await sees("Enter invites", on: terminal)
    ben.invite(anna.peer)
    try await sees("Ben wants to connect. [y]es / [n]o", on: terminal)
    controller.dismiss(animated: true)
    try await sees("Ben wants to connect. [y]es / [n]o", on: terminal)
    terminal.type("y")
    await anna.sees("Ben connected")
    controller.present()
    try await sees("Enter invites", on: terminal)
    terminal.type("\u{1B}")
    await anna.sees("cancelled")
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
