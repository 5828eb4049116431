import Foundation
import Testing

@testable import MultipeerConnectivity

@Suite("What delegates are told, in order", .timeLimit(.minutes(5)))
struct TranscriptTests {
  @Test("two programs find, invite and accept each other, talk, and part")
  func two() async throws {
    let type = Player.serviceType()
    let (anna, ben) = (Player("Anna", type), Player("Ben", type))
    ben.advertise(["game": "chess", "level": "3"])
    anna.browse()
    await anna.sees("found Ben game=chess level=3")
    let found = try #require(anna.peer(named: "Ben"))
    #expect(found == ben.peer && found.hash == ben.peer.hash && found !== ben.peer)
    anna.invite(found, context: "a game?")
    await anna.sees("Ben connected")
    await ben.sees("Anna connected")
    #expect(anna.session.connectedPeers == [ben.peer] && ben.session.connectedPeers == [anna.peer])
    try anna.session.send(Data("hello".utf8), toPeers: [found], with: .reliable)
    await ben.sees("Anna says hello")
    try ben.session.send(Data("hello too".utf8), toPeers: ben.session.connectedPeers, with: .unreliable)
    await anna.sees("Ben says hello too")
    anna.session.disconnect()
    #expect(anna.session.connectedPeers == [])
    await anna.sees("Ben notConnected")
    await ben.sees("Anna notConnected")
    #expect(ben.session.error(forPeer: anna.peer)?.code == .notConnected)
    ben.advertiser?.stopAdvertisingPeer()
    await anna.sees("lost Ben")
    #expect(
      anna.transcript == [
        "found Ben game=chess level=3", "Ben connecting", "Ben connected", "Ben says hello too", "Ben notConnected",
        "lost Ben",
      ])
    #expect(
      ben.transcript == [
        "invited by Anna: a game?", "Anna connecting", "Anna connected", "Anna says hello", "Anna notConnected",
      ])
    anna.leave()
    ben.leave()
  }
}
