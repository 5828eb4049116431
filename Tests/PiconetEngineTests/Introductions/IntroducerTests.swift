import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Introducing two members to one another")
struct IntroducerTests {
  private let group = IntroducedEngine(members: 3)
  private var side: Side { group.side }
  private var first: PlayedNode { group.members[0] }
  private var second: PlayedNode { group.members[1] }

  private func introduce(_ timeout: Duration = .seconds(30), id: UInt64 = 1) -> Outcome {
    side.command(.introduce(first.far, to: second.far, timeout: timeout), id: id)
  }

  private func introductions(_ frames: [Frame]) -> [Introduce] {
    frames.compactMap { if case .introduce(let introduction) = $0 { introduction } else { nil } }
  }

  private func withdrawals(_ frames: [Frame]) -> [Reason] {
    frames.compactMap { if case .withdrawIntroduction(_, let reason) = $0 { reason } else { nil } }
  }

  private func failed(_ subject: PlayedNode, _ reason: Reason, _ detail: String = "") -> Frame {
    .introductionFailed(subject.far, reason, detail: detail)
  }

  @Test("tells each the other's id, name, time and addresses, and tells no other member anything")
  func tells() {
    first.receive(.listening([ListeningPort(transport: 1, port: 4_711)]))
    let outcome = introduce(.seconds(12))
    #expect(outcome.replies(to: 1) == [])
    let known = HostAddress(transport: 1, host: [192, 0, 2, 1], port: 4_711)
    #expect(
      introductions(second.sent(outcome)) == [
        Introduce(first.far, timeout: 12_000, name: "played", addresses: [known])
      ])
    #expect(
      introductions(first.sent(outcome)) == [Introduce(second.far, timeout: 12_000, name: "played")])
    #expect(group.members[2].sent(outcome) == [])
  }

  @Test("tells members of this very device where they are on it, if the application wants that")
  func tellsLoopback() {
    let told = HostAddress(transport: 1, host: [127, 0, 0, 1], port: 4_711)
    for isWanted in [true, false] {
      let group = IntroducedEngine(members: 2, from: "127.0.0.1") { $0.introducesOverLoopback = isWanted }
      group.members[0].receive(.listening([ListeningPort(transport: 1, port: 4_711)]))
      let outcome = group.side.command(
        .introduce(group.members[0].far, to: group.members[1].far, timeout: .seconds(30)), id: 1)
      #expect(introductions(group.members[1].sent(outcome)).map(\.addresses) == [isWanted ? [told] : []])
      // There they are dialled.
      let other = IntroducedEngine(from: "127.0.0.1") { $0.introducesOverLoopback = isWanted }
      let dialled = other.waitWithFailures(.seconds(1), first: other.accept(node(20), at: [told]))
      #expect(dialled.dials.first?.addresses == (isWanted ? ["127.0.0.1:4711"] : nil))
    }
  }

  @Test("is done when each has said that the other is a member, and not before")
  func done() {
    _ = introduce()
    #expect(second.receive(.introduced(first.far)).replies(to: 1) == [])
    #expect(first.receive(.introduced(second.far)).replies(to: 1) == [.done])
    #expect(group.introducing.isEmpty && group.introducing.nextDeadline == nil)
  }

  @Test("fails with the first no, names who said it, and tells the other that nothing comes of it")
  func fails() {
    _ = introduce()
    let outcome = second.receive(failed(first, .declined, "not now"))
    #expect(outcome.replies(to: 1) == [])
    #expect(withdrawals(first.sent(outcome)) == [.declined])
    #expect(withdrawals(second.sent(outcome)) == [])
    // That one still answers, as it may have done before. Then they may be introduced again.
    let late = first.receive(.introduced(second.far))
    #expect(late.closeReason == nil)
    #expect(late.replies(to: 1) == [.failed(Ending(.declined, .peer, "not now", by: second.far))])
    #expect(group.introducing.isEmpty)
  }

  @Test("waits for the other one's answer for as long as for a goodbye")
  func failsAlone() {
    _ = introduce()
    second.receive(failed(first, .declined, "not now"))
    #expect(group.introducing.nextDeadline == seconds(1) + side.engine.configuration.leaveTimeout)
    let outcome = side.wait(side.engine.configuration.leaveTimeout)
    #expect(outcome.replies(to: 1) == [.failed(Ending(.declined, .peer, "not now", by: second.far))])
    #expect(first.receive(.introduced(second.far)).closeReason == nil)
  }

  @Test("withdraws nothing from one that has answered already")
  func failsSecond() {
    _ = introduce()
    first.receive(.introduced(second.far))
    let outcome = second.receive(failed(first, .full))
    #expect(outcome.failure(of: 1)?.by == second.far)
    #expect(withdrawals(first.sent(outcome)) == [])
  }

  @Test("is for two members that take introductions, and for a time that is allowed")
  func refuses() {
    let stranger = group.played(node(7))
    stranger.associate()
    let old = group.played(node(8)).connect(.removal)
    let pairs: [(NodeID, NodeID, Duration, Reason)] = [
      (first.far, first.far, .seconds(30), .noSuchAssociation),
      (first.far, stranger.far, .seconds(30), .noSuchAssociation),
      (stranger.far, first.far, .seconds(30), .noSuchAssociation),
      (first.far, node(55), .seconds(30), .noSuchAssociation),
      (side.node, first.far, .seconds(30), .noSuchAssociation),
      (first.far, old.far, .seconds(30), .notSupported),
      (old.far, first.far, .seconds(30), .notSupported),
      (first.far, second.far, .zero, .limitExceeded),
      (first.far, second.far, .seconds(-1), .limitExceeded),
      (first.far, second.far, .seconds(300) + .nanoseconds(1), .limitExceeded),
    ]
    for (number, (one, other, timeout, reason)) in pairs.enumerated() {
      let outcome = side.command(.introduce(one, to: other, timeout: timeout), id: UInt64(number))
      #expect(outcome.failure(of: UInt64(number))?.reason == reason, "\(number)")
      #expect(introductions(outcome.frames) == [], "\(number)")
    }
    #expect(introduce(.seconds(300), id: 99).replies(to: 99) == [])
  }

  @Test("is under way once at a time, in either direction, until the last answer to the former one")
  func twice() {
    _ = introduce()
    #expect(introduce(id: 2).failure(of: 2)?.reason == .inProgress)
    let turned = side.command(.introduce(second.far, to: first.far, timeout: .seconds(30)), id: 3)
    #expect(turned.failure(of: 3)?.reason == .inProgress)
    second.receive(failed(first, .declined))
    #expect(introduce(id: 4).failure(of: 4)?.reason == .inProgress)
    first.receive(failed(second, .declined))
    #expect(introduce(id: 5).replies(to: 5) == [])
  }

  @Test("64 introductions to one member may be without an answer, and withdrawing gives none back")
  func limit() {
    let large = IntroducedEngine(members: 0) { $0.capacity = 200 }
    let hub = large.played(node(1)).connect()
    let others = (10...75).map { large.played(node($0)).connect() }
    for (number, other) in others.enumerated() {
      let id = UInt64(number)
      let outcome = large.side.command(.introduce(hub.far, to: other.far, timeout: .seconds(30)), id: id)
      let refusal: Reason? = number < 64 ? nil : .limitExceeded
      #expect(outcome.failure(of: id)?.reason == refusal, "\(number)")
    }
    large.side.command(.cancelIntroduction(CommandID(rawValue: 0)))
    let again = large.side.command(.introduce(hub.far, to: others[64].far, timeout: .seconds(30)), id: 100)
    #expect(again.failure(of: 100)?.reason == .limitExceeded)
    // Those others can still be introduced to one another.
    let beside = large.side.command(.introduce(others[0].far, to: others[1].far, timeout: .seconds(30)), id: 101)
    #expect(beside.replies(to: 101) == [])
    hub.receive(failed(others[0], .cancelled))
    let free = large.side.command(.introduce(hub.far, to: others[64].far, timeout: .seconds(30)), id: 102)
    #expect(free.replies(to: 102) == [])
  }

  @Test("times out a little after its time, and tells those that have not answered")
  func timesOut() {
    _ = introduce(.seconds(10))
    first.receive(.introduced(second.far))
    #expect(group.introducing.nextDeadline == seconds(1) + .seconds(15))
    side.wait(.seconds(8))
    for member in [first, second] { member.receive(.ping(1)) }
    let outcome = side.wait(.seconds(7))
    #expect(outcome.failure(of: 1)?.reason == .timedOut && outcome.failure(of: 1)?.by == second.far)
    #expect(withdrawals(second.sent(outcome)) == [.timedOut])
    #expect(withdrawals(first.sent(outcome)) == [])
  }

  @Test("names neither where neither has answered in time")
  func nobodyAnswers() {
    _ = introduce(.seconds(10))
    side.wait(.seconds(8))
    for member in [first, second] { member.receive(.ping(1)) }
    let outcome = side.wait(.seconds(7))
    #expect(outcome.failure(of: 1)?.reason == .timedOut && outcome.failure(of: 1)?.by == nil)
    #expect(withdrawals(first.sent(outcome)) == [.timedOut] && withdrawals(second.sent(outcome)) == [.timedOut])
  }

  @Test("can be taken back, which both are told; taking back what is over does nothing")
  func cancelled() {
    _ = introduce()
    let outcome = side.command(.cancelIntroduction(CommandID(rawValue: 1)), id: 2)
    #expect(outcome.failure(of: 1) == Ending(.cancelled, .us) && outcome.replies(to: 2) == [.done])
    #expect(withdrawals(first.sent(outcome)) == [.cancelled] && withdrawals(second.sent(outcome)) == [.cancelled])
    let again = side.command(.cancelIntroduction(CommandID(rawValue: 1)), id: 3)
    #expect(again.replies(to: 3) == [.done] && again.frames == [])
  }

  @Test("ends when one of the two goes or is lost, and names it", arguments: [false, true])
  func ends(isLost: Bool) {
    let group = isLost ? IntroducedEngine(members: 2) { $0.disconnectTimeout = .zero } : group
    let (first, second) = (group.members[0], group.members[1])
    group.side.command(.introduce(first.far, to: second.far, timeout: .seconds(30)), id: 1)
    var outcome = isLost ? Outcome() : first.receive(.leave(.left, detail: ""))
    outcome += group.side.take(.linkClosed(first.link, .ended))
    #expect(outcome.failure(of: 1)?.by == first.far)
    #expect(outcome.failure(of: 1)?.reason == (isLost ? .linkFailed : .left))
    #expect(withdrawals(second.sent(outcome)).count == 1)
    #expect(second.receive(failed(first, .cancelled)).closeReason == nil)
  }

  @Test("an unsolicited answer, and a second one, break the protocol")
  func unasked() {
    for frame in [Frame.introduced(node(2)), .introductionFailed(node(2), .full, detail: "")] {
      let group = IntroducedEngine(members: 2)
      #expect(group.members[0].receive(frame).closeReason == .protocolBroken)
      #expect(group.side.members == [node(2)])
    }
    _ = introduce()
    second.receive(.introduced(first.far))
    #expect(second.receive(.introduced(first.far)).closeReason == .protocolBroken)
    // The member that breaks the protocol makes the introduction fail.
    #expect(side.log.failure(of: 1)?.by == second.far)
  }

  @Test("words about introductions by one that is no member break the protocol")
  func stranger() {
    let name = node(2)
    let frames: [Frame] = [
      .introduce(Introduce(name, timeout: 1_000, name: "")), .introduced(name), .withdrawIntroduction(name, .left),
      .introductionFailed(name, .full, detail: ""),
    ]
    for frame in frames {
      let stranger = group.played(node(7))
      stranger.associate()
      #expect(stranger.receive(frame).closeReason == .protocolBroken)
    }
  }

  @Test("shutting down answers it, and tells both")
  func shutDown() {
    _ = introduce()
    let outcome = side.command(.shutDown)
    #expect(outcome.failure(of: 1)?.reason == .shuttingDown)
    #expect(withdrawals(first.sent(outcome)) == [.shuttingDown])
    #expect(group.introducing.isEmpty)
  }
}
