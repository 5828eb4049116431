import Foundation
import Testing

@testable import MultipeerConnectivity

@Suite("Peers that are found by other means", .serialized, .timeLimit(.minutes(10)))
struct CustomDiscoveryTests {
  private func pair() -> (Player, Player) {
    let type = Player.serviceType()
    return (Player("Anna", type), Player("Ben", type))
  }

  @Test("two peers that have each other's data are connected, whichever calls first")
  func connect() async throws {
    let (anna, ben) = pair()
    let ofAnna = try await anna.session.nearbyConnectionData(forPeer: ben.peer)
    let ofBen = try await ben.session.nearbyConnectionData(forPeer: anna.peer)
    anna.session.connectPeer(ben.peer, withNearbyConnectionData: ofBen)
    await anna.sees("Ben connecting")
    ben.session.connectPeer(anna.peer, withNearbyConnectionData: ofAnna)
    await anna.sees("Ben connected")
    await ben.sees("Anna connected")
    try anna.session.send(Data("hi".utf8), toPeers: [ben.peer], with: .reliable)
    await ben.sees("Anna says hi")
    #expect(anna.transcript == ["Ben connecting", "Ben connected"])
    #expect(ben.transcript == ["Anna connecting", "Anna connected", "Anna says hi"])
    anna.leave()
    ben.leave()
  }

  @Test("a call that is cancelled, or that the peer does not return, never connects; the delegate is told why")
  func alone() async throws {
    let (anna, ben) = pair()
    let ofBen = try await ben.session.nearbyConnectionData(forPeer: anna.peer)
    anna.session.connectPeer(ben.peer, withNearbyConnectionData: ofBen)
    await anna.sees("Ben connecting")
    anna.session.cancelConnectPeer(ben.peer)
    await anna.sees("Ben notConnected")
    #expect(anna.session.error(forPeer: ben.peer)?.code == .cancelled)
    anna.session.core.patience.meeting = .milliseconds(500)
    anna.session.connectPeer(ben.peer, withNearbyConnectionData: ofBen)
    await anna.sees("Ben notConnected", 2)
    #expect(ben.transcript == [])
    anna.leave()
    ben.leave()
  }

  @Test("another peer's data, or bytes that are no data, are refused with the rule")
  func wrongData() async throws {
    let (anna, ben) = pair()
    let ofBen = try await ben.session.nearbyConnectionData(forPeer: anna.peer)
    let carl = MCPeerID(displayName: "Carl")
    anna.session.connectPeer(carl, withNearbyConnectionData: ofBen)
    await anna.sees("Carl notConnected")
    #expect(anna.session.error(forPeer: carl)?.code == .invalidParameter)
    anna.session.connectPeer(ben.peer, withNearbyConnectionData: Data([1, 2, 3]))
    await anna.sees("Ben notConnected")
    #expect(anna.transcript == ["Carl notConnected", "Ben notConnected"])
    anna.leave()
    ben.leave()
  }
}
