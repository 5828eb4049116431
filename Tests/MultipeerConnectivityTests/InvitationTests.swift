import Foundation
import Piconet
import Testing

@testable import MultipeerConnectivity

@Suite("Invitations", .serialized, .timeLimit(.minutes(10)))
struct InvitationTests {
  @Test("a declined invitation ends as not connected, with the reason, and no peer is told as connecting")
  func declined() async throws {
    let type = Player.serviceType()
    let (anna, ben) = (Player("Anna", type), Player("Ben", type))
    ben.answers = { _ in false }
    ben.advertise()
    anna.browse()
    await anna.sees("found Ben")
    anna.invite(try #require(anna.peer(named: "Ben")))
    await anna.sees("Ben notConnected")
    #expect(anna.session.error(forPeer: ben.peer)?.code == .cancelled)
    #expect(anna.transcript == ["found Ben", "Ben notConnected"])
    #expect(ben.transcript == ["invited by Anna"])
    anna.leave()
    ben.leave()
  }

  @Test("what came of a former attempt is no error of a peer that is connected")
  func errorOfConnected() async throws {
    let type = Player.serviceType()
    let (anna, ben) = (Player("Anna", type), Player("Ben", type))
    ben.answers = { _ in false }
    ben.advertise()
    anna.browse()
    await anna.sees("found Ben")
    let peer = try #require(anna.peer(named: "Ben"))
    anna.invite(peer)
    await anna.sees("Ben notConnected")
    #expect(anna.session.error(forPeer: ben.peer)?.code == .cancelled)
    ben.answers = { _ in true }
    anna.changed = { player, peer, state in
      guard state == .connected, let error = player.session.error(forPeer: peer) else { return }
      Issue.record("connected, and told \(error)")
    }
    anna.invite(peer)
    await anna.sees("Ben connected")
    await ben.sees("Anna connected")
    #expect(anna.session.error(forPeer: ben.peer) == nil)
    ben.session.disconnect()
    await anna.sees("Ben notConnected", 2)
    #expect(anna.session.error(forPeer: ben.peer)?.code == .notConnected)
    anna.leave()
    ben.leave()
  }

  @Test("an unanswered invitation ends at the inviter's timeout")
  func unanswered() async throws {
    let type = Player.serviceType()
    let (anna, ben) = (Player("Anna", type), Player("Ben", type))
    ben.answers = nil
    ben.advertise()
    anna.browse()
    await anna.sees("found Ben")
    anna.invite(try #require(anna.peer(named: "Ben")), timeout: 1)
    await anna.sees("Ben notConnected")
    #expect(anna.session.error(forPeer: ben.peer)?.code == .timedOut)
    #expect(anna.transcript == ["found Ben", "Ben notConnected"])
    anna.leave()
    ben.leave()
  }

  @Test("both sides invite at once: one connection, and each change told once, in every round", arguments: 0..<8)
  func crossing(round: Int) async throws {
    let type = Player.serviceType()
    let (anna, ben) = (Player("Anna", type), Player("Ben", type))
    for (player, other) in [(anna, "Ben"), (ben, "Anna")] {
      player.found = { player, peer in if peer.displayName == other { player.invite(peer) } }
      player.advertise()
      player.browse()
    }
    await anna.sees("Ben connected")
    await ben.sees("Anna connected")
    try anna.session.send(Data("a".utf8), toPeers: [ben.peer], with: .reliable)
    try ben.session.send(Data("b".utf8), toPeers: [anna.peer], with: .reliable)
    await anna.sees("Ben says b")
    await ben.sees("Anna says a")
    ben.session.disconnect()
    await anna.sees("Ben notConnected")
    #expect(
      anna.transcript.filter { $0.hasPrefix("Ben") }
        == ["Ben connecting", "Ben connected", "Ben says b", "Ben notConnected"])
    #expect(
      ben.transcript.filter { $0.hasPrefix("Anna") }.prefix(3)
        == ["Anna connecting", "Anna connected", "Anna says a"])
    anna.leave()
    ben.leave()
  }

  @Test("a peer that one member invites is connected with all, and two of one name stay two")
  func group() async throws {
    let type = Player.serviceType()
    let anna = Player("Anna", type)
    let twins = [Player("Ben", type), Player("Ben", type)]
    for twin in twins { twin.advertise() }
    anna.found = { $0.invite($1) }
    anna.browse()
    await anna.sees("Ben connected", 2)
    for (twin, other) in [(twins[0], twins[1]), (twins[1], twins[0])] {
      await twin.sees("Anna connected")
      await twin.sees("Ben connected")
      #expect(Set(twin.session.connectedPeers) == [anna.peer, other.peer])
      #expect(twin.transcript.filter { $0 == "invited by Anna" }.count == 1)
    }
    #expect(Set(anna.session.connectedPeers) == Set(twins.map(\.peer)))
    try twins[0].session.send(Data("hi".utf8), toPeers: [twins[1].peer], with: .reliable)
    await twins[1].sees("Ben says hi")
    // A peer that leaves is gone for all, and no member brings it back.
    twins[0].session.disconnect()
    await anna.sees("Ben notConnected")
    await twins[1].sees("Ben notConnected")
    #expect(anna.session.connectedPeers == [twins[1].peer])
    for player in twins + [anna] { player.leave() }
  }

  @Test("all peers invite all others: all are connected with all, each told once, in every round", arguments: 0..<3)
  func everybody(round: Int) async throws {
    let type = Player.serviceType()
    let names = ["Anna", "Ben", "Carl", "Dora"]
    let players = names.map { Player($0, type) }
    for player in players {
      player.found = { $0.invite($1) }
      player.advertise()
      player.browse()
    }
    for player in players {
      for other in names where other != player.peer.displayName { await player.sees("\(other) connected") }
    }
    for player in players {
      #expect(player.session.connectedPeers.count == 3)
      try player.session.send(Data("round".utf8), toPeers: player.session.connectedPeers, with: .reliable)
    }
    for player in players {
      for other in names where other != player.peer.displayName { await player.sees("\(other) says round") }
    }
    for player in players {
      for other in names where other != player.peer.displayName {
        #expect(
          player.transcript.filter { $0.hasPrefix(other) }
            == ["\(other) connecting", "\(other) connected", "\(other) says round"])
      }
    }
    for player in players { player.leave() }
  }

  @Test("one peer may be in two sessions at once, which know nothing of each other")
  func twoSessions() async throws {
    let (first, second) = (Player.serviceType(), Player.serviceType())
    let (ben, carl) = (Player("Ben", first), Player("Carl", second))
    let anna = Player("Anna", first)
    let other = MCSession(peer: anna.peer)
    let browser = MCNearbyServiceBrowser(peer: anna.peer, serviceType: second)
    let transcript = Player("Anna's other", second)
    other.delegate = transcript
    transcript.found = { [weak other] in
      if let other { $0.browser?.invitePeer($1, to: other, withContext: nil, timeout: 120) }
    }
    ben.advertise()
    carl.advertise()
    anna.browse()
    await anna.connects(to: ben)
    transcript.browse()
    await transcript.sees("Carl connected")
    await carl.sees("Anna connected")
    #expect(anna.session.connectedPeers == [ben.peer])
    #expect(other.connectedPeers == [carl.peer])
    #expect(carl.session.connectedPeers == [anna.peer])
    for player in [anna, ben, carl, transcript] { player.leave() }
    other.disconnect()
    browser.stopBrowsingForPeers()
  }

  @Test("a session that has left may be used again, for the same peer")
  func again() async throws {
    let type = Player.serviceType()
    let (anna, ben) = (Player("Anna", type), Player("Ben", type))
    ben.advertise()
    anna.browse()
    for count in 1...3 {
      await anna.sees("found Ben")
      anna.invite(try #require(anna.peer(named: "Ben")))
      await anna.sees("Ben connected", count)
      await ben.sees("Anna connected", count)
      anna.session.disconnect()
      await anna.sees("Ben notConnected", count)
      await ben.sees("Anna notConnected", count)
    }
    let once = ["Ben connecting", "Ben connected", "Ben notConnected"]
    #expect(anna.transcript == ["found Ben"] + once + once + once)
    anna.leave()
    ben.leave()
  }

  @Test("a session that is dropped leaves its peers")
  func dropped() async throws {
    let type = Player.serviceType()
    var anna: Player? = Player("Anna", type)
    let ben = Player("Ben", type)
    ben.advertise()
    anna?.browse()
    await anna?.connects(to: ben)
    weak let session = anna?.session
    anna = nil
    await ben.sees("Anna notConnected")
    #expect(session == nil)
    ben.leave()
  }

  @Test("a peer that requires encryption and one that refuses it do not connect, and both are told why")
  func encryption() async throws {
    let type = Player.serviceType()
    let (anna, ben) = (Player("Anna", type, .required), Player("Ben", type, .none))
    let carl = Player("Carl", type, .optional)
    ben.advertise()
    anna.browse()
    await anna.sees("found Ben")
    anna.invite(try #require(anna.peer(named: "Ben")))
    await anna.sees("Ben notConnected")
    await ben.sees("Anna notConnected")
    #expect(anna.session.error(forPeer: ben.peer)?.code == .unsupported)
    #expect(ben.session.error(forPeer: anna.peer)?.code == .unsupported)
    carl.browse()
    await carl.connects(to: ben)
    for player in [anna, ben, carl] { player.leave() }
  }
}

@Suite("Certificates", .serialized, .timeLimit(.minutes(10)))
struct CertificateTests {
  @Test("a handler that is never called: not connected after the time, with a reason on both sides")
  func unanswered() async throws {
    let type = Player.serviceType()
    let (anna, ben) = (Player("Anna", type), Player("Ben", type))
    ben.certificate = { player, _ in player.note("asked") }
    ben.session.core.patience.certificate = .milliseconds(300)
    ben.advertise()
    anna.found = { $0.invite($1) }
    anna.browse()
    await anna.sees("Ben notConnected")
    await ben.sees("Anna notConnected")
    #expect(anna.session.error(forPeer: ben.peer)?.code == .timedOut)
    #expect(ben.session.error(forPeer: anna.peer)?.code == .timedOut)
    #expect(anna.transcript == ["found Ben", "Ben connecting", "Ben notConnected"])
    #expect(ben.transcript == ["invited by Anna", "Anna connecting", "asked", "Anna notConnected"])
    anna.leave()
    ben.leave()
  }

  @Test("a handler that says no, later and from another thread: both are told at once")
  func declined() async throws {
    let type = Player.serviceType()
    let (anna, ben) = (Player("Anna", type), Player("Ben", type))
    anna.certificate = { _, handler in
      let handler = Handler(call: handler)
      DispatchQueue.global().async { handler.call(false) }
    }
    ben.advertise()
    anna.found = { $0.invite($1) }
    anna.browse()
    await anna.sees("Ben notConnected")
    await ben.sees("Anna notConnected")
    #expect(anna.session.error(forPeer: ben.peer)?.code == .cancelled)
    #expect(ben.session.error(forPeer: anna.peer)?.code == .cancelled)
    anna.leave()
    ben.leave()
  }

  /// Unchecked: called once.
  private struct Handler: @unchecked Sendable {
    let call: (Bool) -> Void
  }

  @Test("an identity of the session's own is what the peer's program is asked about")
  func identity() async throws {
    let type = Player.serviceType()
    let (anna, ben) = (Player("Anna", type), Player("Ben", type))
    let identity = try NodeIdentity()
    let session = MCSession(peer: anna.peer, securityIdentity: [identity], encryptionPreference: .required)
    session.delegate = anna
    anna.found = { [weak session] in
      if let session { $0.browser?.invitePeer($1, to: session, withContext: nil, timeout: 120) }
    }
    ben.advertise()
    anna.browse()
    await ben.sees("Anna connected")
    // A session that has left is told no more of its peers.
    await anna.sees("Ben connected")
    #expect(ben.certificates == [[Data(identity.certificate)]])
    session.disconnect()
    anna.leave()
    ben.leave()
  }

  @Test("a value that is no identity is refused when it is needed, with the rule")
  func noIdentity() async throws {
    let type = Player.serviceType()
    let (anna, ben) = (Player("Anna", type), Player("Ben", type))
    let session = MCSession(peer: anna.peer, securityIdentity: ["a key"], encryptionPreference: .required)
    session.delegate = anna
    anna.found = { [weak session] in
      if let session { $0.browser?.invitePeer($1, to: session, withContext: nil, timeout: 120) }
    }
    ben.advertise()
    anna.browse()
    await anna.sees("Ben notConnected")
    #expect(session.error(forPeer: ben.peer)?.code == .invalidParameter)
    #expect(ben.transcript == [])
    anna.leave()
    ben.leave()
  }
}
