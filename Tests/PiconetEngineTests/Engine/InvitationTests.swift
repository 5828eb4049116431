import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Invitations")
struct InvitationTests {
  private func ending(_ outcome: Outcome, _ command: UInt64 = 1) -> Ending? {
    guard case .failed(let ending)? = outcome.replies(to: command).first else { return nil }
    return ending
  }

  /// An association with our invitation, which has the id 1 and is with the remote side.
  private func inviting(_ configuration: EngineConfiguration = configuration()) -> OneSided {
    let one = OneSided(configuration).associated()
    #expect(
      one.side.command(.invite(.node(one.far), context: [8], timeout: .seconds(9)), id: 1).frames
        == [.invite(Invite(timeout: 9_000, commitment: one.side.lastCommitment, context: [8]))])
    return one
  }

  /// An association with the remote side's invitation, which waits for our answer.
  private func invited(timeout: UInt64 = 10_000, _ configuration: EngineConfiguration = configuration()) -> OneSided {
    let one = OneSided(configuration).associated()
    one.receive(.invite(Invite(timeout: timeout, commitment: someCommitment, context: [4])))
    return one
  }

  @Test("accepted, both are told, and nothing but what is told comes of it: who is remembered is a person's to say")
  func accepted() {
    let one = inviting()
    let outcome = one.receive(.accept)
    #expect(outcome.replies(to: 1) == [.connected(one.far)] && outcome.frames == [.admit])
    for effect in outcome.effects {
      switch effect {
      case .deliver, .reply, .transmit: break
      default: Issue.record("\(effect)")
      }
    }
    guard case .connected(let peer)? = outcome.events.first else {
      Issue.record("not connected")
      return
    }
    #expect(peer.node == one.far && peer.code == nil && peer.isKnown)
  }

  @Test("declined, the inviter gets the reason")
  func declined() {
    let one = inviting()
    #expect(ending(one.receive(.decline(.declined, detail: "no"))) == Ending(.declined, .peer, "no"))
    #expect(one.side.census.members == 0)
    #expect(one.side.census.associations == 1)
  }

  @Test("an unsolicited answer ends the link", arguments: [true, false])
  func unaskedAnswer(accepts: Bool) {
    let one = OneSided().associated()
    let answer = accepts ? Frame.accept : .decline(.declined, detail: "")
    #expect(one.receive(answer).closeReason == .protocolBroken)
    let other = inviting()
    #expect(other.receive(answer, answer).closeReason == .protocolBroken)
  }

  @Test("withdrawn, the remote side is told, and its answer is awaited without a reply")
  func withdrawn() {
    let one = inviting()
    let outcome = one.side.command(.cancelInvitation(CommandID(rawValue: 1)), id: 2)
    #expect(outcome.frames == [.withdraw(.cancelled)])
    #expect(outcome.replies(to: 1).count == 1 && outcome.replies(to: 2) == [.done])
    #expect(one.receive(.decline(.cancelled, detail: "")).effects == [])
  }

  @Test("cancelling what is over is done without effect")
  func cancelledLate() {
    let one = inviting()
    one.receive(.accept)
    #expect(
      one.side.command(.cancelInvitation(CommandID(rawValue: 1)), id: 2).effects
        == [.reply(CommandID(rawValue: 2), .done)])
  }

  @Test("without an answer the inviter gives up at its time")
  func inviterExpires() {
    let one = inviting()
    #expect(one.side.wait(.seconds(9) - .nanoseconds(1)).replies(to: 1).isEmpty)
    let outcome = one.side.wait(.nanoseconds(1))
    #expect(ending(outcome)?.reason == .timedOut)
    #expect(outcome.frames.contains(.withdraw(.timedOut)))
  }

  @Test(
    "without an answer the invitation expires where it waits, at most after five minutes",
    arguments: [(UInt64(0), 0), (10_000, 10_000), (300_000, 300_000), (300_001, 300_000), (1 << 61, 300_000)])
  func invitedExpires(timeout: UInt64, expected: Int) {
    let one = OneSided(configuration { $0.disconnectTimeout = .seconds(86_400) }).associated()
    let events = one.receive(.invite(Invite(timeout: timeout, commitment: someCommitment, context: [4]))).events
    let expires = one.side.now + .milliseconds(expected)
    guard case .invitationReceived(let peer, [4], expires, false)? = events.first else {
      Issue.record("\(events)")
      return
    }
    #expect(peer.node == one.far)
    let before = one.side.now
    let outcome = one.side.wait(.milliseconds(expected))
    #expect(one.side.now == before + .milliseconds(expected))
    #expect(outcome.frames.last == .decline(.timedOut, detail: "nobody answered in time"))
    #expect(outcome.events == [.invitationEnded(one.far, Ending(.timedOut, .us, "nobody answered in time"))])
    #expect(ending(one.side.command(.answerInvitation(one.far, accept: true, .declined), id: 3), 3) != nil)
  }

  @Test("a node that accepts is a member once admitted, declining tells the reason, and each answer counts once")
  func answers() {
    let accepting = invited()
    #expect(
      accepting.side.command(.answerInvitation(accepting.far, accept: true, .declined), id: 3).frames == [.accept])
    #expect(accepting.side.members == [] && accepting.side.log.replies(to: 3).isEmpty)
    #expect(accepting.receive(.admit).replies(to: 3) == [.done] && accepting.side.members == [accepting.far])
    #expect(ending(accepting.side.command(.answerInvitation(accepting.far, accept: true, .declined), id: 4), 4) != nil)
    let declining = invited()
    #expect(
      declining.side.command(.answerInvitation(declining.far, accept: false, .notWanted), id: 3).frames
        == [.decline(.notWanted, detail: "")])
    #expect(declining.side.members == [])
  }

  @Test("a withdrawn invitation ends for the invited, and has its one answer")
  func withdrawnThere() {
    let one = invited()
    let outcome = one.receive(.withdraw(.cancelled))
    #expect(outcome.frames == [.decline(.cancelled, detail: "")])
    #expect(outcome.events == [.invitationEnded(one.far, Ending(.cancelled, .peer))])
  }

  @Test("a second invitation beside the first ends the link, and so does one from a member")
  func secondInvitation() {
    #expect(invited().receive(.invite(Invite(timeout: 1, commitment: someCommitment))).closeReason == .protocolBroken)
    #expect(
      OneSided().connected().receive(.invite(Invite(timeout: 1, commitment: someCommitment))).closeReason
        == .protocolBroken)
  }

  @Test("our invitation to one who invites us accepts the other's, and says what it has to say before that")
  func invitationAsAnswer() {
    let one = invited()
    let outcome = one.side.command(.invite(.node(one.far), context: [8], timeout: .seconds(9)), id: 1)
    let invite = Invite(timeout: 9_000, commitment: one.side.lastCommitment, context: [8])
    #expect(outcome.frames == [.invite(invite), .accept] && one.side.members == [])
    let accepted = one.receive(.accept)
    #expect(accepted.frames == [] && accepted.replies(to: 1) == [.connected(one.far)])
  }

  @Test("invitations that cross are accepted by both")
  func crossing() {
    let one = inviting()
    let outcome = one.receive(.invite(Invite(timeout: 9_000, commitment: someCommitment)))
    #expect(outcome.frames == [.accept] && one.side.members == [])
    let accepted = one.receive(.accept)
    #expect(accepted.replies(to: 1) == [.connected(one.far)] && accepted.frames == [])
    #expect(one.side.members == [one.far])
  }

  @Test("a stranger that we invite without a code needs no code for its crossing invitation, though one is set")
  func crossingWithCodeSet() {
    let one = inviting()
    one.side.command(.setCode(TypedCodeID(rawValue: 1)))
    let outcome = one.receive(.invite(Invite(timeout: 9_000, commitment: someCommitment)))
    #expect(outcome.frames == [.accept])
    #expect(one.receive(.accept).replies(to: 1) == [.connected(one.far)] && one.side.members == [one.far])
  }

  @Test("an admit after crossing invitations breaks the protocol")
  func crossingAndAdmitted() {
    let one = inviting()
    one.receive(.invite(Invite(timeout: 9_000, commitment: someCommitment)))
    #expect(one.receive(.admit).closeReason == .protocolBroken)
    #expect(one.side.members == [])
  }

  @Test("after invitations without codes have crossed, a code's nonce breaks the protocol: a try would be free")
  func crossingAndNonce() {
    let one = inviting()
    one.receive(.invite(Invite(timeout: 9_000, commitment: someCommitment)))
    #expect(one.receive(.codeNonce(someNonce)).closeReason == .protocolBroken)
  }

  @Test("crossing invitations of which the remote side can't take ours end without membership, and give the place back")
  func crossingAndFull() {
    let one = inviting()
    one.receive(.invite(Invite(timeout: 9_000, commitment: someCommitment)))
    #expect(one.side.engine.associations[one.far]?.holdsPlace == true)
    let outcome = one.receive(.decline(.full, detail: ""), .withdraw(.full))
    #expect(ending(outcome) == Ending(.full, .peer) && outcome.frames == [])
    #expect(one.side.engine.associations[one.far]?.holdsPlace == false && one.side.census.links == 1)
  }

  @Test("an inviter that never admits keeps a place for seconds, after a lost link for as long as that may last")
  func neverAdmitted() {
    let times = configuration { $0.disconnectTimeout = .seconds(60) }
    for isLost in [false, true] {
      let one = OneSided(times).associated { $0.capabilities = .resume }
      one.receive(.invite(Invite(timeout: 300_000, commitment: someCommitment)))
      one.side.command(.answerInvitation(one.far, accept: true, .declined), id: 3)
      if isLost { one.side.take(.linkClosed(one.link, .failed(LinkFailure(.reset)))) }
      let time = isLost ? Duration.seconds(60) : .seconds(10)
      one.side.wait(time - .nanoseconds(1))
      #expect(one.side.engine.associations[one.far]?.holdsPlace == true)
      one.side.wait(.nanoseconds(1))
      #expect(ending(one.side.log, 3)?.reason == .timedOut)
      #expect(one.side.log.frames.contains(.leave(.timedOut, detail: "")) == !isLost)
    }
  }

  @Test("an acceptance can be cancelled until the inviter admits us, which is told then; afterwards that does nothing")
  func cancelledAcceptance() {
    for isAdmitted in [false, true] {
      let one = invited()
      one.side.command(.answerInvitation(one.far, accept: true, .declined), id: 3)
      if isAdmitted { one.receive(.admit) }
      let outcome = one.side.command(.cancelInvitation(CommandID(rawValue: 3)), id: 4)
      #expect(outcome.replies(to: 4) == [.done])
      #expect(outcome.replies(to: 3) == (isAdmitted ? [] : [.failed(Ending(.cancelled, .us))]))
      #expect(outcome.frames == (isAdmitted ? [] : [.leave(.cancelled, detail: "")]))
      #expect(one.side.members == (isAdmitted ? [one.far] : []))
      // The inviter's `admit` may have crossed our answer: it makes neither side a member.
      if !isAdmitted { #expect(one.receive(.admit).closeReason == nil && one.side.members == []) }
    }
  }

  @Test("a full session declines an invitation that crosses its own, and takes its own back, which might be accepted")
  func crossedByFull() {
    let one = OneSided(configuration { $0.capacity = 2 }).associated()
    one.side.command(.invite(.node(one.far), context: [], timeout: .seconds(9)), id: 1)
    let second = OneSidedLink(one, peer: 2)
    second.connect()
    #expect(one.side.members == [second.far])
    let outcome = one.receive(.invite(Invite(timeout: 9_000, commitment: someCommitment)))
    guard case .decline(.full, _)? = outcome.frames.first else {
      Issue.record("\(outcome.frames)")
      return
    }
    #expect(outcome.frames.last == .withdraw(.full) && ending(outcome)?.reason == .full)
    #expect(one.receive(.accept).effects == [] && one.side.members == [second.far])
  }

  @Test(
    "messages before the acceptance end the link",
    arguments: [Frame.message([1]), .fragment([1]), .unreliableMessage(number: 1, [1])])
  func messageTooEarly(frame: Frame) {
    #expect(invited().receive(frame).closeReason == .protocolBroken)
  }

  @Test(
    "an invitation that can't succeed is refused at once",
    arguments: ["ourselves", "nobody", "out of sight", "twice", "member", "context"])
  func refusals(what: String) {
    let one = what == "member" ? OneSided().connected() : inviting()
    var context: [UInt8] = []
    var target = InvitationTarget.node(one.far)
    var reason = Reason.inProgress
    switch what {
    case "ourselves": (target, reason) = (.node(one.side.node), .selfConnection)
    case "nobody": (target, reason) = (.addresses([], expected: nil), .unreachable)
    case "out of sight": (target, reason) = (.node(node(5)), .unreachable)
    case "member": reason = .alreadyConnected
    case "context": (context, reason) = ([UInt8](repeating: 0, count: WireLimits.context + 1), .limitExceeded)
    default: break
    }
    let outcome = one.side.command(.invite(target, context: context, timeout: .seconds(5)), id: 2)
    #expect(ending(outcome, 2)?.reason == reason)
    #expect(outcome.effects.count == 1)
  }

  @Test("an invitation whose dials all fail says what each tried")
  func unreachable() {
    let one = OneSided()
    one.invite()
    let outcome = one.side.take(.dialFailed(DialID(rawValue: 1), LinkFailure(.refused, "nobody there")))
    let failure = LinkFailure(.refused, "nobody there")
    #expect(
      ending(outcome)
        == Ending(.unreachable, .link, "tcp: nobody there", failures: [TransportFailure(.tcp, failure)]))
    #expect(one.side.census.attempts == 0 && one.side.census.dials == 0)
  }

  @Test("an invitation that runs out of time says what each transport did until then")
  func timedOutDialling() {
    let one = OneSided(configuration { $0.transportHeadStart = .seconds(1) })
    let addresses = [
      tcp("far"), TransportAddress(kind: .l2cap, text: "far"), TransportAddress(kind: .rfcomm, text: "far"),
    ]
    one.side.command(.invite(.addresses(addresses, expected: nil), context: [], timeout: .seconds(5)), id: 1)
    one.side.wait(.milliseconds(1500))
    one.side.take(.dialFailed(DialID(rawValue: 1), LinkFailure(.refused)))
    let end = ending(one.side.wait(.seconds(4)))
    #expect(end?.reason == .timedOut)
    #expect(end?.failures.map(\.transport) == [.tcp, .l2cap, .rfcomm])
    #expect(end?.failures.map(\.failure.code) == [.refused, .timedOut, .timedOut])
  }

  /// A link to this address is open, and the key there is this peer's.
  private func opened(_ address: String, _ peer: PeerID, dial: UInt64, _ kind: TransportKind = .tcp) -> Fact {
    .linkOpened(
      LinkID(rawValue: dial),
      LinkOpening(
        dial: DialID(rawValue: dial), peer: peer, traits: LinkTraits(kind: kind, remoteAddress: address)))
  }

  private func dialled(_ outcome: Outcome) -> [[TransportAddress]] {
    outcome.effects.compactMap { if case .dial(_, _, let addresses) = $0 { addresses } else { nil } }
  }

  @Test("after a sighting gives a peer a stranger's address, the peer's own address is still dialled")
  func spoofedSighting() {
    let one = OneSided()
    for (source, address) in [("spoof", "stranger"), ("own", "far")] {
      let sighting = Sighting(
        peer: one.far.peer, incarnation: one.far.incarnation, name: "far", info: [:], addresses: [tcp(address)])
      one.side.take(.discoveryReported(source: source, .seen(sighting)))
    }
    let first = one.side.command(.invite(.node(one.far), context: [], timeout: .seconds(9)), id: 1)
    #expect(dialled(first) == [[tcp("stranger")]])
    let second = one.side.take(opened("stranger", peer(77), dial: 1))
    #expect(second.effects.contains(.closeLink(LinkID(rawValue: 1), flush: false)))
    #expect(second.replies(to: 1).isEmpty && dialled(second) == [[tcp("far")]])
    let third = one.side.take(opened("far", one.far.peer, dial: 2))
    #expect(third.replies(to: 1).isEmpty)
    guard case .hello? = third.frames.first else {
      Issue.record("\(third.effects)")
      return
    }
  }

  @Test("an invitation that may take some transports only dials over no other, and says which it has looked for")
  func chosenTransports() {
    let l2cap = TransportAddress(kind: .l2cap, text: "far")
    let kinds: [([TransportKind]?, [[TransportAddress]])] = [
      (nil, [[tcp("far")]]), ([.l2cap], [[l2cap]]), ([.l2cap, .tcp], [[tcp("far")]]), ([.le], []), ([], []),
    ]
    for (transports, dials) in kinds {
      let one = OneSided(configuration { $0.transports = [.tcp, .l2cap, .le] })
      let sighting = Sighting(
        peer: one.far.peer, incarnation: one.far.incarnation, name: "far", info: [:], addresses: [tcp("far"), l2cap])
      one.side.take(.discoveryReported(source: "own", .seen(sighting)))
      let outcome = one.side.command(
        .invite(.node(one.far, over: transports), context: [], timeout: .seconds(9)), id: 1)
      #expect(dialled(outcome) == dials)
      guard dials.isEmpty else { continue }
      #expect(ending(outcome)?.reason == .unreachable)
      #expect(ending(outcome)?.detail == "the peer is not in sight over \(transports == [] ? "no transport" : "le")")
    }
  }

  @Test(
    "when no other address is left, or none answers, the attempt ends with the wrong key", arguments: [true, false])
  func onlyWrongKeys(answers: Bool) {
    let one = OneSided()
    one.side.command(
      .invite(.addresses([tcp("1"), tcp("2")], expected: one.far.peer), context: [], timeout: .seconds(9)), id: 1)
    #expect(one.side.take(opened("1", peer(77), dial: 1)).replies(to: 1).isEmpty)
    let outcome = one.side.take(
      answers ? opened("2", peer(78), dial: 2) : .dialFailed(DialID(rawValue: 2), LinkFailure(.refused)))
    #expect(ending(outcome)?.reason == .identity && ending(outcome)?.blame == .peer)
    #expect(ending(outcome)?.detail.contains(peer(answers ? 78 : 77).shortDescription) == true)
    #expect(ending(outcome)?.failures.map(\.failure.code) == [.authentication])
    #expect(one.side.census == OneSided().side.census)
  }

  private static let broke = LinkEnd.failed(LinkFailure(.reset, "gone"))

  @Test("a Bluetooth link that breaks before its handshake is over is dialled once more, and only once")
  func radioBreaks() {
    let one = OneSided(configuration { $0.transports = [.l2cap] })
    let l2cap = TransportAddress(kind: .l2cap, text: "far")
    one.side.command(.invite(.addresses([l2cap], expected: one.far.peer), context: [], timeout: .seconds(9)), id: 1)
    #expect(one.side.take(opened("far", one.far.peer, dial: 1, .l2cap)).replies(to: 1).isEmpty)
    let first = one.side.take(.linkClosed(LinkID(rawValue: 1), Self.broke))
    #expect(first.replies(to: 1).isEmpty && dialled(first) == [[l2cap]])
    #expect(one.side.take(opened("far", one.far.peer, dial: 2, .l2cap)).replies(to: 1).isEmpty)
    let second = one.side.take(.linkClosed(LinkID(rawValue: 2), Self.broke))
    #expect(dialled(second).isEmpty)
    #expect(ending(second)?.reason == .linkFailed && ending(second)?.detail.contains("gone") == true)
    #expect(one.side.census == OneSided(configuration { $0.transports = [.l2cap] }).side.census)
  }

  @Test("when the winner breaks before its handshake is over, the transports that it has cut short are dialled")
  func winnerBreaks() {
    let one = OneSided(configuration { $0.transports = [.tcp, .l2cap] })
    let l2cap = TransportAddress(kind: .l2cap, text: "far")
    one.side.command(
      .invite(.addresses([tcp("far"), l2cap], expected: one.far.peer), context: [], timeout: .seconds(9)), id: 1)
    one.side.take(opened("far", one.far.peer, dial: 1))
    let outcome = one.side.take(.linkClosed(LinkID(rawValue: 1), Self.broke))
    #expect(outcome.replies(to: 1).isEmpty && dialled(outcome) == [[l2cap]])
  }

  @Test("a link that the other side ends before its handshake is over ends the attempt")
  func otherSideEnds() {
    let one = OneSided(configuration { $0.transports = [.tcp, .l2cap] })
    let l2cap = TransportAddress(kind: .l2cap, text: "far")
    one.side.command(
      .invite(.addresses([tcp("far"), l2cap], expected: one.far.peer), context: [], timeout: .seconds(9)), id: 1)
    one.side.take(opened("far", one.far.peer, dial: 1))
    let outcome = one.side.take(.linkClosed(LinkID(rawValue: 1), .ended))
    #expect(ending(outcome)?.reason == .linkFailed && dialled(outcome).isEmpty)
  }
}
