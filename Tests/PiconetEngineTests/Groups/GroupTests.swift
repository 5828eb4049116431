import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("A node that joins one member of a group joins all")
struct GroupTests {
  private static let inGroup: Capabilities = [.removal, .introductions, .group, .resume]

  /// An engine that brings its members together, without any yet.
  private func engine(_ change: (inout EngineConfiguration) -> Void = { _ in }) -> IntroducedEngine {
    IntroducedEngine(members: 0) {
      $0.membership = .group
      $0.capacity = 16
      change(&$0)
    }
  }

  private func subjects(_ frames: [Frame]) -> [NodeID] {
    frames.compactMap { if case .introduce(let introduction) = $0 { introduction.member } else { nil } }
  }

  private func asked(_ frames: [Frame]) -> [NodeID] {
    frames.compactMap { if case .askToIntroduce(let member) = $0 { member } else { nil } }
  }

  private func apart(_ outcome: Outcome) -> [Ending] {
    outcome.events.compactMap { if case .membersApart(_, _, let ending) = $0 { ending } else { nil } }
  }

  /// It joins by an invitation of its own.
  private func join(
    _ group: IntroducedEngine, _ byte: UInt8, _ capabilities: Capabilities = inGroup
  ) -> (node: PlayedNode, outcome: Outcome) {
    let played = group.played(node(byte))
    played.associate(nil, capabilities)
    played.invites()
    var outcome = group.side.command(.answerInvitation(played.far, accept: true, .declined))
    outcome += played.receive(.admit)
    return (played, outcome)
  }

  @Test("says so in its hello, and a session of pairs does not")
  func hello() {
    for (membership, isGroup) in [(SessionMembership.group, true), (.pairs, false)] {
      let group = engine { $0.membership = membership }
      let outcome = group.played(node(1)).open()
      let hellos = outcome.frames.compactMap { if case .hello(let hello) = $0 { hello } else { nil } }
      #expect(hellos.first?.capabilities.contains(.group) == isGroup && hellos.count == 1)
    }
  }

  @Test("a new member is introduced at once, both ways, to each other member of the group, and to no other node")
  func introduces() {
    let group = engine()
    let (first, _) = join(group, 1)
    let (outside, _) = join(group, 2, [.removal, .introductions])
    let (second, outcome) = join(group, 3)
    #expect(subjects(first.sent(outcome)) == [second.far] && subjects(second.sent(outcome)) == [first.far])
    #expect(subjects(outside.sent(outcome)).isEmpty)
    #expect(outcome.replies(to: 1) == [] && group.introducing.nextDeadline != nil)

    let pairs = engine { $0.membership = .pairs }
    let (one, _) = join(pairs, 1)
    let (_, joined) = join(pairs, 3)
    #expect(subjects(one.sent(joined)).isEmpty)
  }

  @Test("a node that a member has introduced to us is introduced to the others a little later")
  func later() {
    let group = engine()
    let (first, _) = join(group, 1)
    let (second, _) = join(group, 2)
    second.receive(.introduced(first.far))
    first.receive(.introduced(second.far))
    let subject = node(5)
    first.introduces(subject)
    group.answer(subject)
    let third = group.played(subject)
    third.associate(nil, Self.inGroup)
    let joined = third.crosses()
    #expect(group.side.members.contains(subject) && subjects(second.sent(joined)).isEmpty)
    #expect(subjects(second.sent(group.side.wait(.milliseconds(900)))).isEmpty)
    #expect(subjects(second.sent(group.side.wait(.milliseconds(1_100)))) == [subject])
  }

  @Test("a member that told its address late is introduced once more, with that address, when the two have answered")
  func lateListening() {
    let group = engine()
    let (first, _) = join(group, 1)
    let (second, _) = join(group, 2)
    let listening = Frame.listening([ListeningPort(transport: 1, port: 4_711)])
    #expect(subjects(first.sent(second.receive(listening))).isEmpty)
    first.receive(.introduced(second.far))
    var outcome = second.receive(.introduced(first.far))
    outcome += group.side.wait(.milliseconds(1))
    let introductions = first.sent(outcome).compactMap { frame in
      if case .introduce(let introduction) = frame { introduction } else { nil }
    }
    let place = HostAddress(transport: 1, host: [192, 0, 2, 1], port: 4_711)
    #expect(introductions.map(\.member) == [second.far] && introductions.first?.addresses == [place])
    // Once is enough.
    first.receive(.introduced(second.far))
    outcome = second.receive(.introduced(first.far))
    outcome += second.receive(.listening([ListeningPort(transport: 1, port: 4_712)]))
    outcome += group.side.wait(.seconds(100))
    #expect(subjects(first.sent(outcome)).isEmpty)
    // The other one is introduced once more as well, and a third one meets both with what they told before.
    #expect(subjects(second.sent(first.receive(listening))) == [first.far])
    let (third, joined) = join(group, 3)
    #expect(subjects(third.sent(joined)).count == 2)
    #expect(subjects(third.sent(first.receive(listening))).isEmpty)
  }

  private func together(_ outcome: Outcome) -> [Ending] {
    outcome.events.compactMap { if case .membersTogether(_, _, let ending) = $0 { ending } else { nil } }
  }

  @Test("a failure that may pass is retried with growing pauses, and told once, the second time; a no is not retried")
  func again() {
    let group = engine()
    let (first, _) = join(group, 1)
    let (second, _) = join(group, 2)
    for pause in [2, 4, 8, 16, 16] {
      var failed = first.receive(.introductionFailed(second.far, .unreachable, detail: ""))
      failed += second.receive(.introductionFailed(first.far, .unreachable, detail: ""))
      #expect(apart(failed) == (pause == 4 ? [Ending(.unreachable, .peer, by: first.far)] : []), "\(pause)")
      #expect(subjects(first.sent(group.side.wait(.milliseconds(pause * 1_000 - 1)))).isEmpty, "\(pause)")
      #expect(subjects(first.sent(group.side.wait(.milliseconds(1)))) == [second.far], "\(pause)")
    }
    first.receive(.introductionFailed(second.far, .declined, detail: "no"))
    let outcome = second.receive(.introduced(first.far))
    #expect(apart(outcome) == [Ending(.declined, .peer, "no", by: first.far)])
    #expect(subjects(first.sent(group.side.wait(.seconds(100)))).isEmpty)
  }

  @Test("two that were told of as apart are told of when they come together, others are not")
  func comesTogether() {
    for misses in 1...2 {
      let group = engine()
      let (first, _) = join(group, 1)
      let (second, _) = join(group, 2)
      for miss in 1...misses {
        first.receive(.introductionFailed(second.far, .unreachable, detail: ""))
        second.receive(.introductionFailed(first.far, .unreachable, detail: ""))
        group.side.wait(.seconds(Int64(1) << miss))
      }
      first.receive(.introduced(second.far))
      let outcome = second.receive(.introduced(first.far))
      #expect(together(outcome) == (misses == 2 ? [Ending(.unreachable, .peer, by: first.far)] : []))
      #expect(apart(outcome).isEmpty)
    }
  }

  @Test("a node that loses a member asks four others for it; a node whose member leaves asks no other")
  func asks() {
    for isLost in [true, false] {
      let group = engine { $0.disconnectTimeout = .zero }
      let members = (1...6).map { join(group, $0).node }
      let outcome =
        isLost
        ? group.side.take(.linkClosed(members[0].link, .failed(LinkFailure(.reset))))
        : members[0].receive(.leave(.left, detail: ""))
      let those = members.dropFirst().filter { asked($0.sent(outcome)) == [members[0].far] }
      #expect(those.count == (isLost ? 4 : 0))
    }
  }

  @Test("a node that loses a member over and over asks 512 times at once, and again after two seconds")
  func asksNoMoreThanOthersTake() {
    let group = engine { $0.disconnectTimeout = .zero }
    let other = join(group, 2).node
    var asks = 0
    func lose() {
      let (member, _) = join(group, 1)
      asks += asked(other.sent(group.side.take(.linkClosed(member.link, .failed(LinkFailure(.reset)))))).count
      group.side.forgetLog()
    }
    for _ in 0..<600 { lose() }
    #expect(asks == 512)
    group.side.wait(.seconds(2))
    for _ in 0..<2 { lose() }
    #expect(asks == 513)
  }

  @Test("a node that is asked introduces the two once at a time, however often it is asked")
  func isAsked() {
    let group = engine()
    let (first, _) = join(group, 1)
    let (second, _) = join(group, 2)
    second.receive(.introduced(first.far))
    first.receive(.introduced(second.far))
    let outcome = first.receive(.askToIntroduce(second.far))
    #expect(subjects(first.sent(outcome)) == [second.far] && subjects(second.sent(outcome)) == [first.far])
    // One has answered before it lost the other: the two begin anew, and not at the asker's speed.
    var frames: [Frame] = []
    for _ in 0..<1_000 { frames += second.sent(first.receive(.askToIntroduce(second.far))) }
    #expect(subjects(frames).isEmpty && frames.count <= 1)
    // An unknown node, this node, the asking member itself.
    for unknown in [node(7), group.side.node, first.far] {
      #expect(first.receive(.askToIntroduce(unknown)).frames == [])
    }
  }

  @Test("in a session of pairs a member's request introduces no node; a stranger's request breaks the protocol")
  func pairs() {
    let group = engine { $0.membership = .pairs }
    let (first, _) = join(group, 1)
    let (second, _) = join(group, 2)
    #expect(first.receive(.askToIntroduce(second.far)).frames == [])
    let stranger = group.played(node(3))
    stranger.associate()
    #expect(stranger.receive(.askToIntroduce(second.far)).closeReason == .protocolBroken)
  }

  @Test("a node that a member has removed is introduced to no other")
  func removed() {
    let group = engine { $0.removals = .members }
    let (first, _) = join(group, 1)
    let (second, _) = join(group, 2)
    first.receive(.introduced(second.far))
    second.receive(.introduced(first.far))
    let outcome = first.receive(.removeMember(subject: second.far, .removed))
    #expect(second.sent(outcome).contains(.leave(.removed, detail: "")))
    group.side.take(.linkClosed(second.link, .ended))
    #expect(subjects(first.sent(first.receive(.askToIntroduce(second.far)))).isEmpty)
    #expect(group.introductions.isEmpty)
    // Invited anew it belongs to the group again.
    let (back, joined) = join(group, 2)
    #expect(subjects(first.sent(joined)) == [back.far])
  }

  @Test("shutting down leaves nothing")
  func shutDown() {
    let group = engine()
    let (first, _) = join(group, 1)
    let (second, _) = join(group, 2)
    group.side.command(.shutDown)
    for one in [first, second] { group.side.take(.linkClosed(one.link, .ended)) }
    #expect(group.side.census.introductions == 0 && group.side.census.nextDeadline == nil)
  }
}
