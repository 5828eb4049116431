import PiconetWire
import Testing

@testable import PiconetEngine

/// A process that was stopped, or whose machine was frozen, and that goes on: to its engine the clock jumps.
@Suite("An engine whose process did not run for a while")
struct ClockJumpTests {
  private static let jumps: [Duration] = [.seconds(30), .seconds(300), .seconds(5 * 86_400)]

  /// The first fact after the gap.
  enum Waking: CaseIterable { case deadline, frame, command }

  private func member(over kind: TransportKind = .tcp) -> OneSided {
    let one = OneSided(configuration())
    one.traits = LinkTraits(kind: kind, remoteAddress: "far")
    return one.connected { $0.capabilities = .resume }
  }

  private func ends(_ outcome: Outcome) -> [Event] {
    outcome.events.filter { event in
      switch event {
      case .disconnected, .suspended, .invitationEnded, .comparisonEnded: true
      default: false
      }
    }
  }

  private func isPinged(_ outcome: Outcome) -> Bool {
    outcome.frames.contains { if case .ping = $0 { true } else { false } }
  }

  private func wake(_ one: OneSided, _ waking: Waking) -> Outcome {
    switch waking {
    case .deadline: one.side.take(.deadlineReached)
    case .frame: one.receive(.ping(7))
    case .command: one.side.command(.setName("other"))
    }
  }

  @Test(
    "keeps a member, direct or relayed, asks it for a sign of life at once, and gives it its whole time anew",
    arguments: [TransportKind.tcp, .relay], Waking.allCases)
  func member(kind: TransportKind, waking: Waking) {
    for jump in Self.jumps {
      let one = member(over: kind)
      one.side.wait(.seconds(9))
      one.side.now = one.side.now + jump
      var outcome = wake(one, waking)
      #expect(isPinged(outcome) && ends(outcome).isEmpty)
      outcome = one.side.wait(.milliseconds(9_990))
      #expect(ends(outcome).isEmpty && one.side.census.members == 1)
      // It is really dead: half of the timeout counts from waking, and so does the whole.
      outcome = one.side.wait(.milliseconds(20))
      guard case .suspended(_, let cause)? = ends(outcome).first else {
        Issue.record("not suspended")
        return
      }
      #expect(cause.reason == .timedOut)
      #expect(ends(one.side.wait(.milliseconds(9_980))).isEmpty)
      #expect(ends(one.side.wait(.milliseconds(20))).count == 1 && one.side.census.associations == 0)
    }
  }

  @Test("goes on looking for a member that was suspended before, for the whole timeout", arguments: jumps)
  func suspended(jump: Duration) {
    let one = member()
    one.side.take(.linkClosed(one.link, .failed(LinkFailure(.reset))))
    one.side.wait(.seconds(19))
    one.side.now = one.side.now + jump
    #expect(ends(one.side.take(.deadlineReached)).isEmpty)
    #expect(ends(one.side.wait(.milliseconds(19_900))).isEmpty && one.side.census.members == 1)
    #expect(ends(one.side.wait(.milliseconds(200))).count == 1)
  }

  @Test("hears of the loss of a link on waking, and looks for another one for the whole timeout", arguments: jumps)
  func lostMeanwhile(jump: Duration) {
    let one = member()
    one.side.wait(.seconds(5))
    one.side.now = one.side.now + jump
    #expect(ends(one.side.take(.linkClosed(one.link, .failed(LinkFailure(.reset))))).count == 1)
    #expect(ends(one.side.wait(.milliseconds(19_900))).isEmpty && one.side.census.members == 1)
    #expect(ends(one.side.wait(.milliseconds(200))).count == 1)
  }

  @Test("leaves a question to a person as much time as it had", arguments: jumps)
  func question(jump: Duration) {
    let one = OneSided().associated()
    one.receive(.invite(Invite(timeout: 30_000, commitment: someCommitment)))
    keepAlive(one, for: 20)
    one.side.now = one.side.now + jump
    #expect(ends(one.side.take(.deadlineReached)).isEmpty)
    keepAlive(one, for: 9)
    let outcome = one.side.command(.answerInvitation(one.far, accept: true, .declined))
    #expect(outcome.frames.contains { if case .accept = $0 { true } else { false } })
    let late = OneSided().associated()
    late.receive(.invite(Invite(timeout: 30_000, commitment: someCommitment)))
    keepAlive(late, for: 20)
    late.side.now = late.side.now + jump
    late.side.take(.deadlineReached)
    #expect(ends(late.side.wait(.seconds(11))).count == 1)
  }

  @Test("leaves an invitation of its own as much time as it had", arguments: jumps)
  func invitation(jump: Duration) {
    let one = OneSided().associated()
    one.side.command(.invite(.node(one.far), context: [], timeout: .seconds(30)), id: 1)
    keepAlive(one, for: 20)
    one.side.now = one.side.now + jump
    #expect(one.side.take(.deadlineReached).replies(to: 1).isEmpty)
    keepAlive(one, for: 9)
    #expect(one.side.log.replies(to: 1).isEmpty)
    keepAlive(one, for: 3)
    guard case .failed(let ending)? = one.side.log.replies(to: 1).first else {
      Issue.record("it never ends")
      return
    }
    #expect(ending.reason == .timedOut)
  }

  @Test("leaves a dial of an invitation as much time as it had", arguments: jumps)
  func dial(jump: Duration) {
    let one = OneSided()
    one.invite()
    one.side.wait(.seconds(29))
    one.side.take(.deadlineReached)
    one.side.now = one.side.now + jump
    #expect(one.side.take(.deadlineReached).replies(to: 1).isEmpty)
    #expect(one.side.wait(.seconds(2)).replies(to: 1).count == 1)
  }

  @Test("leaves the handshake of a link as much time as it had", arguments: jumps)
  func handshake(jump: Duration) {
    let one = OneSided()
    one.side.take(.linkOpened(one.link, one.opening()))
    one.side.wait(.seconds(9))
    one.side.take(.deadlineReached)
    one.side.now = one.side.now + jump
    #expect(one.side.take(.deadlineReached).closedLinks.isEmpty)
    #expect(one.side.wait(.milliseconds(1_100)).closedLinks == [one.link])
  }

  @Test("leaves a comparison of codes as much time as it had", arguments: jumps)
  func comparison(jump: Duration) {
    let comparing = configuration { $0.comparesCodes = true }
    let two = TwoSided(comparing, comparing).connected()
    let far = two.sides[1].node
    two.scripts[0].append { $0.command(.compareCodes(far, timeout: .seconds(30)), id: 1) }
    two.settle()
    keepAlive(two, for: 20)
    for side in two.sides {
      side.now = side.now + jump
      side.take(.deadlineReached)
    }
    keepAlive(two, for: 5)
    #expect(two.sides[0].log.replies(to: 1).isEmpty)
    for index in 0...1 {
      two.sides[index].command(.answerComparison(two.sides[1 - index].node, true, .codeMismatch))
    }
    two.settle()
    #expect(two.sides[0].log.replies(to: 1) == [.done])
  }

  @Test("goes on with a transfer whose sender, receiver or both did not run", arguments: [[0], [1], [0, 1]])
  func transfer(frozen: [Int]) {
    let two = TwoSided(configuration { $0.disconnectTimeout = .seconds(100) }).connected()
    two.sides[1].engineSetsTimeout(.seconds(100))
    two.reactions[1] = { _, event in
      guard case .offerReceived(let transfer, _, _) = event else { return nil }
      return .commanded(CommandID(rawValue: 700), .acceptOffer(transfer, offset: 0))
    }
    let id = TransferID(rawValue: 5)
    two.sides[0].command(
      .offer(id, to: two.sides[1].node, ResourceOffer(name: [1], size: 3_000_000)), id: 5)
    // Some of it has crossed.
    for _ in 0..<20 { if let choice = two.choices.first { two.perform(choice) } }
    let jump = Duration.seconds(30)
    for index in 0...1 {
      let side = two.sides[index]
      if frozen.contains(index) { side.now = side.now + jump } else { side.wait(jump) }
    }
    for index in frozen { two.sides[index].take(.deadlineReached) }
    two.settle()
    #expect(two.sides[0].log.replies(to: 5).isEmpty == false)
    #expect(two.sides.map(\.census.members) == [1, 1] && two.sides.allSatisfy { ends($0.log).isEmpty })
  }

  @Test("is suspended by the side that stays awake, and comes back to it within the timeout", arguments: [0, 1])
  func awakeSide(frozen: Int) {
    let two = TwoSided(configuration { $0.disconnectTimeout = .seconds(100) }).connected()
    two.sides[1].engineSetsTimeout(.seconds(100))
    let awake = two.sides[1 - frozen]
    awake.wait(.seconds(70))
    #expect(ends(awake.log).count == 1 && awake.census.members == 1)
    two.sides[frozen].now = two.sides[frozen].now + .seconds(70)
    two.sides[frozen].take(.deadlineReached)
    two.settle()
    keepAlive(two, for: 20)
    #expect(two.sides.allSatisfy { $0.census.members == 1 && $0.census.links == 1 })
    let ended = two.sides.flatMap { ends($0.log) }.contains { if case .disconnected = $0 { true } else { false } }
    #expect(!ended)
  }

  /// As on CLOCK_MONOTONIC: to the engine of a machine that slept no time has passed.
  @Test("a machine that slept has nothing overdue, and comes back to the side that stayed awake", arguments: [0, 1])
  func asleep(index: Int) {
    let two = TwoSided(configuration { $0.disconnectTimeout = .seconds(100) }).connected()
    two.sides[1].engineSetsTimeout(.seconds(100))
    let (asleep, awake) = (two.sides[index], two.sides[1 - index])
    asleep.wait(.seconds(5))
    awake.wait(.seconds(70))
    #expect(ends(awake.log).count == 1 && awake.census.members == 1)
    #expect(ends(asleep.take(.deadlineReached)).isEmpty && asleep.census.members == 1)
    two.settle()
    keepAlive(two, for: 20)
    #expect(two.sides.allSatisfy { $0.census.members == 1 && $0.census.links == 1 })
    let ended = two.sides.flatMap { ends($0.log) }.contains { if case .disconnected = $0 { true } else { false } }
    #expect(!ended)
  }

  @Test("a machine that slept notices a dead member after the rest of its silence and the whole timeout")
  func asleepBesideTheDead() {
    let one = member()
    one.side.wait(.seconds(9))
    // Asleep for a night. The member is gone since then, and so is its host.
    #expect(ends(one.side.take(.deadlineReached)).isEmpty && one.side.census.members == 1)
    #expect(ends(one.side.wait(.milliseconds(900))).isEmpty)
    guard case .suspended? = ends(one.side.wait(.milliseconds(200))).first else {
      Issue.record("not suspended")
      return
    }
    #expect(ends(one.side.wait(.milliseconds(9_800))).isEmpty)
    #expect(ends(one.side.wait(.milliseconds(200))).count == 1 && one.side.census.associations == 0)
  }

  /// The remote side, played, answers pings for so many seconds.
  private func keepAlive(_ one: OneSided, for count: Int) {
    for _ in 0..<count {
      one.side.wait(.seconds(1))
      one.receive(.ping(1))
    }
  }

  private func keepAlive(_ two: TwoSided, for count: Int) {
    for _ in 0..<count {
      for side in two.sides { side.wait(.seconds(1)) }
      two.settle()
    }
  }
}

extension Side {
  fileprivate func engineSetsTimeout(_ timeout: Duration) { command(.setDisconnectTimeout(timeout)) }
}
