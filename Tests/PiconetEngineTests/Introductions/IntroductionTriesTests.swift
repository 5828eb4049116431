import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("The ways to a node that a member introduces")
struct IntroductionTriesTests {
  /// Larger than the engine, which dials at once.
  private let subject = node(20)

  private func times(_ group: IntroducedEngine, _ duration: Duration, _ first: Outcome) -> [Duration] {
    var times: [Duration] = []
    let start = group.side.now
    var new = first
    while group.side.now < start + duration {
      for dial in new.dials {
        times.append(group.side.now - start)
        group.side.take(.dialFailed(dial.id, LinkFailure(.refused)))
      }
      new = group.side.wait(.milliseconds(50))
    }
    return times
  }

  @Test("are tried again after growing pauses, up to 8 s")
  func pauses() {
    let group = IntroducedEngine()
    let tries = times(group, .seconds(40), group.accept(subject, timeout: 60_000))
    #expect(tries == [0, 2, 6, 14, 22, 30, 38].map { .seconds($0) })
  }

  @Test("are tried for as long as the introduction stands, and then its introducer has its answer")
  func ends() {
    let group = IntroducedEngine()
    let outcome = group.waitWithFailures(.seconds(31), first: group.accept(subject))
    #expect(outcome.dials.count == 5)
    #expect(group.introducer.sent(outcome).answers == [.timedOut])
    #expect(outcome.introductionEnds.first?.detail.contains("unreachable") == true)
    #expect(group.side.census.nextDeadline.map { $0 > group.side.now } != false)
  }

  @Test("are no secret that the introducer is told: what answers where it has us dial is ours to know")
  func oracle() {
    let group = IntroducedEngine()
    let outcome = group.waitWithFailures(.seconds(31), first: group.accept(subject))
    for case .introductionFailed(_, _, let detail) in group.introducer.sent(outcome) {
      #expect(!detail.contains("unreachable") && !detail.contains("tcp"), "\(detail)")
    }
  }

  @Test("the larger node waits half a second, and a node that comes by itself is invited at once")
  func waits() {
    let smaller = node(5)
    let group = IntroducedEngine()
    #expect(group.accept(smaller).dials.isEmpty)
    #expect(group.side.wait(.milliseconds(499)).dials.isEmpty)
    #expect(group.side.wait(.milliseconds(1)).dials.map(\.addresses) == [[somewhereText]])

    let other = IntroducedEngine()
    other.accept(smaller)
    let played = other.played(smaller)
    #expect(played.sent(played.associate()).invites == 1)
    #expect(other.side.wait(.seconds(1)).dials.isEmpty)
  }

  @Test("are tried again where the node hides, which it may do for a moment only")
  func notAvailable() {
    let group = IntroducedEngine()
    let played = group.played(subject)
    played.open(group.accept(subject).dials.first?.id)
    var outcome = played.receive(.close(.notAvailable, detail: ""))
    outcome += group.side.take(.linkClosed(played.link, .ended))
    #expect(outcome.introductionEnds.isEmpty && group.introducer.sent(outcome).answers.isEmpty)
    #expect(group.side.wait(.seconds(2)).dials.count == 1)
  }

  @Test("end where the node declines", arguments: [Reason.declined, .full, .identity, .left])
  func declines(reason: Reason) {
    let group = IntroducedEngine()
    let played = group.played(subject)
    played.associate(group.accept(subject).dials.first?.id)
    let outcome = played.receive(.decline(reason, detail: "no"))
    #expect(group.introducer.sent(outcome).answers == [reason])
    #expect(outcome.introductionEnds == [Ending(reason, .peer, "no")])
    #expect(group.side.wait(.seconds(60)).dials.isEmpty)
  }

  @Test("go on where it declines because something else is under way, or because its user has not answered")
  func declinesForNow() {
    for reason in [Reason.inProgress, .timedOut] {
      let group = IntroducedEngine()
      let played = group.played(subject)
      played.associate(group.accept(subject).dials.first?.id)
      let outcome = played.receive(.decline(reason, detail: ""))
      #expect(outcome.introductionEnds.isEmpty)
      #expect(played.sent(group.side.wait(.seconds(2))).invites == 1)
    }
  }

  @Test("end where another run of the node answers")
  func restarted() {
    let group = IntroducedEngine()
    let other = NodeID(peer: subject.peer, incarnation: Incarnation(rawValue: 99))
    let played = group.played(other)
    let outcome = played.associate(group.accept(subject).dials.first?.id)
    #expect(group.introducer.sent(outcome).answers == [.restarted])
    #expect(outcome.introductionEnds.map(\.reason) == [.restarted])
    #expect(played.sent(outcome).invites == 0 && group.side.census.attempts == 0)
  }

  @Test("go on where another key answers: an address is a hint, and may belong to any device")
  func wrongKey() {
    let group = IntroducedEngine()
    group.introducer.introduces(subject, at: [place(1)])
    let dial = group.answer(subject).dials.first
    let opening = LinkOpening(dial: dial?.id, peer: node(66).peer, traits: group.one.traits)
    let outcome = group.side.take(.linkOpened(LinkID(rawValue: 7), opening))
    #expect(outcome.closedLinks == [LinkID(rawValue: 7)])
    #expect(outcome.introductionEnds.isEmpty && group.introducer.sent(outcome).answers.isEmpty)
    #expect(group.side.wait(.seconds(2)).dials.count == 1)
  }

  @Test("are those of discovery and of every introducer, 16 of these at most, of each as many as of the others")
  func addresses() {
    let group = IntroducedEngine(members: 3)
    for (number, member) in group.members.enumerated() {
      member.introduces(subject, at: (0..<8).map { place(UInt16(8 * number + $0)) })
    }
    let dialled = group.waitWithFailures(.zero, first: group.answer(subject)).dials.flatMap(\.addresses)
    #expect(dialled == (Array(0..<6) + Array(8..<13) + Array(16..<21)).map { "203.0.0.\($0):4711" })
  }

  @Test("are those that its introducers name in their own time", arguments: [false, true])
  func ownTime(isTakenBack: Bool) {
    let group = IntroducedEngine(members: 2)
    group.introducer.introduces(subject, timeout: 5_000, at: [place(1), place(3)])
    group.members[1].introduces(subject, timeout: 300_000, at: [place(2), place(3)])
    let first = group.waitWithFailures(.zero, first: group.answer(subject))
    #expect(first.dials.flatMap(\.addresses) == ["203.0.0.1:4711", "203.0.0.3:4711", "203.0.0.2:4711"])
    if isTakenBack { group.introducer.receive(.withdrawIntroduction(subject, .left)) }
    let wait: Duration = isTakenBack ? .seconds(2) : .milliseconds(4_900)
    let later = group.waitWithFailures(wait)
    if !isTakenBack {
      let over = group.side.wait(.milliseconds(200))
      #expect(group.introducer.sent(over).answers == [.timedOut])
    }
    let others = ["203.0.0.3:4711", "203.0.0.2:4711"]
    #expect(later.dials.flatMap(\.addresses) == (isTakenBack ? others : ["203.0.0.1:4711"] + others))
    #expect(group.side.wait(.seconds(10)).dials.flatMap(\.addresses) == others)
  }

  @Test("are awaited while no address is known, and a new address is dialled at once")
  func none() {
    let group = IntroducedEngine(members: 2)
    #expect(group.accept(subject, at: []).dials.isEmpty)
    #expect(group.side.wait(.seconds(5)).dials.isEmpty)
    #expect(group.members[1].introduces(subject).dials.map(\.addresses) == [[somewhereText]])
  }

  @Test("are found where discovery sees the node")
  func discovered() {
    let group = IntroducedEngine()
    group.accept(subject, at: [])
    let sighting = Sighting(
      peer: subject.peer, incarnation: subject.incarnation, name: "seen", info: [:], addresses: [tcp("192.0.2.9:1")],
      signalStrength: nil)
    let outcome = group.side.take(.discoveryReported(source: "test", .seen(sighting)))
    #expect(outcome.dials.map(\.addresses) == [["192.0.2.9:1"]])
  }

  // MARK: What a hostile member can cause

  @Test("8 are tried at once for one introducer, and those of another one have room beside them")
  func underWay() {
    let group = IntroducedEngine(members: 2)
    var dials = 0
    for byte: UInt8 in 100...120 { dials += group.accept(node(byte)).dials.count }
    #expect(dials == 8)
    #expect(group.side.wait(.seconds(10)).dials.isEmpty)
    #expect(group.accept(node(200), by: group.members[1]).dials.count == 1)
    // Their time is over, and others have their turn.
    #expect(group.side.wait(.seconds(6)).dials.count == 8)
  }

  @Test("256 addresses are dialled in ten minutes on one member's word, and others lose nothing by it")
  func budget() {
    let group = IntroducedEngine(members: 2)
    var count = 0
    for round in 0..<80 {
      let addresses = (0..<8).map { place(UInt16(8 * round + $0)) }
      let outcome = group.waitWithFailures(.zero, first: group.accept(subject, at: addresses))
      count += outcome.dials.flatMap(\.addresses).count
      group.introducer.receive(.withdrawIntroduction(subject, .left))
    }
    #expect(count == 256)
    let honest = group.accept(node(21), by: group.members[1])
    #expect(honest.dials.count == 1)
    group.side.wait(.seconds(600))
    #expect(group.accept(subject).dials.count == 1)
  }

  /// A group of two, one of which has used up what it may have us dial.
  private func used(_ change: (inout EngineConfiguration) -> Void = { _ in }) -> (
    group: IntroducedEngine, hostile: PlayedNode, honest: PlayedNode
  ) {
    let group = IntroducedEngine(members: 2, change)
    var count = 0
    while count < IntroducerBudget.limit {
      let addresses = (0..<8).map { place(UInt16(1_000 + count + $0)) }
      let outcome = group.waitWithFailures(.zero, first: group.accept(node(99), at: addresses))
      count += outcome.dials.flatMap(\.addresses).count
      group.introducer.receive(.withdrawIntroduction(node(99), .left))
    }
    return (group, group.introducer, group.members[1])
  }

  @Test(
    "where one that may cause no more dials has come first, another one's word is worth as much",
    arguments: [false, true])
  func paidByAnother(isSeen: Bool) {
    let (group, hostile, honest) = used()
    if isSeen {
      let sighting = Sighting(
        peer: subject.peer, incarnation: subject.incarnation, name: "seen", info: [:], addresses: [tcp("192.0.2.9:1")],
        signalStrength: nil)
      group.side.take(.discoveryReported(source: "test", .seen(sighting)))
    }
    hostile.introduces(subject, at: isSeen ? [] : [somewhere])
    honest.introduces(subject, at: isSeen ? [] : [somewhere])
    #expect(group.answer(subject).dials.map(\.addresses) == [[isSeen ? "192.0.2.9:1" : somewhereText]])
  }

  @Test("of one that has eight under way already are tried in the turn of another one that introduces the node")
  func turnOfAnother() {
    let group = IntroducedEngine(members: 2)
    for byte: UInt8 in 100..<110 { group.accept(node(byte)) }
    group.introducer.introduces(subject)
    group.members[1].introduces(subject)
    #expect(group.answer(subject).dials.count == 1)
    // That one is the other's: eight of it have room as well, and no more.
    var dials = 0
    for byte: UInt8 in 120..<130 { dials += group.accept(node(byte), by: group.members[1]).dials.count }
    #expect(dials == 7)
  }

  @Test("that others have invented put out none of those that one names who is right")
  func invented() {
    let group = IntroducedEngine(members: 3)
    for (number, member) in group.members.prefix(2).enumerated() {
      member.introduces(subject, at: (0..<8).map { place(UInt16(8 * number + $0)) })
    }
    group.members[2].introduces(subject, at: [somewhere])
    let dialled = group.waitWithFailures(.zero, first: group.answer(subject)).dials.flatMap(\.addresses)
    #expect(dialled.contains(somewhereText))
  }

  @Test("to one that is a member already, for a better link, count against who names them, too")
  func better() {
    let (group, hostile, honest) = used { $0.transports = [.tcp, .relay] }
    group.one.traits = TunnelRoute(remote: subject, relays: [honest.far], relayCount: 1).traits
    let member = group.played(subject)
    member.associate(nil, [.removal, .introductions, .resume])
    member.invites()
    group.side.command(.answerInvitation(subject, accept: true, .declined))
    member.receive(.admit)
    #expect(group.side.members.contains(subject))
    hostile.introduces(subject, at: (0..<8).map { place(UInt16($0)) })
    #expect(group.side.wait(.seconds(1)).dials.isEmpty)
    // What another one has named was tried in that round; what is new is worth one of its own.
    honest.introduces(subject, at: [somewhere, place(3)])
    #expect(group.side.wait(.seconds(12)).dials.flatMap(\.addresses) == ["203.0.0.3:4711", somewhereText])
  }

  @Test("an introducer that tells ever more addresses neither shortens pauses nor uses up what others may cause")
  func charged() {
    let group = IntroducedEngine(members: 2)
    let hostile = group.members[1]
    var outcome = group.accept(subject, timeout: 300_000)
    for round in 0..<400 {
      group.waitWithFailures(.zero, first: outcome)
      outcome = hostile.introduces(subject, at: (0..<8).map { place(UInt16(1_000 + 8 * round + $0)) })
      outcome += hostile.receive(.withdrawIntroduction(subject, .left))
      #expect(outcome.dials.count == 0, "\(round)")
    }
    #expect(group.side.wait(.seconds(2)).dials.count == 1)
    #expect(group.accept(node(21)).dials.count == 1)
  }

  @Test("an invitation of the application's own goes before one that has found no way yet")
  func own() {
    let group = IntroducedEngine()
    group.accept(subject)
    let sighting = Sighting(
      peer: subject.peer, incarnation: subject.incarnation, name: "seen", info: [:], addresses: [tcp("192.0.2.9:1")],
      signalStrength: nil)
    group.side.take(.discoveryReported(source: "test", .seen(sighting)))
    let outcome = group.side.command(.invite(.node(subject), context: [], timeout: .seconds(30)), id: 3)
    #expect(outcome.replies(to: 3) == [] && outcome.dials.map(\.addresses) == [["192.0.2.9:1"]])
    let played = group.played(subject)
    played.associate(outcome.dials.first?.id)
    let joined = played.crosses()
    #expect(joined.replies(to: 3) == [.connected(subject)])
    #expect(group.introducer.sent(joined).answers == [nil])
  }

  @Test("leave the node to an invitation of the application's own, by address, that has found it")
  func ownByAddress() {
    let group = IntroducedEngine()
    #expect(group.accept(subject).dials.count == 1)
    let target = InvitationTarget.addresses([tcp("192.0.2.9:1")], expected: subject.peer)
    let own = group.side.command(.invite(target, context: [7], timeout: .seconds(30)), id: 3)
    let played = group.played(subject)
    played.associate(own.dials.first?.id)
    #expect(played.crosses().replies(to: 3) == [.connected(subject)])
    #expect(group.side.members.contains(subject) && group.introductions.isEmpty)
  }

  @Test("end at once where our invitation is one frame more than the node may leave unacknowledged")
  func crowded() {
    let group = IntroducedEngine()
    group.introducer.introduces(subject)
    let played = group.played(subject)
    played.associate(nil, [.resume])
    for _ in 0..<KeepingLimits.strangerFrames {
      played.invites()
      played.receive(.withdraw(.cancelled))
    }
    #expect(group.side.census.associations == 2)
    // No further fact brings about what this one should have.
    group.side.takesAll = false
    let outcome = group.answer(subject)
    #expect(outcome.closeReason == .limitExceeded && group.side.census.associations == 1)
    #expect(outcome.introductionEnds.map(\.reason) == [.limitExceeded])
    #expect(group.introducer.sent(outcome).answers == [.limitExceeded])
  }
}
