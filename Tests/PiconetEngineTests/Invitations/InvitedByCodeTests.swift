import PiconetWire
import Testing

@testable import PiconetEngine

private let code = TypedCodeID(rawValue: 7)
private let share = [UInt8](repeating: 4, count: InviteByCode.shareCount)
private let otherShare = [UInt8](repeating: 5, count: InviteByCode.shareCount)
private let confirmation = [UInt8](repeating: 6, count: InviteByCode.confirmationCount)
private let otherConfirmation = [UInt8](repeating: 8, count: InviteByCode.confirmationCount)

extension Outcome {
  /// The steps of proofs, in order.
  var steps: [(CodeID, TypedCodeStep)] {
    effects.compactMap { effect in
      if case .proveCode(let id, let step) = effect { return (id, step) }
      return nil
    }
  }

  fileprivate var failures: [(left: Int, Ending)] {
    events.compactMap { event in
      if case .codeFailed(_, _, let left, let ending) = event { return (left, ending) }
      return nil
    }
  }

  fileprivate var connected: ProvenPeer? {
    for case .connected(let peer) in events { return peer }
    return nil
  }

  fileprivate func ending(_ command: UInt64) -> Ending? {
    guard case .failed(let ending)? = replies(to: command).first else { return nil }
    return ending
  }
}

@Suite("Whoever is invited by a code")
struct InvitedByCodeTests {
  /// A stranger has an association with us, and our code is set.
  private func set(_ configuration: EngineConfiguration = configuration()) -> OneSided {
    let one = OneSided(configuration)
    one.side.judgement = .new
    _ = one.associated { $0.capabilities = .typedCodes }
    one.side.command(.setCode(code))
    return one
  }

  private func invite(_ one: OneSided) -> Outcome {
    one.receive(.inviteByCode(InviteByCode(timeout: 30_000, share: share)))
  }

  /// The stranger has our answer.
  private func answered(_ one: OneSided) -> CodeID {
    let id = invite(one).steps.first?.0 ?? CodeID(rawValue: 0)
    let outcome = one.side.take(.codeProven(id, .answer(share: otherShare, confirmation: confirmation)))
    #expect(outcome.frames == [.codeAnswer(CodeAnswer(share: otherShare, confirmation: confirmation, left: 2))])
    return id
  }

  /// The stranger's code was wrong `count` times, with pauses between.
  private func wrong(_ one: OneSided, count: Int) -> [Int] {
    var lefts: [Int] = []
    for _ in 0..<count {
      let id = invite(one).steps.first?.0 ?? CodeID(rawValue: 0)
      one.side.take(.codeProven(id, .answer(share: otherShare, confirmation: confirmation)))
      one.receive(.codeConfirm(otherConfirmation))
      let outcome = one.side.take(.codeProven(id, .wrong))
      #expect(outcome.frames.count == 1)
      lefts += outcome.failures.map(\.left)
      one.side.wait(.seconds(9))
    }
    return lefts
  }

  @Test("a right confirmation makes both members, and not before")
  func right() {
    let one = set()
    let asked = invite(one)
    #expect(asked.steps.map(\.1) == [.answer(code, one.link, share: share)])
    #expect(asked.frames.isEmpty && asked.connected == nil)
    let id = asked.steps[0].0
    let answered = one.side.take(.codeProven(id, .answer(share: otherShare, confirmation: confirmation)))
    #expect(answered.connected == nil && one.side.members.isEmpty)
    let confirmed = one.receive(.codeConfirm(otherConfirmation))
    #expect(confirmed.steps.map(\.1) == [.confirm(otherConfirmation)])
    #expect(confirmed.frames.isEmpty && one.side.members.isEmpty)
    let outcome = one.side.take(.codeProven(id, .right))
    #expect(outcome.frames == [.accept] && outcome.connected == nil)
    #expect(outcome.steps.map(\.1) == [.end])
    #expect(one.receive(.admit).connected?.isProven == true && one.side.members == [one.far])
    #expect(!outcome.events.contains { if case .invitationReceived = $0 { true } else { false } })
  }

  @Test("a wrong confirmation is declined and reported, and the peer does not become a member")
  func wrong() {
    let one = set()
    let id = answered(one)
    one.receive(.codeConfirm(otherConfirmation))
    let outcome = one.side.take(.codeProven(id, .wrong))
    #expect(outcome.frames == [.decline(.wrongCode, detail: "another code was typed there")])
    #expect(outcome.failures.map(\.left) == [2] && one.side.members.isEmpty)
    #expect(outcome.steps.map(\.1) == [.end])
    // A second confirmation has nothing to confirm.
    #expect(one.receive(.codeConfirm(confirmation)).closeReason == .protocolBroken)
  }

  @Test("three wrong tries end the code; then no stranger gets in before there is another one")
  func over() {
    let one = set()
    #expect(wrong(one, count: 3) == [2, 1, 0])
    one.side.wait(.seconds(5))
    let after = invite(one)
    #expect(after.steps.isEmpty)
    guard case .decline(.wrongCode, _)? = after.frames.first else {
      Issue.record("\(after.frames)")
      return
    }
    #expect(
      one.receive(.invite(Invite(timeout: 9_000, commitment: someCommitment))).frames
        == [.decline(.codeNeeded, detail: "")])
    one.side.command(.setCode(TypedCodeID(rawValue: 8)))
    #expect(invite(one).steps.map(\.1) == [.answer(TypedCodeID(rawValue: 8), one.link, share: share)])
  }

  @Test("breaking off after the answer is a wrong try: by withdrawing, by silence, by the link, by an unfit share")
  func brokenOff() {
    let withdrawn = set()
    _ = answered(withdrawn)
    let outcome = withdrawn.receive(.withdraw(.cancelled))
    #expect(outcome.failures.map(\.left) == [2])
    #expect(outcome.frames.first.map { if case .decline(.wrongCode, _) = $0 { true } else { false } } == true)

    let silent = set()
    _ = answered(silent)
    #expect(silent.side.wait(CodeProof.time - .nanoseconds(1)).failures.isEmpty)
    let late = silent.side.wait(.nanoseconds(1))
    #expect(late.failures.map(\.left) == [2])
    // A confirmation that comes too late belongs to nothing.
    let ignored = silent.receive(.codeConfirm(confirmation))
    #expect(ignored.closeReason == nil && ignored.steps.isEmpty && silent.side.members.isEmpty)

    let lost = set()
    _ = answered(lost)
    #expect(lost.side.take(.linkClosed(lost.link, .failed(LinkFailure(.reset)))).failures.map(\.left) == [2])

    let unfit = set()
    let id = invite(unfit).steps[0].0
    let broken = unfit.side.take(.codeProven(id, .unfit))
    #expect(broken.closeReason == .protocolBroken && broken.failures.map(\.left) == [2])
  }

  @Test("after a wrong try the next one waits, and is not counted")
  func pauses() {
    let one = set()
    let id = answered(one)
    one.receive(.codeConfirm(otherConfirmation))
    one.side.take(.codeProven(id, .wrong))
    let soon = invite(one)
    #expect(soon.steps.isEmpty && soon.frames.count == 1)
    one.side.wait(.seconds(2))
    #expect(invite(one).steps.count == 1)
  }

  @Test("a frame out of order ends the link")
  func illegal() {
    #expect(set().receive(.codeConfirm(confirmation)).closeReason == .protocolBroken)
    #expect(
      set().receive(.codeAnswer(CodeAnswer(share: share, confirmation: confirmation, left: 1))).closeReason
        == .protocolBroken)
    let early = set()
    _ = invite(early)
    #expect(early.receive(.codeConfirm(confirmation)).closeReason == .protocolBroken)
    let twice = set()
    _ = answered(twice)
    #expect(invite(twice).closeReason == .protocolBroken)
    let both = set()
    _ = answered(both)
    #expect(
      both.receive(.invite(Invite(timeout: 9_000, commitment: someCommitment))).closeReason == .protocolBroken)
  }

  @Test("without a code it says so, and with one a stranger's plain invitation is declined, a known one's is not")
  func plain() {
    let none = OneSided().associated()
    #expect(invite(none).frames == [.decline(.notAvailable, detail: "no code is set there")])
    let invitation = Frame.invite(Invite(timeout: 9_000, commitment: someCommitment))
    #expect(set().receive(invitation).frames == [.decline(.codeNeeded, detail: "")])
    let known = OneSided().associated()
    known.side.command(.setCode(code))
    #expect(known.receive(invitation).frames.isEmpty)
    // Once the code is taken back, all is as before.
    let taken = set()
    taken.side.command(.setCode(nil))
    #expect(taken.receive(invitation).frames.isEmpty)
  }

  @Test("a full session declines an invitation, which does not count as a wrong try")
  func full() {
    let one = set(configuration { $0.capacity = 1 })
    let outcome = invite(one)
    #expect(outcome.steps.isEmpty && outcome.failures.isEmpty)
    guard case .decline(.full, _)? = outcome.frames.first else {
      Issue.record("\(outcome.frames)")
      return
    }
  }

  @Test("findings of a proof that is over change nothing")
  func stale() {
    let one = set()
    let first = invite(one).steps[0].0
    one.receive(.withdraw(.cancelled))
    one.side.wait(.seconds(2))
    let second = invite(one).steps[0].0
    #expect(first != second)
    let stale = one.side.take(.codeProven(first, .answer(share: otherShare, confirmation: confirmation)))
    #expect(stale.frames.isEmpty)
    #expect(one.side.take(.codeProven(first, .right)).frames.isEmpty && one.side.members.isEmpty)
  }
}

@Suite("Whoever invites by a code")
struct InvitingByCodeTests {
  /// Our share is with the remote side.
  private func invited(_ judgement: TrustJudgement = .ask, id: UInt64 = 1) -> (OneSided, CodeID) {
    let one = OneSided()
    one.side.judgement = judgement
    _ = one.associated { $0.capabilities = .typedCodes }
    return (one, invite(one, id: id))
  }

  private func invite(_ one: OneSided, id: UInt64) -> CodeID {
    let outcome = one.side.command(
      .invite(.node(one.far), context: [9], timeout: .seconds(30), code: code), id: id)
    let proof = outcome.steps.first?.0 ?? CodeID(rawValue: 0)
    #expect(outcome.steps.map(\.1) == [.share(code, one.link)])
    #expect(
      one.side.take(.codeProven(proof, .share(share))).frames
        == [.inviteByCode(InviteByCode(timeout: 30_000, share: share, context: [9]))])
    return proof
  }

  private func answer(_ one: OneSided, left: UInt64 = 2) -> Outcome {
    one.receive(.codeAnswer(CodeAnswer(share: otherShare, confirmation: confirmation, left: left)))
  }

  @Test("both have proven the code: the user is not asked, and both are members")
  func right() {
    let (one, proof) = invited()
    #expect(answer(one).steps.map(\.1) == [.check(share: otherShare, confirmation: confirmation)])
    let confirmed = one.side.take(.codeProven(proof, .confirmed(otherConfirmation)))
    #expect(confirmed.frames == [.codeConfirm(otherConfirmation)] && one.side.members.isEmpty)
    let outcome = one.receive(.accept)
    #expect(outcome.replies(to: 1) == [.connected(one.far)])
    #expect(outcome.connected?.isProven == true)
    #expect(outcome.steps.map(\.1) == [.end])
    #expect(!one.side.log.events.contains { if case .confirmationNeeded = $0 { true } else { false } })
  }

  @Test(
    "a wrong answer gets no confirmation, and the words say what is left", arguments: [0, 1, 2, VariableInteger.max])
  func wrong(left: UInt64) {
    let (one, proof) = invited()
    _ = answer(one, left: left)
    let outcome = one.side.take(.codeProven(proof, .wrong))
    #expect(outcome.frames == [.withdraw(.wrongCode)])
    #expect(outcome.ending(1)?.reason == .wrongCode)
    let words = outcome.ending(1)?.detail ?? ""
    #expect(words.contains(left == 0 ? "last try" : left == 1 ? "one more try" : left == 2 ? "2 more" : "3 more"))
    #expect(outcome.steps.map(\.1) == [.end])
    #expect(one.receive(.decline(.wrongCode, detail: "")).effects.isEmpty)
  }

  @Test("an acceptance without a proof ends the link: before the answer, and before our confirmation")
  func unproven() {
    let (early, _) = invited()
    let outcome = early.receive(.accept)
    #expect(outcome.closeReason == .protocolBroken && outcome.connected == nil)
    let (checking, _) = invited()
    _ = answer(checking)
    #expect(checking.receive(.accept).closeReason == .protocolBroken)
    #expect(early.side.members.isEmpty && checking.side.members.isEmpty)
  }

  @Test("a code that was wrong three times is not tried again")
  func threeGuesses() {
    let one = OneSided()
    one.side.judgement = .new
    _ = one.associated { $0.capabilities = .typedCodes }
    for number: UInt64 in 1...3 {
      let proof = invite(one, id: number)
      _ = answer(one)
      one.side.take(.codeProven(proof, .wrong))
      one.receive(.decline(.wrongCode, detail: ""))
    }
    let fourth = one.side.command(
      .invite(.node(one.far), context: [], timeout: .seconds(30), code: code), id: 4)
    #expect(fourth.steps.isEmpty && fourth.frames.isEmpty && fourth.ending(4)?.reason == .wrongCode)
    let other = one.side.command(
      .invite(.node(one.far), context: [], timeout: .seconds(30), code: TypedCodeID(rawValue: 8)), id: 5)
    #expect(other.steps.count == 1)
  }

  @Test("an older peer is not sent what it does not know")
  func unsupported() {
    let one = OneSided().associated()
    let outcome = one.side.command(
      .invite(.node(one.far), context: [], timeout: .seconds(30), code: code), id: 1)
    #expect(outcome.ending(1)?.reason == .notSupported && outcome.frames.isEmpty)
  }

  @Test("with its link the attempt is over")
  func lostLink() {
    let (one, _) = invited()
    let outcome = one.side.take(.linkClosed(one.link, .failed(LinkFailure(.reset))))
    #expect(outcome.ending(1) != nil && outcome.steps.map(\.1) == [.end])
  }

  @Test("the remote side's plain invitation does not stand for a proof")
  func plainCrosses() {
    let (one, _) = invited(.known)
    let outcome = one.receive(.invite(Invite(timeout: 9_000, commitment: someCommitment)))
    #expect(outcome.frames == [.decline(.codeNeeded, detail: "")] && one.side.members.isEmpty)
  }
}
