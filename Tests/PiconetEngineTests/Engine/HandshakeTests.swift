import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("The handshake of a link")
struct HandshakeTests {
  /// An engine that has dialled, and whose link is open.
  private func dialled(_ configuration: EngineConfiguration = configuration()) -> OneSided {
    let one = OneSided(isSmaller: true, configuration)
    one.invite()
    one.side.take(.linkOpened(one.link, one.opening(dial: DialID(rawValue: 1))))
    return one
  }

  @Test("the dialling side speaks first")
  func diallerSpeaksFirst() {
    let one = OneSided(isSmaller: true)
    #expect(one.invite().effects == [.dial(DialID(rawValue: 1), .tcp, [tcp("far")])])
    let outcome = one.side.take(.linkOpened(one.link, one.opening(dial: DialID(rawValue: 1))))
    guard case .hello(let hello)? = outcome.frames.first else {
      Issue.record("no hello")
      return
    }
    #expect(hello.sessionID == "test" && hello.name == "a device" && hello.held == nil)
    #expect(outcome.frames.count == 1)
  }

  @Test("a new name is said by the next hello, and what is no name is refused with the rule")
  func newName() {
    let one = OneSided(isSmaller: true)
    #expect(one.side.command(.setName("another"), id: 7).replies(to: 7) == [.done])
    for (name, rule) in [("", "1 to 63 bytes"), (String(repeating: "a", count: 64), "63"), ("a\n", "control")] {
      guard case .failed(let ending)? = one.side.command(.setName(name), id: 8).replies(to: 8).last else {
        Issue.record("'\(name)' is taken")
        continue
      }
      #expect(ending.blame == .us && ending.detail.contains(rule))
    }
    one.invite()
    let outcome = one.side.take(.linkOpened(one.link, one.opening(dial: DialID(rawValue: 1))))
    guard case .hello(let hello)? = outcome.frames.first else {
      Issue.record("no hello")
      return
    }
    #expect(hello.name == "another")
  }

  @Test("a key that is not admitted is told so, and hears nothing of us")
  func notAdmitted() {
    let one = OneSided()
    var opening = one.opening(dial: nil)
    opening.isAdmitted = false
    let outcome = one.side.take(.linkOpened(one.link, opening))
    #expect(outcome.frames == [.close(.identity, detail: "this device is not trusted there")])
    #expect(outcome.effects.contains(.closeLink(one.link, flush: true)))
    #expect(one.receive(one.hello()).frames.isEmpty, "the link is forgotten")
  }

  @Test("the dialling side proves the peer, associates and invites")
  func diallerGoesOn() {
    let one = dialled()
    let outcome = one.receive(one.hello())
    #expect(outcome.effects.contains(.judgeTrust(one.link, one.far, name: "far", isDialled: true)))
    guard case .associate(_, 0)? = outcome.frames.first,
      case .invite? = outcome.frames.last
    else {
      Issue.record("\(outcome.frames)")
      return
    }
    #expect(one.side.census.associations == 1)
  }

  @Test("the accepting side waits for a hello, answers it, and has the peer judged")
  func acceptorWaits() {
    let one = OneSided()
    #expect(one.side.take(.linkOpened(one.link, one.opening())).frames.isEmpty)
    let answer = one.receive(one.hello())
    guard case .hello? = answer.frames.first else {
      Issue.record("no hello")
      return
    }
    #expect(answer.effects.contains(.judgeTrust(one.link, one.far, name: "far", isDialled: false)))
  }

  @Test("the larger id waits for `associate`, and answers it")
  func largerWaits() {
    let one = OneSided()
    one.open()
    #expect(one.side.census.associations == 0)
    #expect(
      one.receive(.associate(AssociationID(high: 1, low: 2), received: 0)).frames
        == [.associated(received: 0, begun: 1)])
    #expect(one.side.census.associations == 1)
  }

  @Test("the smaller id associates as soon as the peer is trusted")
  func smallerDecides() {
    let one = OneSided(isSmaller: true)
    guard case .associate(_, 0)? = one.open().frames.last else {
      Issue.record("no associate")
      return
    }
    #expect(one.side.census.associations == 1)
  }

  @Test(
    "a wrong hello ends the link with the reason",
    arguments: [
      ("version", Reason.version), ("session id", .wrongSession), ("empty session id", .wrongSession),
      ("longer session id", .wrongSession), ("ourselves", .selfConnection),
    ])
  func wrongHello(what: String, reason: Reason) {
    let one = dialled()
    var opening = one.opening(dial: nil)
    let second = LinkID(rawValue: 2)
    if what == "ourselves" { opening.peer = one.side.node.peer }
    // On a link that the remote side dialled.
    one.side.take(.linkOpened(second, opening))
    let hello = one.hello { hello in
      switch what {
      case "version": hello.versions = 2...3
      case "session id": hello.sessionID = "tesT"
      case "empty session id": hello.sessionID = ""
      case "longer session id": hello.sessionID = "test2"
      case "ourselves": hello.incarnation = one.side.node.incarnation
      default: break
      }
    }
    let outcome = one.side.take(.received(second, FrameEncoder.encode(hello)[...]))
    #expect(outcome.closeReason == reason)
    #expect(outcome.effects.last == .closeLink(second, flush: true))
    #expect(one.side.census.links == 1)
    #expect(outcome.replies(to: 1).isEmpty, "the other link goes on")
  }

  @Test(
    "on a dialled link the failure is the invitation's reply",
    arguments: [(Reason.version, Blame.peer), (.wrongSession, .peer)])
  func failureIsTheReply(reason: Reason, blame: Blame) {
    let one = dialled()
    let outcome = one.receive(
      one.hello { hello in
        if reason == .version { hello.versions = 9...9 }
        if reason == .wrongSession { hello.sessionID = "other" }
      })
    guard case .failed(let ending)? = outcome.replies(to: 1).first else {
      Issue.record("no reply")
      return
    }
    #expect(ending.reason == reason && ending.blame == blame)
    #expect(one.side.census == OneSided().side.census)
  }

  @Test("sessionIDs are compared byte by byte: the same letters in another form are another session")
  func sessionIDBytes() {
    let one = OneSided(configuration { $0.sessionID = "caf\u{E9}" })
    one.side.take(.linkOpened(one.link, one.opening()))
    #expect(one.receive(one.hello { $0.sessionID = "cafe\u{301}" }).closeReason == .wrongSession)
  }

  @Test("the peer's greeting comes with its invitation, and with its acceptance of our invitation")
  func greeting() {
    let one = OneSided(configuration { $0.greeting = [7, 7] }).associated { $0.greeting = [8, 8] }
    #expect(
      one.side.log.frames.contains { if case .hello(let hello) = $0 { hello.greeting == [7, 7] } else { false } })
    guard
      case .invitationReceived(let peer, _, _, _)? = one.receive(
        .invite(Invite(timeout: 1_000, commitment: someCommitment))
      ).events.last
    else {
      Issue.record("not invited")
      return
    }
    #expect(peer.greeting == [8, 8])
    one.receive(.withdraw(.cancelled))
    one.side.command(.invite(.node(one.far), context: [], timeout: .seconds(5)), id: 1)
    guard case .connected(let member)? = one.receive(.accept).events.last else {
      Issue.record("not connected")
      return
    }
    #expect(member.greeting == [8, 8] && member.invitationContext == nil)
  }

  @Test("a peer that is not trusted is told so in words without our own files; our user is told everything")
  func trustRefused() {
    let one = dialled()
    one.side.judgement = .refused(.identity, detail: "see line 3 of a file", told: "another key")
    let outcome = one.receive(one.hello())
    #expect(outcome.frames.last == .close(.identity, detail: "another key"))
    #expect(outcome.replies(to: 1) == [.failed(Ending(.identity, .peer, "see line 3 of a file"))])
    #expect(one.side.census.links == 0)
  }

  @Test("the user is told of an untrusted peer that dialled us, with its name and its address")
  func refusedPeerIsTold() {
    let one = OneSided()
    one.side.judgement = .refused(.identity, detail: "see line 3 of a file", told: "another key")
    let outcome = one.open()
    #expect(outcome.frames.last == .close(.identity, detail: "another key"))
    let ending = Ending(.identity, .peer, "see line 3 of a file")
    #expect(outcome.events == [.peerRefused(one.far, name: "far", someTraits, ending, suppressed: 0)])
    #expect(one.side.census.links == 0)
  }

  @Test("a peer that we have dialled is refused by the end of the attempt, and told no second time")
  func refusedAnswererIsToldOnce() {
    let one = dialled()
    one.side.judgement = .refused(.identity, detail: "see line 3 of a file", told: "another key")
    #expect(one.receive(one.hello()).events == [])
  }

  @Test("a link to a different peer than expected is closed at once, without a frame")
  func anotherPeer() {
    let one = OneSided()
    one.side.command(.invite(.addresses([tcp("x")], expected: peer(7)), context: [], timeout: .seconds(9)), id: 1)
    let outcome = one.side.take(.linkOpened(one.link, one.opening(dial: DialID(rawValue: 1))))
    #expect(outcome.effects.first == .closeLink(one.link, flush: false))
    #expect(outcome.frames.isEmpty)
    guard case .failed(let ending)? = outcome.replies(to: 1).first else {
      Issue.record("no reply")
      return
    }
    #expect(ending.reason == .identity)
    #expect(one.side.census.attempts == 0)
  }

  @Test("a frame at the wrong time ends the link", arguments: LegalFramesTests.table.map(\.0))
  func wrongFrame(frame: Frame) {
    switch frame {
    case .hello, .close: return
    default: break
    }
    let one = OneSided()
    one.side.take(.linkOpened(one.link, one.opening()))
    let outcome = one.receive(frame)
    #expect(outcome.closeReason == .protocolBroken)
    #expect(one.side.census.links == 0)
  }

  @Test("`associate` from the larger id ends the link, also in the place of an answer")
  func associateFromTheLarger() {
    let one = OneSided(isSmaller: true)
    one.side.answersHandshake = false
    one.open()
    // The trust is not judged yet: the frame waits, and then meets an active link.
    #expect(one.receive(.associate(AssociationID(high: 1, low: 2), received: 0)).effects == [])
    #expect(one.side.take(.trustJudged(one.link, .known)).closeReason == .protocolBroken)
  }

  @Test("`associate` that goes on with something we never had is refused")
  func associateWithThePast() {
    let one = OneSided()
    one.open()
    let outcome = one.receive(.associate(AssociationID(high: 1, low: 2), received: 5))
    #expect(outcome.closeReason == .noSuchAssociation)
  }

  @Test("an invitation over a link that was to go on with something we never had ends like one whose link was lost")
  func inviteWithThePast() {
    let one = OneSided()
    one.invite()
    one.side.take(.linkOpened(one.link, one.opening(dial: DialID(rawValue: 1))))
    one.receive(one.hello())
    let outcome = one.receive(.associate(AssociationID(high: 1, low: 2), received: 5))
    #expect(outcome.closeReason == .noSuchAssociation)
    guard case .failed(let ending)? = outcome.replies(to: 1).first else {
      Issue.record("no reply")
      return
    }
    #expect(ending.reason == .linkFailed && ending.blame == .link)
  }

  @Test("frames that come while the driver judges wait, and are then taken in their order")
  func pausedFrames() {
    let one = OneSided()
    one.side.answersHandshake = false
    one.open()
    #expect(
      one.receive(
        .associate(AssociationID(high: 1, low: 2), received: 0),
        .invite(Invite(timeout: 9, commitment: someCommitment, context: [4]))
      ).effects
        == [])
    let outcome = one.side.take(.trustJudged(one.link, .known))
    #expect(outcome.frames == [.associated(received: 0, begun: 1)])
    guard case .invitationReceived(_, [4], _, _)? = outcome.events.first else {
      Issue.record("no invitation")
      return
    }
  }

  @Test("more bytes than a handshake needs end the link while the driver judges")
  func tooManyPausedBytes() {
    let one = OneSided()
    one.side.answersHandshake = false
    one.open()
    let half = [UInt8](repeating: 0, count: Link.pausedLimit / 2)[...]
    #expect(one.side.take(.received(one.link, half), .received(one.link, half)).effects == [])
    #expect(one.side.take(.received(one.link, [0])).closeReason == .limitExceeded)
  }

  @Test("a handshake ends with its time, at every step", arguments: 0...2)
  func timeout(step: Int) {
    let one = OneSided(configuration { $0.handshakeTimeout = .seconds(4) })
    one.side.answersHandshake = step == 2
    one.side.take(.linkOpened(one.link, one.opening()))
    if step >= 1 { one.receive(one.hello()) }
    #expect(one.side.wait(.seconds(4) - .nanoseconds(1)).closeReason == nil)
    #expect(one.side.wait(.nanoseconds(1)).closeReason == .timedOut)
    #expect(one.side.census.links == 0)
    #expect(one.side.nextDeadline == nil)
  }

  @Test("the oldest unfinished link makes room for a new one, an active one never does")
  func handshakeLimit() {
    let one = OneSided(configuration { $0.handshakeLimit = 2 }).associated()
    for number: UInt64 in 2...3 { one.side.take(.linkOpened(LinkID(rawValue: number), one.opening())) }
    let outcome = one.side.take(.linkOpened(LinkID(rawValue: 4), one.opening()))
    #expect(outcome.closedLinks == [LinkID(rawValue: 2)])
    #expect(outcome.closeReason == .limitExceeded)
    #expect(one.side.census.links == 3)
    #expect(one.side.census.associations == 1)
  }
}
