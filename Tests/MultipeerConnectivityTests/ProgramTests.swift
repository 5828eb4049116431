import Foundation
import MultipeerEventsSwift5
import MultipeerEventsSwift5MainActor
import MultipeerEventsSwift6
import MultipeerEventsSwift6MainActor
import MultipeerMainActorProgram
import MultipeerSwift5Program
import MultipeerSwift6Program
import Testing

@testable import MultipeerConnectivity

@Suite("Programs as they are written for Multipeer Connectivity")
struct ProgramTests {
  @Test("mocks that override every member of every class have the calls")
  @MainActor func mocks() throws {
    let peer = MockPeer(name: "Anna", tag: 7)
    let session: MCSession = MockSession(peer: peer)
    try session.send(Data([1]), toPeers: [peer], with: .unreliable)
    #expect(throws: MCError.self) { try session.send(Data(), toPeers: [], with: .reliable) }
    session.disconnect()
    let mock = try #require(session as? MockSession)
    #expect(mock.sent.map(\.data) == [Data([1])] && mock.calls == ["disconnect"] && session.connectedPeers == [])
    #expect(session.encryptionPreference == .none && session.securityIdentity?.count == 1)
    let service = Service()
    let browser = MockBrowser(peer: peer, serviceType: "a")
    browser.nearby = [MCPeerID(displayName: "Ben")]
    browser.delegate = service
    browser.startBrowsingForPeers()
    browser.stopBrowsingForPeers()
    MockAdvertiser(peer: peer, discoveryInfo: nil, serviceType: "a").startAdvertisingPeer()
    MockAssistant(serviceType: "a", discoveryInfo: nil, session: session).start()
    #expect(MockController(browser: browser, session: session).minimumNumberOfPeers == 3)
    let archive = try NSKeyedArchiver.archivedData(withRootObject: peer, requiringSecureCoding: true)
    let copy = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: MockPeer.self, from: archive))
    #expect(copy == peer && copy.tag == 7 && copy.displayName == "<Anna>")
  }

  @Test("programs in Swift 5, in Swift 6, and on the main actor by default, are accepted")
  @MainActor func languages() async throws {
    let service = Service()
    service.send(["a": 1])
    service.send(["a": 1], to: MCPeerID(displayName: "Ben"))
    #expect(service.log == ["nobody", "not connected"])
    let session = MCSession(peer: MCPeerID(displayName: "Anna"))
    for delegate in [service, Lobby()] as [any MCSessionDelegate] {
      session.delegate = delegate
      #expect(session.delegate === delegate)
    }
    let peers = Peers(name: "Anna")
    await #expect(throws: MCError.self) { try await peers.send(Data()) }
    #expect(Counter().count == 0)
  }

  @Test("what delegates get goes through streams in Swift 5 and 6, on the main actor by default or not, with UIDevice")
  func events() async {
    let runs = [
      await MultipeerEventsSwift5.EventsProgram.run(), await MultipeerEventsSwift5MainActor.EventsProgram.run(),
      await MultipeerEventsSwift6.EventsProgram.run(), await MultipeerEventsSwift6MainActor.EventsProgram.run(),
    ]
    for run in runs { #expect(run == (UIDevice.current.name, 1, 2)) }
  }

  @Test("a program that keeps its peer id finds itself again")
  func stored() throws {
    let name = "piconet-\(UUID().uuidString)"
    let defaults = try #require(UserDefaults(suiteName: name))
    defer { defaults.removePersistentDomain(forName: name) }
    let first = Service.stored(in: defaults, named: "Anna")
    #expect(Service.stored(in: defaults, named: "Anna") == first)
  }
}
