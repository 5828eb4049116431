import Foundation
import TestSupport
import Testing

@testable import MultipeerConnectivity

/// What a program does with its advertiser around its answer to an invitation.
private enum AdvertiserEnd: String, CaseIterable {
  case stays, stops, isReleased, losesDelegate, losesDelegateAndStops
  case stopsBeforeTheAnswer, isReleasedBeforeTheAnswer, startsAnew
  case stopsWhenConnecting, isReleasedWhenConnecting
}

/// What a program does with its browser around its invitation.
private enum BrowserEnd: String, CaseIterable {
  case stays, stops, isReleased, losesDelegate, losesDelegateAndStops
  case stopsBeforeInviting, startsAnew
  case stopsWhenConnecting, isReleasedWhenConnecting
}

extension Player {
  fileprivate func end(_ end: AdvertiserEnd, answering handler: (Bool, MCSession?) -> Void) {
    if end == .stopsBeforeTheAnswer { advertiser?.stopAdvertisingPeer() }
    if end == .isReleasedBeforeTheAnswer { dropAdvertiser() }
    handler(true, session)
    switch end {
    case .stops: advertiser?.stopAdvertisingPeer()
    case .isReleased: dropAdvertiser()
    case .losesDelegate: advertiser?.delegate = nil
    case .losesDelegateAndStops:
      advertiser?.delegate = nil
      advertiser?.stopAdvertisingPeer()
    case .startsAnew:
      advertiser?.stopAdvertisingPeer()
      advertiser?.startAdvertisingPeer()
    case .stays, .stopsBeforeTheAnswer, .isReleasedBeforeTheAnswer, .stopsWhenConnecting, .isReleasedWhenConnecting:
      break
    }
  }

  fileprivate func end(_ end: BrowserEnd, inviting peer: MCPeerID) {
    if end == .stopsBeforeInviting { browser?.stopBrowsingForPeers() }
    invite(peer)
    switch end {
    case .stops: browser?.stopBrowsingForPeers()
    case .isReleased: dropBrowser()
    case .losesDelegate: browser?.delegate = nil
    case .losesDelegateAndStops:
      browser?.delegate = nil
      browser?.stopBrowsingForPeers()
    case .startsAnew:
      found = nil
      browser?.stopBrowsingForPeers()
      browser?.startBrowsingForPeers()
    case .stays, .stopsBeforeInviting, .stopsWhenConnecting, .isReleasedWhenConnecting: break
    }
  }

  /// Plays one side of an invitation.
  fileprivate func plays(_ advertiserEnd: AdvertiserEnd, _ browserEnd: BrowserEnd, with other: String) {
    asked = { $0.end(advertiserEnd, answering: $1) }
    found = { if $1.displayName == other { $0.end(browserEnd, inviting: $1) } }
    changed = { player, _, state in
      guard state == .connecting else { return }
      if advertiserEnd == .stopsWhenConnecting { player.advertiser?.stopAdvertisingPeer() }
      if advertiserEnd == .isReleasedWhenConnecting { player.dropAdvertiser() }
      if browserEnd == .stopsWhenConnecting { player.browser?.stopBrowsingForPeers() }
      if browserEnd == .isReleasedWhenConnecting { player.dropBrowser() }
    }
  }
}

/// Runs this for each number, a few at a time.
private func inParallel(_ count: Int, _ body: @escaping @Sendable (Int) async -> Void) async {
  await withDiscardingTaskGroup { group in
    for lane in 0..<12 {
      group.addTask { for number in stride(from: lane, to: count, by: 12) { await body(number) } }
    }
  }
}

@Suite("An invitation outlives the advertiser and the browser", .serialized, .timeLimit(.minutes(60)))
struct InvitationOrderTests {
  /// Of each row, which takes a second, most of it to be found.
  private static let times = isLongRun ? 20 : 1

  @Test("one invites: connected, whatever becomes of both meanwhile", arguments: AdvertiserEnd.allCases)
  fileprivate func oneInvites(advertiserEnd: AdvertiserEnd) async {
    let ends = BrowserEnd.allCases
    await inParallel(ends.count * Self.times) { number in
      let browserEnd = ends[number / Self.times]
      let type = Player.serviceType()
      let (anna, ben) = (Player("Anna", type), Player("Ben", type))
      ben.plays(advertiserEnd, .stays, with: "")
      anna.plays(.stays, browserEnd, with: "Ben")
      ben.advertise()
      anna.browse()
      await Self.check(anna, ben, "the browser \(browserEnd)")
      #expect(ben.transcript.prefix(3) == ["invited by Anna", "Anna connecting", "Anna connected"])
    }
  }

  @Test(
    "both invite: connected, whatever becomes of the advertisers and browsers of both",
    arguments: AdvertiserEnd.allCases)
  fileprivate func bothInvite(advertiserEnd: AdvertiserEnd) async {
    let ends = BrowserEnd.allCases
    await inParallel(ends.count * Self.times) { number in
      let browserEnd = ends[number / Self.times]
      let type = Player.serviceType()
      let (anna, ben) = (Player("Anna", type), Player("Ben", type))
      for (player, other) in [(anna, "Ben"), (ben, "Anna")] {
        player.plays(advertiserEnd, browserEnd, with: other)
        player.advertise()
        player.browse()
      }
      await Self.check(anna, ben, "the browsers \(browserEnd)")
    }
  }

  private static func check(_ anna: Player, _ ben: Player, _ row: String) async {
    for (player, other) in [(anna, "Ben"), (ben, "Anna")] {
      let isConnected = await player.sees("\(other) connected", within: .seconds(60))
      #expect(isConnected, "\(row): \(player.peer.displayName) was told \(player.transcript)")
      let told = player.transcript.filter { $0.hasPrefix(other) }
      #expect(told == ["\(other) connecting", "\(other) connected"], "\(row)")
      #expect(player.session.error(forPeer: player === anna ? ben.peer : anna.peer) == nil, "\(row)")
    }
    // It is a session that works.
    try? anna.session.send(Data("hello".utf8), toPeers: [ben.peer], with: .reliable)
    #expect(await ben.sees("Anna says hello", within: .seconds(60)), "\(row)")
    for player in [anna, ben] {
      player.changed = nil
      player.leave()
    }
  }
}

/// What happens to the two sessions around an invitation, one after another.
@Suite("An invitation is its session's", .serialized, .timeLimit(.minutes(60)))
struct InvitationSessionTests {
  private static let times = isLongRun ? 20 : 2

  /// Plays a row some times, a few at once.
  private func rows(_ body: @escaping @Sendable (_ anna: Player, _ ben: Player) async -> Void) async {
    await inParallel(Self.times) { _ in
      let type = Player.serviceType()
      let (anna, ben) = (Player("Anna", type), Player("Ben", type))
      anna.found = { if $1.displayName == "Ben" { $0.invite($1) } }
      await body(anna, ben)
      anna.leave()
      ben.leave()
    }
  }

  private func told(_ player: Player, _ line: String, within time: Duration = .seconds(60)) async {
    let isTold = await player.sees(line, within: time)
    #expect(isTold, "\(player.peer.displayName) was told \(player.transcript)")
  }

  @Test("a session that is left when it has accepted: both are told, and the inviter does not wait its time out")
  func acceptorLeaves() async {
    await rows { anna, ben in
      ben.asked = { player, handler in
        handler(true, player.session)
        player.advertiser?.stopAdvertisingPeer()
        player.session.disconnect()
      }
      ben.advertise()
      anna.browse()
      await told(anna, "Ben notConnected", within: .seconds(15))
      await told(ben, "Anna notConnected", within: .seconds(15))
      #expect(!anna.transcript.contains("Ben connected") && !ben.transcript.contains("Anna connected"))
    }
  }

  @Test("a session that is let go of when it has accepted: the inviter is told")
  func acceptorIsReleased() async {
    await rows { anna, ben in
      ben.asked = { player, handler in
        handler(true, MCSession(peer: player.peer))
        player.dropAdvertiser()
      }
      ben.advertise()
      anna.browse()
      await told(anna, "Ben notConnected", within: .seconds(15))
    }
  }

  @Test("a no is told as a no, whatever becomes of the advertiser", arguments: [true, false])
  func declined(isReleased: Bool) async {
    await rows { anna, ben in
      ben.asked = { player, handler in
        handler(false, nil)
        if isReleased { player.dropAdvertiser() } else { player.advertiser?.stopAdvertisingPeer() }
      }
      ben.advertise()
      anna.browse()
      await told(anna, "Ben notConnected", within: .seconds(15))
      #expect(anna.session.error(forPeer: ben.peer)?.code == .cancelled)
      #expect(ben.transcript == ["invited by Anna"])
    }
  }

  @Test("an answer long after the advertiser has stopped, or was let go of, still counts", arguments: [true, false])
  func lateAnswer(isReleased: Bool) async {
    await rows { anna, ben in
      ben.answers = nil
      ben.advertise()
      anna.browse()
      await told(ben, "invited by Anna")
      if isReleased { ben.dropAdvertiser() } else { ben.advertiser?.stopAdvertisingPeer() }
      await told(anna, "lost Ben")
      anna.browser?.stopBrowsingForPeers()
      anna.dropBrowser()
      ben.answer(true)
      await told(anna, "Ben connected")
      await told(ben, "Anna connected")
    }
  }

  @Test("an unanswered invitation ends at its timeout, though both have stopped")
  func unanswered() async {
    await rows { anna, ben in
      ben.answers = nil
      anna.found = {
        $0.invite($1, timeout: 1)
        $0.browser?.stopBrowsingForPeers()
      }
      ben.advertise()
      anna.browse()
      await told(ben, "invited by Anna")
      ben.advertiser?.stopAdvertisingPeer()
      await told(anna, "Ben notConnected", within: .seconds(15))
      #expect(anna.session.error(forPeer: ben.peer)?.code == .timedOut)
      ben.answer(true)
      await told(ben, "Anna notConnected", within: .seconds(15))
    }
  }

  @Test("a session that is left takes its invitation back, and the next session's is another one")
  func secondSession() async {
    await rows { anna, ben in
      let second = MCSession(peer: anna.peer)
      second.delegate = anna
      anna.found = { player, peer in
        player.invite(peer)
        player.session.disconnect()
        player.browser?.invitePeer(peer, to: second, withContext: nil, timeout: 60)
        player.dropBrowser()
      }

      ben.asked = { $1(true, $0.session) }
      ben.advertise()
      anna.browse()
      await told(anna, "Ben connected")
      await told(ben, "Anna connected")
      #expect(second.connectedPeers == [ben.peer] && anna.session.connectedPeers == [])
      #expect(ben.transcript.last == "Anna connected")
      second.disconnect()
    }
  }

  @Test("a session that is left when connecting, and a second that is invited anew")
  func secondSessionThere() async {
    await rows { anna, ben in
      let second = MCSession(peer: ben.peer)
      second.delegate = ben
      ben.asked = { player, handler in
        if player.transcript.filter({ $0.hasPrefix("invited") }).count > 1 { return handler(true, second) }
        handler(true, player.session)
        player.session.disconnect()
      }
      anna.changed = { player, peer, state in if state == .notConnected { player.invite(peer) } }
      ben.advertise()
      anna.browse()
      await told(anna, "Ben connected")
      await told(ben, "Anna connected")
      #expect(second.connectedPeers == [anna.peer])
      anna.changed = nil
      second.disconnect()
    }
  }

  @Test("an inviter that leaves when connecting: the accepting side is told in its time")
  func inviterLeaves() async {
    await rows { anna, ben in
      ben.session.core.patience.meeting = .seconds(3)
      anna.changed = { player, _, state in if state == .connecting { player.session.disconnect() } }
      ben.advertise()
      anna.browse()
      await told(anna, "Ben notConnected", within: .seconds(15))
      await told(ben, "Anna notConnected", within: .seconds(15))
    }
  }
}
