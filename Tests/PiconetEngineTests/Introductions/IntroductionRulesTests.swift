import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("What members may introduce")
struct IntroductionRulesTests {
  private let subject = node(20)

  @Test("is neither themselves nor us, and nothing twice at once")
  func breaches() {
    for wrong in [node(1), node(9)] {
      let group = IntroducedEngine()
      #expect(group.introducer.introduces(wrong).closeReason == .protocolBroken)
    }
    let group = IntroducedEngine()
    group.introducer.introduces(subject)
    #expect(group.introducer.introduces(subject).closeReason == .protocolBroken)
    #expect(group.introductions.isEmpty)
  }

  @Test("is at most 64 nodes of which they have no answer")
  func limit() {
    let group = IntroducedEngine()
    for byte: UInt8 in 100...163 { #expect(group.introducer.introduces(node(byte)).introduced.count == 1) }
    group.answer(node(100), accept: false)
    #expect(group.introducer.introduces(node(164)).introduced.count == 1)
    #expect(group.introducer.introduces(node(165)).closeReason == .limitExceeded)
  }

  @Test("is at most 64 of a key, also by one that goes and comes again")
  func again() {
    let group = IntroducedEngine()
    for byte: UInt8 in 100...163 { group.accept(node(byte), at: []) }
    group.introducer.receive(.leave(.left, detail: ""))
    group.side.take(.linkClosed(group.introducer.link, .ended))
    group.introducer.connect()
    let outcome = group.introducer.introduces(subject)
    #expect(outcome.closeReason == nil && outcome.introduced.isEmpty)
    #expect(group.introducer.sent(outcome).answers == [.limitExceeded])
  }

  @Test("is 256 nodes at most, from all members together, with as much room for each as for the others")
  func limitOfAll() {
    let group = IntroducedEngine(members: 5)
    for (number, member) in group.members.enumerated() where number < 4 {
      for other in 0..<64 as Range<UInt16> {
        let subject = Self.stranger(UInt16(number) << 8 | other)
        member.introduces(subject, at: [])
        if other % 2 == 0 { group.answer(subject) }
      }
    }
    #expect(group.introductions.count == 256)
    let last = group.members[4]
    var (taken, ended) = (0, 0)
    for number in 0..<64 as Range<UInt16> {
      let outcome = last.introduces(Self.stranger(4 << 8 | number), at: [])
      #expect(outcome.closeReason == nil && group.introductions.count == 256)
      taken += outcome.introduced.count
      ended += outcome.introductionEnds.count { $0.reason == .limitExceeded }
      let told = group.members.prefix(4).flatMap { $0.sent(outcome).answers }
      #expect(told == Array(repeating: .limitExceeded, count: outcome.introduced.count))
      #expect(last.sent(outcome).answers == (outcome.introduced.isEmpty ? [.limitExceeded] : []))
    }
    #expect(taken == 51 && ended == 51)
    #expect(group.members.map { group.introductions.count(by: $0.far) }.sorted() == [51, 51, 51, 51, 52])
  }

  private static func stranger(_ number: UInt16) -> NodeID {
    let bytes = [UInt8](repeating: 200, count: 30) + [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
    return NodeID(peer: PeerID(bytes: bytes)!, incarnation: Incarnation(rawValue: 1))
  }

  @Test(
    "is ten thousand nodes, of which few are dialled even if the program wants each: no other member loses by it",
    arguments: [false, true])
  func tenThousandTaken(isTakenBack: Bool) {
    let group = IntroducedEngine(members: 2)
    var (addresses, dials, introductions, attempts) = (0, 0, 0, 0)
    for number in 0..<10_000 as Range<UInt16> where group.side.members.contains(group.introducer.far) {
      let subject = Self.stranger(number)
      var outcome = group.introducer.introduces(subject, at: [place(number)])
      for introduced in outcome.introduced { outcome += group.answer(introduced.node) }
      if isTakenBack { outcome += group.introducer.receive(.withdrawIntroduction(subject, .cancelled)) }
      addresses += outcome.dials.reduce(0) { $0 + $1.addresses.count }
      let census = group.side.census
      dials = max(dials, census.dials)
      introductions = max(introductions, census.introductions)
      attempts = max(attempts, census.attempts)
    }
    #expect((1...IntroducerBudget.limit).contains(addresses), "\(addresses) addresses")
    #expect(dials <= Introductions.underWayLimit && attempts <= Introductions.underWayLimit, "\(dials), \(attempts)")
    #expect(introductions <= WireLimits.unansweredIntroductions, "\(introductions)")
    // A member that takes each back at once owes nothing, and may go on.
    #expect(group.side.members.contains(group.members[1].far))
    #expect(group.side.members.contains(group.introducer.far) == isTakenBack)
  }

  @Test("is one node under one name: that of who comes first, whatever others call it")
  func names() {
    let group = IntroducedEngine(members: 2)
    let first = group.introducer.introduces(subject, name: "Ann")
    #expect(first.introduced.map(\.name) == ["Ann"])
    let second = group.members[1].introduces(subject, name: "Bob")
    #expect(second.introduced.isEmpty && second.closeReason == nil)
  }

  @Test("is no member under another name: a run of it that is not there harms nothing of the one that is")
  func memberUnderAnotherName() throws {
    let group = IntroducedEngine(members: 2)
    let member = group.members[1]
    let invented = NodeID(peer: member.far.peer, incarnation: Incarnation(rawValue: 4_711))
    var outcome = group.accept(invented)
    outcome += group.side.wait(.milliseconds(600))
    // Where it is said to be, the member itself answers.
    let dial = try #require(outcome.dials.first)
    let again = group.played(member.far)
    again.open(dial.id)
    #expect(group.side.members == [group.introducer.far, member.far])
    // The very same run is a member already, whatever it is called.
    let known = group.introducer.introduces(member.far, name: "somebody else")
    #expect(group.introducer.sent(known).answers == [nil] && known.introduced.isEmpty)
  }

  @Test("is no node any more once we leave them or remove them", arguments: [false, true])
  func lastWord(isRemoved: Bool) {
    let group = IntroducedEngine()
    group.side.command(isRemoved ? .remove(group.introducer.far) : .leave(group.introducer.far, .left))
    let outcome = group.introducer.introduces(subject)
    #expect(outcome.introduced.isEmpty && group.introducer.sent(outcome).answers == [.left])
    #expect(group.introductions.isEmpty)
  }

  // MARK: Removed members

  @Test("is no node that we have removed", arguments: [false, true])
  func removed(byOther: Bool) {
    let group = IntroducedEngine(members: 3) { $0.removals = .members }
    let gone = group.members[2]
    if byOther {
      group.members[1].receive(.removeMember(subject: gone.far, .removed))
    } else {
      group.side.command(.remove(gone.far))
    }
    group.side.take(.linkClosed(gone.link, .ended))
    let outcome = group.introducer.introduces(gone.far)
    #expect(outcome.introduced.isEmpty && group.introducer.sent(outcome).answers == [.removed])
    // Another run of it is another node.
    let other = NodeID(peer: gone.far.peer, incarnation: Incarnation(rawValue: 99))
    #expect(group.introducer.introduces(other).introduced.count == 1)
    // Once it is a member again that is forgotten.
    gone.connect()
    gone.receive(.leave(.left, detail: ""))
    group.side.take(.linkClosed(gone.link, .ended))
    #expect(group.introducer.introduces(gone.far).introduced.count == 1)
  }

  @Test("is also a node that left, or whose removal a member wanted without permission")
  func notRemoved() {
    let group = IntroducedEngine(members: 3) { $0.removals = .nobody }
    let gone = group.members[2]
    group.members[1].receive(.removeMember(subject: gone.far, .removed))
    gone.receive(.leave(.left, detail: ""))
    group.side.take(.linkClosed(gone.link, .ended))
    #expect(group.introducer.introduces(gone.far).introduced.count == 1)
  }

  @Test("is no node that a member removes from the group before it has come to us", arguments: [false, true])
  func removedBefore(isWanted: Bool) {
    let group = IntroducedEngine(members: 3) { $0.removals = .members }
    group.introducer.introduces(subject)
    if isWanted { group.answer(subject) }
    let outcome = group.members[1].receive(.removeMember(subject: subject, .removed))
    #expect(group.introducer.sent(outcome).answers == [.removed])
    #expect(outcome.introductionEnds.map(\.reason) == [.removed])
    #expect(group.members[2].sent(group.members[2].introduces(subject)).answers == [.removed])
  }

  @Test("is removed, by default, by who has introduced it alone: before it has come to us, and as a member")
  func byIntroducer() {
    for isMember in [false, true] {
      let group = IntroducedEngine(members: 3)
      group.introducer.introduces(subject)
      let introduced = group.played(subject)
      if isMember {
        group.answer(subject)
        introduced.associate()
        introduced.crosses()
        #expect(group.side.members.contains(subject))
      }
      let wish = Frame.removeMember(subject: subject, .removed)
      let other = group.members[1].receive(wish)
      #expect(introduced.sent(other).isEmpty && other.introductionEnds.isEmpty)
      let outcome = group.introducer.receive(wish)
      if isMember {
        #expect(
          introduced.sent(outcome) == [.removed(by: group.introducer.far), .leave(.removed, detail: "")])
      } else {
        #expect(outcome.introductionEnds.map(\.reason) == [.removed])
      }
      // It can't remove a node that it has not introduced.
      let stays = group.members[2]
      let rest = group.introducer.receive(.removeMember(subject: stays.far, .removed))
      #expect(stays.sent(rest).isEmpty)
    }
  }

  @Test(
    "is not removed by who has introduced it after another one: the first one's word stands", arguments: [false, true])
  func byLaterIntroducer(isWanted: Bool) {
    let group = IntroducedEngine(members: 3)
    group.introducer.introduces(subject)
    group.members[1].introduces(subject)
    if isWanted { group.answer(subject) }
    let outcome = group.members[1].receive(.removeMember(subject: subject, .removed))
    #expect(outcome.introductionEnds.isEmpty && group.introducer.sent(outcome).answers.isEmpty)
    #expect(group.members[2].sent(group.members[2].introduces(subject)).answers.isEmpty)
    #expect(group.introducer.receive(.removeMember(subject: subject, .removed)).introductionEnds.count == 1)
  }

  @Test(
    "is no node that was removed, however many others one member introduces and removes", arguments: [false, true])
  func buriedTombstone(byOther: Bool) {
    let group = IntroducedEngine(members: 4)
    let (hostile, honest) = (group.members[0], group.members[1])
    let gone: NodeID
    if byOther {
      gone = subject
      honest.introduces(gone)
      honest.receive(.removeMember(subject: gone, .removed))
    } else {
      gone = group.members[3].far
      group.side.command(.remove(gone))
      group.side.take(.linkClosed(group.members[3].link, .ended))
    }
    for number in 0..<2_000 as Range<UInt16> {
      hostile.introduces(Self.stranger(number), at: [])
      hostile.receive(.removeMember(subject: Self.stranger(number), .removed))
    }
    #expect(group.side.members.contains(hostile.far))
    #expect(group.members[2].sent(group.members[2].introduces(gone)).answers == [.removed])
  }

  @Test("an unknown node is not recorded as removed")
  func forged() {
    let group = IntroducedEngine(members: 2) { $0.removals = .members }
    group.members[1].receive(.removeMember(subject: subject, .removed))
    #expect(group.introducer.introduces(subject).introduced.count == 1)
  }

  @Test("256 removed nodes are remembered; the oldest goes")
  func tombstones() {
    var tombstones = Tombstones()
    let nodes = (0..<300).map { number in
      NodeID(peer: node(7).peer, incarnation: Incarnation(rawValue: UInt64(number)))
    }
    for node in nodes { tombstones.insert(node, by: nil) }
    tombstones.insert(nodes[44], by: nil)
    #expect(nodes.count { tombstones.contains($0) } == 256)
    #expect(!tombstones.contains(nodes[43]) && tombstones.contains(nodes[44]))
    tombstones.remove(nodes[44])
    #expect(!tombstones.contains(nodes[44]))
  }
}
