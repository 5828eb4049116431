import PiconetWire
import Testing

@testable import PiconetEngine

private func comparing(_ change: (inout EngineConfiguration) -> Void = { _ in }) -> EngineConfiguration {
  var settings = configuration()
  settings.comparesCodes = true
  change(&settings)
  return settings
}

@Suite("Codes that two members compare, between two engines")
struct ComparisonOrderTests {
  /// Two members; each side's user says the given word as soon as the code is there, or nothing.
  private func members(_ words: [Bool?]) -> TwoSided {
    let two = TwoSided(comparing(), comparing()).connected()
    for index in 0...1 {
      two.reactions[index] = { side, event in
        guard case .comparisonNeeded(let node, _) = event, let word = words[index] else { return nil }
        return .commanded(CommandID(rawValue: 500), .answerComparison(node, word, .codeMismatch))
      }
    }
    return two
  }

  private func ask(_ two: TwoSided, _ side: Int) {
    let far = two.sides[1 - side].node
    two.scripts[side].append { $0.command(.compareCodes(far, timeout: .seconds(30)), id: 1) }
  }

  private func compared(_ side: Side) -> [String] {
    side.log.events.compactMap { if case .codesCompared(_, let code) = $0 { code } else { nil } }
  }

  private func needed(_ side: Side) -> Int {
    side.log.events.count { if case .comparisonNeeded = $0 { true } else { false } }
  }

  @Test(
    "both users say that the codes match: each side confirms the other, whichever of them asks, in every order",
    arguments: [[0], [1], [0, 1]])
  func same(askers: [Int]) {
    let orders = TwoSided.inEveryOrder(
      of: {
        let two = members([true, true])
        for side in askers { ask(two, side) }
        return two
      },
      fault: { two in
        // A side that asks after the end begins another comparison.
        let counts = two.sides.map { compared($0).count }
        for side in two.sides where counts[0] != counts[1] || counts[0] != needed(side) || counts[0] == 0 {
          return "\(side.log.events)"
        }
        for side in askers where two.sides[side].log.replies(to: 1) != [.done] {
          return "\(two.sides[side].log.replies(to: 1))"
        }
        let isIdle = two.sides.allSatisfy { $0.engine.associations.values.allSatisfy(\.comparisons.isIdle) }
        return isIdle && !two.isBreached ? nil : "something is left"
      })
    #expect(orders >= 1)
  }

  @Test(
    "one user says no: neither side is confirmed, and both are told why, in every order", arguments: [[0], [1]],
    [0, 1])
  func different(askers: [Int], refuser: Int) {
    let orders = TwoSided.inEveryOrder(
      of: {
        let two = members([refuser != 0, refuser != 1])
        for side in askers { ask(two, side) }
        return two
      },
      fault: { two in
        for side in two.sides {
          let ends = side.log.events.compactMap {
            if case .comparisonEnded(_, let end) = $0 { end.reason } else { nil }
          }
          // A side that has not shown the code when the other one says no never shows it.
          if !compared(side).isEmpty || ends != Array(repeating: .codeMismatch, count: needed(side)) {
            return "\(side.log.events)"
          }
        }
        for side in askers {
          guard case .failed(let ending)? = two.sides[side].log.replies(to: 1).first, ending.reason == .codeMismatch
          else {
            return "\(two.sides[side].log.replies(to: 1))"
          }
        }
        let isIdle = two.sides.allSatisfy { $0.engine.associations.values.allSatisfy(\.comparisons.isIdle) }
        return isIdle && !two.isBreached ? nil : "something is left"
      })
    #expect(orders >= 1)
  }

  @Test(
    "a link that is cut, or a question that is taken back, at any moment: both sides agree",
    arguments: [[0], [1], [0, 1]], [true, false])
  func interrupted(askers: [Int], isCut: Bool) {
    let orders = TwoSided.inEveryOrder(
      limit: 20_000,
      of: {
        let two = members([true, true])
        for side in askers { ask(two, side) }
        two.scripts[askers[0]].append { [unowned two] side in
          if isCut { two.cutAll(told: [0, 1]) } else { side.command(.cancelComparison(CommandID(rawValue: 1))) }
        }
        return two
      },
      fault: { two in
        // The search for another link takes its time.
        for _ in 0..<(isCut ? 5 : 0) {
          for side in two.sides { side.wait(.seconds(1)) }
          two.settle()
        }
        let counts = two.sides.map { compared($0).count }
        if counts[0] != counts[1] || two.isBreached { return "\(two.sides.map(\.log.events))" }
        for side in askers {
          let replies = two.sides[side].log.replies(to: 1)
          if replies.count != 1 { return "\(replies)" }
          if replies == [.done], counts[0] == 0 { return "a success that is none" }
        }
        let isIdle = two.sides.allSatisfy { $0.engine.associations.values.allSatisfy(\.comparisons.isIdle) }
        return isIdle ? nil : "something is left"
      })
    #expect(orders >= 1)
  }

  @Test("a missing answer ends the comparison on both sides in time, and the member that said yes is not confirmed")
  func silent() {
    let two = members([true, nil])
    ask(two, 0)
    two.settle()
    #expect(needed(two.sides[1]) == 1)
    for _ in 0..<35 {
      for side in two.sides { side.wait(.seconds(1)) }
      two.settle()
    }
    #expect(two.sides.map { compared($0).count } == [0, 0])
    guard case .failed(let ending)? = two.sides[0].log.replies(to: 1).first else {
      Issue.record("no reply")
      return
    }
    #expect(ending.reason == .timedOut)
    #expect(two.sides.allSatisfy { $0.engine.associations.values.allSatisfy(\.comparisons.isIdle) })
  }

  @Test("a member that leaves during a comparison ends it on both sides", arguments: [0, 1])
  func leaving(leaver: Int) {
    let two = members([true, nil])
    ask(two, 0)
    two.settle()
    let nodes = two.sides.map(\.node)
    two.sides[leaver].command(.leave(nodes[1 - leaver], .left))
    two.settle()
    for side in two.sides {
      #expect(
        side.log.events.contains { if case .comparisonEnded(_, let end) = $0 { end.reason == .left } else { false } })
    }
    guard case .failed(let ending)? = two.sides[0].log.replies(to: 1).first else {
      Issue.record("no reply")
      return
    }
    #expect(ending.reason == .left)
  }
}

@Suite("Codes that a member compares with us")
struct ComparisonTests {
  private func member(_ settings: EngineConfiguration = comparing(), resumes: Bool = false) -> OneSided {
    OneSided(settings).connected { $0.capabilities = resumes ? [.comparisons, .resume] : .comparisons }
  }

  private let ask = Frame.comparison(.ask(timeout: 60_000, commitment: someCommitment))

  private func words(_ outcome: Outcome) -> [Comparison] {
    outcome.frames.compactMap { if case .comparison(let word) = $0 { word } else { nil } }
  }

  private func wrongCodes(_ one: OneSided) -> Int { one.side.engine.turn.budgets.strangers.countOfAll }

  /// The member has asked, and the code is on our screen.
  private func shown(resumes: Bool = false) -> OneSided {
    let one = member(resumes: resumes)
    #expect(words(one.receive(ask)).count == 1)
    #expect(one.receive(.comparison(.reveal(someNonce))).events == [.comparisonNeeded(one.far, code: "123456")])
    return one
  }

  @Test("the code follows from both nonces, both keys and the link; the member that asks counts as the inviter")
  func inputs() {
    let one = member()
    guard case .nonce(let nonce)? = words(one.receive(ask)).first else {
      Issue.record("no nonce")
      return
    }
    let outcome = one.receive(.comparison(.reveal(someNonce)))
    let inputs = CodeInputs(
      inviter: one.far.peer, invited: one.side.node.peer, inviterNonce: someNonce, invitedNonce: nonce,
      commitment: someCommitment)
    #expect(outcome.effects.contains { if case .deriveCode(_, one.link, inputs) = $0 { true } else { false } })
  }

  @Test("our nonce is revealed after the member has sent its own, and not before")
  func reveals() {
    let one = member()
    let asked = words(one.side.command(.compareCodes(one.far, timeout: .seconds(30)), id: 1))
    #expect(asked == [.ask(timeout: 30_000, commitment: one.side.lastCommitment)])
    let outcome = one.receive(.comparison(.nonce(someNonce)))
    guard case .reveal(let nonce)? = words(outcome).first else {
      Issue.record("\(outcome.frames)")
      return
    }
    #expect(commitment(to: nonce) == one.side.lastCommitment)
    let inputs = CodeInputs(
      inviter: one.side.node.peer, invited: one.far.peer, inviterNonce: nonce, invitedNonce: someNonce,
      commitment: one.side.lastCommitment)
    #expect(outcome.effects.contains { if case .deriveCode(_, one.link, inputs) = $0 { true } else { false } })
  }

  @Test("a reveal of something else than was committed to ends the link, and is a wrong code")
  func wrongReveal() {
    let one = member()
    one.receive(ask)
    one.side.code = nil
    #expect(one.receive(.comparison(.reveal(someNonce))).closeReason == .identity)
    #expect(wrongCodes(one) == 1)
  }

  @Test("a nonce that is not revealed within 2 s ends it, and what comes late is ignored once")
  func notRevealed() {
    let one = member()
    one.receive(ask)
    let outcome = one.side.wait(.seconds(2))
    guard case .end(.codeMismatch, let detail)? = words(outcome).first else {
      Issue.record("\(outcome.frames)")
      return
    }
    #expect(detail.contains("2 s"))
    #expect(wrongCodes(one) == 1)
    #expect(one.receive(.comparison(.reveal(someNonce))).effects == [])
    #expect(one.receive(.comparison(.reveal(someNonce))).closeReason == .protocolBroken)
  }

  @Test(
    "words at the wrong time break the protocol",
    arguments: [
      [.same], [.end(.cancelled, detail: "")], [.nonce(someNonce)], [.reveal(someNonce)],
      [.ask(timeout: 1, commitment: someCommitment), .ask(timeout: 1, commitment: someCommitment)],
      [.ask(timeout: 1, commitment: someCommitment), .same],
      [.ask(timeout: 1, commitment: someCommitment), .nonce(someNonce)],
      [.ask(timeout: 1, commitment: someCommitment), .reveal(someNonce), .reveal(someNonce)],
      [.ask(timeout: 1, commitment: someCommitment), .reveal(someNonce), .same, .same],
      [.ask(timeout: 1, commitment: someCommitment), .end(.cancelled, detail: ""), .end(.cancelled, detail: "")],
    ] as [[Comparison]])
  func wrongTime(words: [Comparison]) {
    let one = member()
    for word in words.dropLast() { #expect(one.receive(.comparison(word)).closeReason == nil) }
    #expect(words.last.map { one.receive(.comparison($0)).closeReason } == .protocolBroken)
    let stranger = OneSided(comparing())
    _ = stranger.associated { $0.capabilities = .comparisons }
    #expect(stranger.receive(ask).closeReason == .protocolBroken)
  }

  @Test("a member's yes confirms nothing before our own yes, and nothing after our no")
  func both() {
    let one = shown()
    #expect(one.receive(.comparison(.same)).effects == [])
    #expect(words(one.side.command(.answerComparison(one.far, true, .left), id: 6)) == [.same])
    #expect(one.side.log.events.last == .codesCompared(one.far, code: "123456"))
    #expect(one.side.engine.associations[one.far]?.peer.code == "123456")
    #expect(wrongCodes(one) == 0)

    let other = shown()
    other.side.command(.answerComparison(other.far, false, .codeMismatch), id: 6)
    #expect(other.receive(.comparison(.same)).effects == [])
    #expect(other.side.engine.associations[other.far]?.peer.code == nil)
    #expect(wrongCodes(other) == 1)
  }

  @Test("a member's yes confirms even after our timeout, since the member treats us as confirmed")
  func late() {
    let one = shown()
    one.side.command(.answerComparison(one.far, true, .left))
    for _ in 0..<66 {
      one.side.wait(.seconds(1))
      one.receive(.ping(1))
    }
    #expect(
      one.side.log.events.contains {
        if case .comparisonEnded(_, let end) = $0 { end.reason == .timedOut } else { false }
      })
    #expect(one.receive(.comparison(.same)).events == [.codesCompared(one.far, code: "123456")])
  }

  @Test("a member whose codes broke off five times is asked nothing for an hour, and a pause grows before that")
  func limits() {
    let one = member()
    var asked = 0
    for _ in 0..<40 {
      let outcome = one.receive(ask)
      if words(outcome).contains(where: { if case .nonce = $0 { true } else { false } }) {
        asked += 1
        one.receive(.comparison(.end(.cancelled, detail: "")))
      } else if words(outcome).isEmpty {
        // It waits for the end of the pause.
        one.receive(.comparison(.end(.cancelled, detail: "")))
      } else {
        guard case .end(.limitExceeded, _)? = words(outcome).first else {
          Issue.record("\(outcome.frames)")
          return
        }
        one.receive(.comparison(.end(.limitExceeded, detail: "")))
      }
      one.side.wait(.seconds(10))
      // It stays a member: heartbeats are not what is tested.
      one.receive(.ping(1))
    }
    #expect(asked == 5)
    #expect(one.side.census.members == 1)
    let own = one.side.command(.compareCodes(one.far, timeout: .seconds(1)), id: 1)
    guard case .failed(let ending)? = own.replies(to: 1).first else {
      Issue.record("no reply")
      return
    }
    #expect(ending.reason == .limitExceeded)
  }

  @Test(
    "only one question of strangers is put at a time where the application wants one, whether to join or to compare")
  func queue() {
    let settings = comparing { $0.openInvitations = 1 }
    let one = member(settings)
    one.receive(ask)
    let second = LinkID(rawValue: 2)
    let other = node(3)
    one.side.judgement = .ask
    one.side.take(
      .linkOpened(
        second, LinkOpening(dial: nil, peer: other.peer, traits: LinkTraits(kind: .tcp, remoteAddress: "other"))))
    let hello = Hello(incarnation: other.incarnation, name: "other", sessionID: "test")
    one.side.take(.received(second, FrameEncoder.encode(.hello(hello))[...]))
    one.side.take(.received(second, FrameEncoder.encode(.associate(AssociationID(high: 3, low: 3), received: 0))[...]))
    let invited = one.side.take(
      .received(second, FrameEncoder.encode(.invite(Invite(timeout: 60_000, commitment: someCommitment)))[...]))
    #expect(invited.events.isEmpty)
    let ended = one.receive(.comparison(.end(.cancelled, detail: "")))
    #expect(ended.events.contains { if case .invitationReceived = $0 { true } else { false } })
  }

  @Test("if one of the two programs compares no codes, neither user is asked")
  func notSupported() {
    let here = OneSided().connected { $0.capabilities = .comparisons }
    #expect(here.receive(ask).closeReason == .protocolBroken)
    for one in [OneSided().connected { $0.capabilities = .comparisons }, OneSided(comparing()).connected()] {
      let outcome = one.side.command(.compareCodes(one.far, timeout: .seconds(1)), id: 1)
      guard case .failed(let ending)? = outcome.replies(to: 1).first else {
        Issue.record("no reply")
        return
      }
      #expect(ending.reason == .notSupported && outcome.frames.isEmpty)
    }
  }

  @Test("a command that can't be done says why", arguments: [Duration.zero, .seconds(301)])
  func refused(time: Duration) {
    let one = member()
    func reason(_ command: Command) -> Reason? {
      guard case .failed(let ending)? = one.side.command(command, id: 7).replies(to: 7).last else { return nil }
      return ending.reason
    }
    #expect(reason(.compareCodes(one.far, timeout: time)) == .limitExceeded)
    #expect(reason(.compareCodes(node(4), timeout: .seconds(1))) == .noSuchAssociation)
    #expect(reason(.answerComparison(one.far, true, .left)) == .noSuchAssociation)
    one.side.command(.compareCodes(one.far, timeout: .seconds(1)), id: 8)
    #expect(reason(.compareCodes(one.far, timeout: .seconds(1))) == .inProgress)
  }

  @Test("an exchange ends with the link on which a nonce was given, and the member is told so over the next one")
  func linkLost() {
    let one = shown(resumes: true)
    let lost = one.side.take(.linkClosed(one.link, .failed(LinkFailure(.reset))))
    #expect(
      lost.events.contains { if case .comparisonEnded(_, let end) = $0 { end.reason == .linkFailed } else { false } })
    #expect(wrongCodes(one) == 1)
  }

  @Test("as long as a code is on the screens its link is kept, though there is a better one; then the member moves")
  func better() {
    let one = OneSided(isSmaller: true, comparing { $0.transports = [.tcp, .le] })
    one.traits = LinkTraits(kind: .le, remoteAddress: "far")
    _ = one.connected { $0.capabilities = [.comparisons, .resume] }
    one.receive(ask)
    #expect(one.receive(.comparison(.reveal(someNonce))).events.count == 1)
    let held = one.side.engine.associations[one.far]?.id
    func better(_ number: UInt64) -> Outcome {
      let link = LinkID(rawValue: number)
      one.traits = LinkTraits(kind: .tcp, remoteAddress: "192.0.2.9:1")
      var outcome = one.side.take(.linkOpened(link, one.opening()))
      let hello = one.hello {
        $0.capabilities = [.comparisons, .resume]
        $0.associationsBegun = 1
        $0.held = held.map { HeldAssociation(id: $0, received: 0) }
      }
      outcome += one.side.take(.received(link, FrameEncoder.encode(hello)[...]))
      return outcome
    }
    func moves(_ outcome: Outcome) -> Bool {
      outcome.frames.contains { if case .associate = $0 { true } else { false } }
    }
    let early = better(2)
    #expect(!moves(early))
    #expect(!early.events.contains { if case .comparisonEnded = $0 { true } else { false } })
    one.side.command(.answerComparison(one.far, true, .left))
    #expect(one.receive(.comparison(.same)).events.last == .codesCompared(one.far, code: "123456"))
    #expect(wrongCodes(one) == 0)
    #expect(moves(better(3)))
  }
}
