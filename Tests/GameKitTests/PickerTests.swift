import Foundation
import PiconetTerminal
import Synchronization
import TestSupport
import Testing

@testable import GameKit

/// Owns a picker on the test's terminal.
private final class Owner: NSObject, GKPeerPickerControllerDelegate, @unchecked Sendable {
  // Unchecked: what changes is under the locks.
  let sessionID: String
  let name: String
  let events = AsyncStream<String>.makeStream()
  let session = Mutex<GKSession?>(nil)

  init(_ name: String, _ sessionID: String) {
    self.name = name
    self.sessionID = sessionID
  }

  func peerPickerController(_ picker: GKPeerPickerController, didSelect type: GKPeerPickerConnectionType) {
    events.continuation.yield("selected \(type)")
  }

  func peerPickerController(
    _ picker: GKPeerPickerController, sessionFor type: GKPeerPickerConnectionType
  ) -> GKSession {
    GKSession(GameSession(sessionID: sessionID, displayName: name, mode: .peer, host: Side.host))
  }

  func peerPickerController(_ picker: GKPeerPickerController, didConnectPeer peerID: String, to session: GKSession) {
    self.session.withLock { $0 = session }
    events.continuation.yield("connected \(session.displayName(forPeer: peerID) ?? "")")
    picker.dismiss()
  }

  func peerPickerControllerDidCancel(_ picker: GKPeerPickerController) {
    events.continuation.yield("cancelled \(picker.isVisible)")
  }

  /// The next that was told.
  func next() async -> String {
    for await event in events.stream { return event }
    return "nothing"
  }
}

// One at a time: raw mode belongs to the process.
@Suite("A peer picker at a terminal", .serialized, .timeLimit(.minutes(10)))
struct PickerTests {
  private let terminal: PseudoTerminal
  private let sessionID = Side.freshID()
  private let owner: Owner
  private let picker: GKPeerPickerController

  init() throws {
    let terminal = try #require(PseudoTerminal())
    self.terminal = terminal
    owner = Owner("Anna", sessionID)
    let traits = TerminalTraits(isTerminal: true) { ["TERM": "xterm", "LANG": "C.UTF-8"][$0] }
    picker = GKPeerPickerController(
      terminal: PickerTerminal(
        isPossible: { true },
        run: { dialog, tell in
          await dialog.run(
            input: terminal.program, output: StandardStream(descriptor: terminal.program), traits: traits,
            readingTime: .zero, tell)
        }))
    picker.delegate = owner
    picker.connectionTypesMask = .online
  }

  private func sees(_ text: String) async -> Bool {
    let terminal = terminal
    return await onItsOwnThread { terminal.waits(for: text) } == true
  }

  @Test("the person picks a peer, which accepts, and the session is the program's")
  func picking() async throws {
    let ben = Side("Ben", in: sessionID)
    ben.session.isAvailable = true
    picker.show()
    #expect(picker.isVisible)
    try #require(await sees("Ben"))
    terminal.type("\r")
    #expect(await owner.next() == "connected Ben")
    await ben.wait(for: "connected Anna")
    #expect(!picker.isVisible)
    let session = try #require(owner.session.withLock { $0 })
    #expect(!session.isAvailable)
    try session.sendData(toAllPeers: Data("hi".utf8), with: .reliable)
    await ben.wait(for: "data Anna hi")
  }

  @Test("the person is asked about a peer that wants to connect, and declines it or lets it in")
  func questions() async throws {
    let ben = Side("Ben", in: sessionID)
    ben.session.isAvailable = true
    picker.show()
    await ben.wait(for: "available Anna")
    let anna = try #require((ben.session.peers(with: .stateAvailable) as? [String])?.first)
    ben.session.connect(toPeer: anna, withTimeout: 60)
    try #require(await sees("Ben wants to connect. [y]es / [n]o"))
    terminal.forget()
    terminal.type("n")
    await ben.wait(for: "failed Anna declinedError")
    ben.session.connect(toPeer: anna, withTimeout: 60)
    try #require(await sees("Ben wants to connect. [y]es / [n]o"))
    terminal.type("y")
    #expect(await owner.next() == "connected Ben")
    await ben.wait(for: "connected Anna")
  }

  @Test("the picker reports a peer that declines, and Escape leaves without a peer")
  func leaving() async throws {
    let ben = Side("Ben", in: sessionID, answer: .deny)
    ben.session.isAvailable = true
    picker.show()
    try #require(await sees("Ben"))
    terminal.type("\r")
    try #require(await sees("Ben: declined"))
    terminal.type("\u{1B}")
    #expect(await owner.next() == "cancelled false")
    #expect(!picker.isVisible)
  }

  @Test("where there are two ways to look the person chooses one")
  func choosing() async throws {
    let ben = Side("Ben", in: sessionID)
    ben.session.isAvailable = true
    picker.connectionTypes = [.online, .nearby]
    picker.show()
    try #require(await sees("Network"))
    terminal.type("\u{1B}[B\r")
    #expect(await owner.next() == "selected online")
    try #require(await sees("Ben"))
    picker.dismiss()
    #expect(!picker.isVisible)
  }

  @Test("without a terminal no peer is picked, unless the program says so")
  func unattended() async throws {
    let alone = GKPeerPickerController(terminal: PickerTerminal(isPossible: { false }, run: { _, _ in .quit }))
    alone.delegate = owner
    alone.connectionTypesMask = .online
    alone.unattendedAnswer = .decline
    alone.show()
    #expect(await owner.next() == "cancelled false")
    alone.unattendedAnswer = .accept
    // Both sides pick one another.
    let other = Owner("Ben", sessionID)
    let otherAlone = GKPeerPickerController(terminal: PickerTerminal(isPossible: { false }, run: { _, _ in .quit }))
    otherAlone.delegate = other
    otherAlone.connectionTypesMask = .online
    otherAlone.unattendedAnswer = .accept
    alone.show()
    otherAlone.show()
    #expect(await owner.next() == "connected Ben")
    #expect(await other.next() == "connected Anna")
  }
}
