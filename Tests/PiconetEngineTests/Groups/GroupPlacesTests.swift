import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("A group's places hold for the whole group")
struct GroupPlacesTests {
  private static let inGroup: Capabilities = [.removal, .introductions, .group, .resume]

  private func engine(_ capacity: Int) -> IntroducedEngine {
    IntroducedEngine(members: 0) {
      $0.membership = .group
      $0.capacity = capacity
    }
  }

  private func view(
    capacity: UInt64 = 3, rank: UInt64 = 0, highest: UInt64? = nil, _ members: [NodeID] = []
  ) -> Frame {
    let members = members.map(\.incarnation).sorted { $0.rawValue < $1.rawValue }
    return .groupView(
      GroupView(capacity: capacity, smallest: capacity, rank: rank, highest: highest ?? rank, members: members))
  }

  private func views(_ frames: [Frame]) -> [GroupView] {
    frames.compactMap { if case .groupView(let view) = $0 { view } else { nil } }
  }

  private func declines(_ frames: [Frame]) -> [Reason] {
    frames.compactMap { if case .decline(let reason, _) = $0 { reason } else { nil } }
  }

  private func leaves(_ frames: [Frame]) -> [Reason] {
    frames.compactMap { if case .leave(let reason, _) = $0 { reason } else { nil } }
  }

  private func subjects(_ frames: [Frame]) -> Int {
    frames.count { if case .introduce = $0 { true } else { false } }
  }

  /// An introduction of the two fails: both answer so.
  private func fail(_ one: PlayedNode, _ other: PlayedNode, _ reason: Reason) {
    one.receive(.introductionFailed(other.far, reason, detail: ""))
    other.receive(.introductionFailed(one.far, reason, detail: ""))
  }

  /// A minute passes in which introductions of the two find no way. Another one is under way then.
  private func waitUntilSettled(_ group: IntroducedEngine, _ one: PlayedNode, _ other: PlayedNode) {
    fail(one, other, .timedOut)
    for _ in 0..<61 where subjects(one.sent(group.side.wait(.seconds(1)))) > 0 { fail(one, other, .timedOut) }
    for _ in 0..<17 where subjects(one.sent(group.side.wait(.seconds(1)))) > 0 { return }
  }

  /// It invites us, and is a member if there is a place.
  @discardableResult
  private func join(
    _ group: IntroducedEngine, _ byte: UInt8, _ told: Frame? = nil
  ) -> (node: PlayedNode, outcome: Outcome) {
    let played = group.played(node(byte))
    played.associate(nil, Self.inGroup)
    if let told { played.receive(told) }
    var outcome = played.invites()
    if !declines(played.sent(outcome)).isEmpty { return (played, outcome) }
    outcome += group.side.command(.answerInvitation(played.far, accept: true, .declined))
    outcome += played.receive(.admit)
    return (played, outcome)
  }

  /// A member introduces it, and both invitations cross.
  private func introduced(
    _ group: IntroducedEngine, _ byte: UInt8, by member: PlayedNode, _ told: Frame
  ) -> (node: PlayedNode, outcome: Outcome) {
    let subject = node(byte)
    member.introduces(subject)
    group.answer(subject)
    let played = group.played(subject)
    var outcome = played.associate(nil, Self.inGroup)
    outcome += played.receive(told)
    outcome += played.crosses()
    return (played, outcome)
  }

  @Test("a new member is told of the group first, and the others a little later, once for all changes")
  func tells() {
    let group = engine(5)
    let (first, outcome) = join(group, 1, view(capacity: 4))
    let own = group.side.node
    #expect(views(first.sent(outcome)) == [GroupView(capacity: 5, smallest: 5, rank: 0, highest: 0)])
    let (ours, theirs): (UInt64, UInt64) = own < first.far ? (1, 2) : (2, 1)
    let (second, joined) = join(group, 2)
    #expect(
      views(second.sent(joined)) == [
        GroupView(capacity: 5, smallest: 4, rank: ours, highest: max(ours, theirs), members: [first.far.incarnation])
      ])
    #expect(views(first.sent(joined)).isEmpty)
    let later = group.side.wait(.milliseconds(200))
    let both = [first.far.incarnation, second.far.incarnation].sorted { $0.rawValue < $1.rawValue }
    let now = GroupView(capacity: 5, smallest: 4, rank: ours, highest: 3, members: both)
    #expect(views(first.sent(later)) == [now] && views(second.sent(later)) == [now])
    #expect(views(first.sent(group.side.wait(.seconds(30)))).isEmpty)
  }

  @Test("a session of pairs tells nothing, and heeds nothing of what it is told")
  func pairs() {
    let pairs = IntroducedEngine(members: 0) { $0.capacity = 3 }
    let (first, outcome) = join(pairs, 1, view(capacity: 2, rank: 1, [node(7), node(8)]))
    #expect(views(first.sent(outcome)).isEmpty)
    #expect(pairs.side.members == [first.far])
  }

  @Test("groups that meet become one where all have a place, and otherwise the attempt ends as full")
  func meet() {
    for (others, fits) in [(1, true), (2, true), (3, false)] {
      let group = engine(5)
      join(group, 1, view(capacity: 5))
      let told = view(capacity: 5, rank: 1, highest: 4, (1...others).map { node(UInt8(20 + $0)) })
      let (met, outcome) = join(group, 2, told)
      #expect(group.side.members.contains(met.far) == fits, "\(others)")
      #expect(declines(met.sent(outcome)) == (fits ? [] : [.full]), "\(others)")
    }
  }

  @Test("both sides name the same group that yields: the smaller one, or that with the larger lowest number")
  func yields() {
    func view(_ members: [UInt64]) -> GroupView {
      GroupView(
        capacity: 3, smallest: 3, rank: 1, highest: 1, members: members.map { Incarnation(rawValue: $0) })
    }
    let (one, other) = (Incarnation(rawValue: 5), Incarnation(rawValue: 6))
    for (ours, theirs, weYield) in [
      ([], [], false), ([7], [], false), ([], [1], true), ([7], [1], true), ([1], [7], false),
      ([1, 9], [7, 8, 9], true),
    ] as [([UInt64], [UInt64], Bool)] {
      #expect(view(ours).yields(at: one, to: view(theirs), of: other) == weYield)
      #expect(view(theirs).yields(at: other, to: view(ours), of: one) == !weYield)
    }
  }

  @Test("the blame for an attempt that finds no place for both groups is with the one that yields")
  func blame() {
    for (others, blame) in [([UInt8](), Blame.peer), ([21, 22, 23], .us)] {
      let group = engine(4)
      join(group, 1, view(capacity: 4))
      let met = group.played(node(2))
      met.associate(nil, Self.inGroup)
      group.side.command(.invite(.node(met.far), context: [], timeout: .seconds(9), code: nil), id: 9)
      met.receive(view(capacity: others.isEmpty ? 2 : 4, rank: 1, others.map { node($0) }))
      let outcome = met.receive(.decline(.full, detail: ""))
      #expect(outcome.failure(of: 9)?.blame == blame && outcome.failure(of: 9)?.reason == .full)
    }
  }

  @Test("a node told that a group is full may invite again at once: what it was told is checked at the answer")
  func invitesAgain() {
    for isFreeAgain in [true, false] {
      let group = engine(3)
      let met = group.played(node(2))
      met.associate(nil, Self.inGroup)
      func invite(_ id: UInt64) -> Outcome {
        group.side.command(.invite(.node(met.far), context: [], timeout: .seconds(9), code: nil), id: id)
      }
      _ = invite(9)
      met.receive(view(rank: 1, [node(21), node(22)]))
      #expect(met.receive(.decline(.full, detail: "")).failure(of: 9)?.reason == .full)
      let again = invite(10)
      #expect(again.failure(of: 10) == nil && met.sent(again).contains { if case .invite = $0 { true } else { false } })
      if isFreeAgain { met.receive(view(rank: 1, [node(21)])) }
      let outcome = met.receive(.accept)
      #expect(group.side.members == (isFreeAgain ? [met.far] : []))
      #expect(outcome.failure(of: 10)?.reason == (isFreeAgain ? nil : .full))
      #expect(met.sent(outcome).contains(.withdraw(.full)) == !isFreeAgain)
    }
  }

  @Test("a node that both groups have is counted once")
  func overlap() {
    let group = engine(3)
    let (first, _) = join(group, 1, view())
    let (met, _) = join(group, 2, view(rank: 3, [first.far]))
    #expect(group.side.members.contains(met.far))
  }

  @Test("the smallest capacity of the members counts for who comes from elsewhere, the newcomer's own too")
  func smallest() {
    let group = engine(8)
    join(group, 1, view(capacity: 2))
    #expect(declines(join(group, 2, view(capacity: 8)).outcome.frames) == [.full])
    let other = engine(8)
    join(other, 1, view(capacity: 8))
    #expect(declines(join(other, 2, view(capacity: 2)).outcome.frames) == [.full])
    #expect(join(other, 3, view(capacity: 3)).outcome.frames.contains(.accept))
  }

  @Test("a place promised to a peer or to an introduced node is taken until the outcome is known")
  func reserved() {
    let group = engine(3)
    let (first, _) = join(group, 1, view())
    first.introduces(node(30))
    #expect(declines(join(group, 2, view()).outcome.frames) == [.full])
    first.receive(.withdrawIntroduction(node(30), .cancelled))
    let promised = group.played(node(3))
    promised.associate(nil, Self.inGroup)
    promised.invites()
    group.side.command(.answerInvitation(promised.far, accept: true, .declined))
    #expect(declines(join(group, 4, view()).outcome.frames) == [.full])
    promised.receive(.leave(.cancelled, detail: ""))
    #expect(join(group, 5, view()).outcome.frames.contains(.accept))
  }

  @Test("of two that got the last place at once the later one goes, half a second later, with full")
  func race() {
    for (rank, goes) in [(UInt64(2), false), (9, true)] {
      let group = engine(3)
      let (first, _) = join(group, 1, view())
      let (second, _) = join(group, 2, view())
      second.receive(view(rank: 3))
      let (third, outcome) = introduced(group, 30, by: first, view(rank: rank))
      guard !goes else {
        // It has no place here, and does not become a member even for a moment.
        #expect(declines(third.sent(outcome)) == [.full])
        continue
      }
      #expect(group.side.members.count == 3)
      #expect(leaves(second.sent(group.side.wait(.milliseconds(499)))).isEmpty)
      let later = group.side.wait(.milliseconds(1))
      #expect(leaves(second.sent(later)) == [.full])
      #expect(leaves(first.sent(later)).isEmpty && leaves(third.sent(later)).isEmpty)
    }
  }

  @Test("a node without a place of its own leaves the members that have one")
  func itself() {
    let group = engine(3)
    let (first, _) = join(group, 1, view(rank: 1, highest: 5))
    let (second, _) = join(group, 2, view(rank: 1, highest: 1))
    let (third, _) = introduced(group, 30, by: first, view(rank: 4))
    #expect(group.side.members.count == 3)
    let later = group.side.wait(.milliseconds(500))
    for member in [first, second, third] { #expect(leaves(member.sent(later)) == [.full]) }
  }

  @Test("whatever a member says of others, of its rank and of its capacity, we leave no other member")
  func lies() {
    let group = engine(4)
    let (first, _) = join(group, 1, view(capacity: 4))
    let (liar, _) = join(group, 2, view(capacity: 4))
    let invented = (0..<WireLimits.groupMembers).map { Incarnation(rawValue: UInt64(1_000 + $0)) }
    for capacity in [UInt64(4), 5, VariableInteger.max] {
      liar.receive(
        .groupView(
          GroupView(capacity: capacity, smallest: 2, rank: 1, highest: VariableInteger.max, members: invented)))
      #expect(leaves(first.sent(group.side.wait(.seconds(2)))).isEmpty)
    }
    #expect(group.side.members.contains(first.far))
    // It keeps out nodes from elsewhere, but no node that another member introduces.
    #expect(declines(join(group, 3, view(capacity: 4)).outcome.frames) == [.full])
    let (newcomer, _) = introduced(group, 30, by: first, view(capacity: 4, rank: 4))
    #expect(group.side.members.contains(newcomer.far))
  }

  @Test("a removed member keeps no node out any more, neither by calling the group full nor by its place")
  func removed() {
    let group = engine(4)
    join(group, 1, view(capacity: 4))
    let (liar, _) = join(group, 2, view(capacity: 4))
    liar.receive(view(capacity: 2, rank: 2))
    #expect(declines(join(group, 3, view(capacity: 4)).outcome.frames) == [.full])
    liar.receive(view(capacity: 4, rank: 2, (20...40).map { node($0) }))
    #expect(declines(join(group, 4, view(capacity: 4)).outcome.frames) == [.full])
    group.side.command(.remove(liar.far))
    liar.receive(.leave(.left, detail: ""))
    #expect(join(group, 5, view(capacity: 4)).outcome.frames.contains(.accept))

    let small = engine(3)
    let (first, _) = join(small, 1, view())
    let (parted, _) = join(small, 2, view())
    parted.receive(view(rank: 3))
    let (usurper, _) = introduced(small, 30, by: first, view(rank: 1))
    #expect(leaves(parted.sent(small.side.wait(.milliseconds(500)))) == [.full])
    parted.receive(.leave(.left, detail: ""))
    #expect(declines(join(small, 3, view()).outcome.frames) == [.full])
    small.side.command(.remove(usurper.far))
    usurper.receive(.leave(.left, detail: ""))
    let (back, _) = join(small, 2, view())
    #expect(small.side.members == [first.far, back.far])
  }

  @Test("a member of a minute goes for no newcomer, whatever that one says")
  func settled() {
    let group = engine(3)
    let (first, _) = join(group, 1, view(rank: 1, highest: 1))
    let (second, _) = join(group, 2, view(rank: 3))
    group.side.wait(.seconds(60))
    #expect(first.sent(first.introduces(node(30))).answers == [.full])
    #expect(group.side.members == [first.far, second.far])
  }

  @Test("a pair for which one has no place is introduced again when one of the two tells of a change, and not before")
  func held() {
    let group = engine(16)
    let (first, _) = join(group, 1, view(capacity: 16))
    let (second, _) = join(group, 2, view(capacity: 16))
    // Members of a minute: neither of them goes.
    waitUntilSettled(group, first, second)
    let full = first.receive(.introductionFailed(second.far, .full, detail: ""))
    second.receive(.introductionFailed(first.far, .full, detail: ""))
    #expect(full.events.isEmpty)
    #expect(subjects(first.sent(group.side.wait(.seconds(300)))) == 0)
    first.receive(view(capacity: 16, rank: 1, [node(9)]))
    #expect(subjects(first.sent(group.side.wait(.seconds(16)))) == 1)
    // What has changed meanwhile may be what was missing.
    second.receive(view(capacity: 16, rank: 3))
    second.receive(.introductionFailed(first.far, .full, detail: ""))
    first.receive(.introductionFailed(second.far, .full, detail: ""))
    #expect(subjects(first.sent(group.side.wait(.seconds(16)))) == 1)
  }

  /// Two of our members, of which the first came a little earlier, in a group of three: us, the first, and a node that
  /// only the first has as a member.
  private func overfull() -> (group: IntroducedEngine, first: PlayedNode, second: PlayedNode) {
    let group = engine(16)
    let (first, _) = join(group, 1, view(capacity: 3))
    group.side.wait(.milliseconds(10))
    let (second, _) = join(group, 2, view(capacity: 16))
    first.receive(view(capacity: 3, rank: 9, [group.side.node, node(40)]))
    return (group, first, second)
  }

  @Test(
    "of two members that can't both be of the group the later one goes, half a second later, with full",
    arguments: [Reason.full, .timedOut, .declined])
  func apart(_ reason: Reason) {
    let (group, first, second) = overfull()
    fail(first, second, reason)
    #expect(leaves(second.sent(group.side.wait(.milliseconds(499)))).isEmpty)
    let later = group.side.wait(.milliseconds(1))
    #expect(leaves(second.sent(later)) == [.full])
    #expect(leaves(first.sent(later)).isEmpty)
    second.receive(.leave(.left, detail: ""))
    #expect(group.side.members == [first.far])
    // No introduction brings it back while the group is full.
    #expect(first.sent(first.introduces(second.far)).answers == [.full])
    first.receive(view(capacity: 3, rank: 9, [group.side.node]))
    #expect(first.sent(first.introduces(second.far)).answers.isEmpty)
  }

  @Test("two that can't reach one another stay in a group that has the places")
  func unreached() {
    let (group, first, second) = overfull()
    first.receive(view(capacity: 4, rank: 9, [group.side.node, node(40)]))
    fail(first, second, .timedOut)
    group.side.wait(.seconds(2))
    #expect(group.side.members == [first.far, second.far])
    // One more, and it is too much.
    first.receive(view(capacity: 4, rank: 9, [group.side.node, node(40), node(41)]))
    #expect(leaves(second.sent(group.side.wait(.milliseconds(500)))) == [.full])
  }

  @Test("two that have come together, or of which one has told of a change, are not parted for what was before")
  func together() {
    let (group, first, second) = overfull()
    fail(first, second, .full)
    first.receive(view(capacity: 3, rank: 9, [group.side.node, node(41)]))
    #expect(leaves(second.sent(group.side.wait(.milliseconds(999)))).isEmpty)
    group.side.wait(.milliseconds(1))
    for (one, other) in [(first, second), (second, first)] { one.receive(.introduced(other.far)) }
    group.side.wait(.seconds(2))
    #expect(group.side.members == [first.far, second.far])
  }

  @Test("whatever a member says of places, we leave no member that came before it or has been there for a minute")
  func earlier() {
    let (group, first, second) = overfull()
    for rank in [UInt64(1), VariableInteger.max] {
      second.receive(view(capacity: VariableInteger.max, rank: rank, (20...60).map { node($0) }))
      group.side.wait(.milliseconds(300))
    }
    fail(second, first, .full)
    let later = group.side.wait(.seconds(2))
    #expect(leaves(first.sent(later)).isEmpty)
    #expect(leaves(second.sent(later)) == [.full])

    let settled = engine(16)
    let (one, _) = join(settled, 1, view(capacity: 16))
    let (other, _) = join(settled, 2, view(capacity: 16))
    waitUntilSettled(settled, one, other)
    one.receive(view(capacity: 3, rank: 9, [settled.side.node, node(40)]))
    fail(one, other, .full)
    settled.side.wait(.seconds(2))
    #expect(settled.side.members == [one.far, other.far])
  }

  @Test("a member that had no place beside us is asked for, like a lost one")
  func asks() {
    let group = engine(16)
    let (first, _) = join(group, 1, view(capacity: 16))
    let (second, _) = join(group, 2, view(capacity: 16))
    let outcome = second.receive(.leave(.full, detail: ""))
    #expect(first.sent(outcome).contains(.askToIntroduce(second.far)))
  }
}
