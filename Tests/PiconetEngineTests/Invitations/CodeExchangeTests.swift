import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Codes of invitations")
struct CodeExchangeTests {
  private func ending(_ outcome: Outcome, _ command: UInt64 = 1) -> Ending? {
    guard case .failed(let ending)? = outcome.replies(to: command).first else { return nil }
    return ending
  }

  /// The remote side, which is not known, has invited us.
  private func invited(
    _ terms: InvitationTerms = [], judgement: TrustJudgement = .new, isSmaller: Bool = false, resumes: Bool = false,
    _ configuration: EngineConfiguration = configuration()
  ) -> OneSided {
    let one = OneSided(isSmaller: isSmaller, configuration)
    one.side.judgement = judgement
    _ = one.associated { if resumes { $0.capabilities = .resume } }
    one.receive(.invite(Invite(timeout: 60_000, terms: terms, commitment: someCommitment)))
    return one
  }

  /// Its question and the code are on the screen; the command is 5.
  private func shown(
    _ terms: InvitationTerms = [], judgement: TrustJudgement = .new, resumes: Bool = false
  ) -> OneSided {
    let one = invited(terms, judgement: judgement, resumes: resumes)
    #expect(one.side.command(.showCode(one.far), id: 5).frames == [.codeNonce([UInt8](repeating: 1, count: 32))])
    #expect(one.receive(.codeReveal(someNonce)).replies(to: 5) == [.code("123456")])
    return one
  }

  /// Our invitation is with the remote side, with the id 1.
  private func inviting(
    judgement: TrustJudgement = .new, isSmaller: Bool = false, resumes: Bool = false
  ) -> OneSided {
    let one = OneSided(isSmaller: isSmaller)
    one.side.judgement = judgement
    _ = one.associated { if resumes { $0.capabilities = .resume } }
    one.side.command(.invite(.node(one.far), context: [], timeout: .seconds(20)), id: 1)
    return one
  }

  private func tries(_ one: OneSided) -> CodeTries.Refusal? {
    one.side.engine.turn.budgets.strangers.refusal(one.far.peer, at: "far", one.side.now)
  }

  // MARK: The invited side

  @Test("no nonce is given before the question is on the screen")
  func nothingBefore() {
    let one = invited()
    #expect(!one.side.log.frames.contains { if case .codeNonce = $0 { true } else { false } })
    #expect(!one.side.log.effects.contains { if case .drawNonce = $0 { true } else { false } })
  }

  @Test("the code follows from both nonces, both keys and the link, in their roles")
  func inputs() {
    let one = shown()
    #expect(
      one.side.log.effects.contains(
        .deriveCode(
          CodeID(rawValue: 1), one.link,
          CodeInputs(
            inviter: one.far.peer, invited: one.side.node.peer, inviterNonce: someNonce,
            invitedNonce: [UInt8](repeating: 1, count: 32), commitment: someCommitment))))
  }

  @Test("accepted after the code was shown, the peer is a member with that code, and has no faults")
  func accepted() {
    let one = shown()
    #expect(one.side.command(.answerInvitation(one.far, accept: true, .left), id: 6).frames == [.accept])
    #expect(one.receive(.admit).replies(to: 6) == [.done])
    guard case .connected(let peer)? = one.side.log.events.last else {
      Issue.record("\(one.side.log.events)")
      return
    }
    #expect(peer.code == "123456")
    #expect(tries(one) == nil)
  }

  @Test("a nonce that is not revealed within 2 s is a wrong code on our side, and the attempt is over on both")
  func notRevealed() {
    let one = invited()
    one.side.command(.showCode(one.far), id: 5)
    #expect(one.side.wait(.seconds(2) - .nanoseconds(1)).frames.isEmpty)
    let outcome = one.side.wait(.nanoseconds(1))
    guard case .decline(.codeMismatch, let words)? = outcome.frames.last else {
      Issue.record("\(outcome.frames)")
      return
    }
    #expect(words.contains("broke off") && words.contains("2 s"))
    #expect(ending(outcome, 5)?.reason == .codeMismatch)
    guard case .invitationEnded(one.far, let end)? = outcome.events.first else {
      Issue.record("\(outcome.events)")
      return
    }
    #expect(end.reason == .codeMismatch && end.detail.contains("broke off"))
    #expect(tries(one) != nil)
    // A reveal that comes late is ignored, a second one is not.
    #expect(one.receive(.codeReveal(someNonce)).effects == [])
    #expect(one.receive(.codeReveal(someNonce)).closeReason == .protocolBroken)
  }

  @Test("a reveal of something else than was committed to ends the link, and is a wrong code")
  func wrongReveal() {
    let one = invited()
    one.side.command(.showCode(one.far), id: 5)
    let outcome = one.receive(.codeReveal([UInt8](repeating: 77, count: 32)))
    #expect(outcome.closeReason == .identity)
    #expect(ending(outcome, 5) != nil)
    #expect(one.side.census.links == 0 && tries(one) != nil)
  }

  @Test(
    "whatever ends the attempt after the nonce is a wrong code, and the next one waits",
    arguments: ["differ", "withdrawn", "link", "close", "expired", "leave"])
  func countsAsWrong(how: String) {
    let one = shown()
    switch how {
    case "differ": one.side.command(.answerInvitation(one.far, accept: false, .codeMismatch))
    case "withdrawn": one.receive(.withdraw(.cancelled))
    case "link": one.side.take(.linkClosed(one.link, .failed(LinkFailure(.reset))))
    case "close": one.receive(.close(.shuttingDown, detail: ""))
    case "leave": one.receive(.leave(.left, detail: ""))
    default: one.side.wait(.seconds(60))
    }
    #expect(one.side.engine.turn.budgets.strangers.countOfAll == 1)
    #expect(one.side.engine.associations[one.far]?.invitations.isComparing != true)
    #expect(one.side.census.members == 0)
  }

  @Test("the codes of a known peer are not counted")
  func knownIsNotCounted() {
    let one = shown(judgement: .known)
    one.receive(.withdraw(.cancelled))
    #expect(tries(one) == nil && one.side.engine.turn.budgets.strangers.count == 0)
  }

  @Test("an attempt has one code, another one has another nonce")
  func newNonces() {
    let one = shown()
    #expect(one.side.command(.showCode(one.far), id: 6).replies(to: 6) == [.code("123456")])
    #expect(one.side.log.frames.count { if case .codeNonce = $0 { true } else { false } } == 1)
    one.receive(.withdraw(.cancelled))
    one.side.wait(.seconds(1))
    one.receive(.invite(Invite(timeout: 60_000, commitment: someCommitment)))
    #expect(one.side.command(.showCode(one.far), id: 7).frames == [.codeNonce([UInt8](repeating: 2, count: 32))])
  }

  @Test("an unanswered invitation with a timeout of an hour ends after five minutes")
  func longestTime() {
    let one = OneSided()
    one.side.judgement = .ask
    _ = one.associated()
    one.receive(.invite(Invite(timeout: 3_600_000, commitment: someCommitment)))
    func ended() -> [Event] {
      one.side.log.events.filter { if case .invitationEnded = $0 { true } else { false } }
    }
    for _ in 0..<59 {
      one.side.wait(.seconds(5))
      one.receive(.ping(1))
    }
    #expect(ended() == [] && one.side.census.links == 1)
    one.side.wait(.seconds(5))
    guard case .invitationEnded(one.far, let ending)? = ended().last else {
      Issue.record("it stands after 300 s")
      return
    }
    #expect(ending.reason == .timedOut)
  }

  /// The remote side invites, and its code is on the screen once the pause is over.
  private func ask(_ one: OneSided) {
    one.receive(.invite(Invite(timeout: 300_000, commitment: someCommitment)))
    for _ in 0..<4 {
      one.side.wait(.seconds(4))
      one.receive(.ping(1))
    }
    one.side.command(.showCode(one.far))
    one.receive(.codeReveal(someNonce))
  }

  private func blocks(_ one: OneSided) -> [String] {
    one.side.log.events.compactMap { if case .peerRefused(_, _, _, let end, _) = $0 { end.detail } else { nil } }
  }

  @Test("three codes that differ, or five that break off, end it for an hour, and that is told once")
  func threeEnd() {
    for isWrong in [true, false] {
      let one = OneSided()
      one.side.judgement = .new
      _ = one.associated()
      let count = isWrong ? 3 : 5
      for number in 0..<count {
        #expect(blocks(one) == [], "\(number)")
        ask(one)
        if isWrong {
          one.side.command(.answerInvitation(one.far, accept: false, .codeMismatch))
        } else {
          one.receive(.withdraw(.cancelled))
        }
      }
      #expect(blocks(one) == ["\(count) codes were wrong or broke off: it is not listened to for 1 hour"])
      for _ in 0..<5 {
        let outcome = one.receive(.invite(Invite(timeout: 300_000, commitment: someCommitment)))
        guard case .decline(.limitExceeded, let words)? = outcome.frames.last else {
          Issue.record("\(outcome.frames)")
          return
        }
        #expect(words == "too many codes were wrong or broke off: it is listened to again in 1 hour")
        #expect(outcome.events.isEmpty)
      }
      // We do not invite it, either.
      let own = one.side.command(.invite(.node(one.far), context: [], timeout: .seconds(9)), id: 9)
      #expect(ending(own, 9)?.reason == .limitExceeded && own.frames.isEmpty)
      // A person here forgives it.
      one.side.take(.forgiven("\(one.far.peer.description.prefix(12))"))
      let asked = one.receive(.invite(Invite(timeout: 300_000, commitment: someCommitment)))
      guard case .invitationReceived? = asked.events.last else {
        Issue.record("\(asked.events)")
        return
      }
    }
  }

  @Test("a no is no wrong code, however often: it costs a pause, and neither the key nor others are locked out")
  func noIsNoWrongCode() {
    let one = OneSided()
    one.side.judgement = .ask
    _ = one.associated()
    for _ in 0..<4 {
      ask(one)
      one.side.command(.answerInvitation(one.far, accept: false, .declined))
    }
    #expect(blocks(one) == [] && one.side.engine.turn.budgets.strangers.countOfAll == 0)
    #expect(tries(one) == .pause(.seconds(8)))
    ask(one)
    #expect(one.side.command(.answerInvitation(one.far, accept: true, .left), id: 6).frames == [.accept])
  }

  @Test("our own no to a code that we have asked for is no wrong code of the other side, either")
  func ownNo() {
    let one = inviting(judgement: .ask)
    one.receive(.codeNonce(someNonce))
    one.side.command(.confirm(one.far, false, .declined), id: 2)
    #expect(one.side.engine.turn.budgets.strangers.countOfAll == 0)
    #expect(tries(one) == .pause(.seconds(1)))
  }

  @Test("shortly after a refusal an invitation waits for its turn, and one that can't wait is declined")
  func pauseWaits() {
    let one = invited(judgement: .ask)
    one.side.command(.answerInvitation(one.far, accept: false, .declined))
    #expect(one.receive(.invite(Invite(timeout: 60_000, commitment: someCommitment))).events == [])
    #expect(one.side.wait(.milliseconds(999)).events == [])
    guard case .invitationReceived? = one.side.wait(.milliseconds(1)).events.first else {
      Issue.record("never asked")
      return
    }
    one.side.command(.answerInvitation(one.far, accept: false, .declined))
    let hasty = one.receive(.invite(Invite(timeout: 500, commitment: someCommitment)))
    guard case .decline(.limitExceeded, _)? = hasty.frames.last else {
      Issue.record("\(hasty.frames)")
      return
    }
  }

  // MARK: The inviter

  @Test("the inviter reveals once it has the other nonce, and is told the code")
  func inviter() {
    let one = inviting()
    let outcome = one.receive(.codeNonce(someNonce))
    #expect(outcome.frames == [.codeReveal([UInt8](repeating: 1, count: 32))])
    guard case .codeShown(CommandID(rawValue: 1), let peer, code: "123456")? = outcome.events.first else {
      Issue.record("\(outcome.events)")
      return
    }
    #expect(peer.node == one.far && outcome.events.count == 1)
    #expect(one.receive(.accept).replies(to: 1) == [.connected(one.far)])
    #expect(tries(one) == nil)
  }

  @Test("a nonce without an invitation, and a second one, break the protocol")
  func nonceRules() {
    #expect(OneSided().associated().receive(.codeNonce(someNonce)).closeReason == .protocolBroken)
    #expect(inviting().receive(.codeNonce(someNonce), .codeNonce(someNonce)).closeReason == .protocolBroken)
    #expect(OneSided().connected().receive(.codeNonce(someNonce)).closeReason == .protocolBroken)
    #expect(inviting().receive(.admit).closeReason == .protocolBroken)
    #expect(inviting().receive(.codeReveal(someNonce)).closeReason == .protocolBroken)
  }

  @Test("a nonce that crosses our withdrawal gets no reveal")
  func nonceAfterWithdrawal() {
    let one = inviting()
    one.side.command(.cancelInvitation(CommandID(rawValue: 1)), id: 2)
    #expect(one.receive(.codeNonce(someNonce)).effects == [])
    #expect(one.receive(.decline(.cancelled, detail: "")).effects == [])
    // The next invitation has another nonce.
    one.side.command(.invite(.node(one.far), context: [], timeout: .seconds(20)), id: 3)
    #expect(one.receive(.codeNonce(someNonce)).frames == [.codeReveal([UInt8](repeating: 2, count: 32))])
  }

  @Test(
    "whatever ends the attempt after our reveal is a wrong code for the inviter, too",
    arguments: ["declined", "cancelled", "link", "close", "timeout"])
  func inviterCounts(how: String) {
    let one = inviting()
    one.receive(.codeNonce(someNonce))
    switch how {
    case "declined": one.receive(.decline(.declined, detail: ""))
    case "cancelled": one.side.command(.cancelInvitation(CommandID(rawValue: 1)), id: 2)
    case "link": one.side.take(.linkClosed(one.link, .failed(LinkFailure(.reset))))
    case "close": one.receive(.close(.shuttingDown, detail: ""))
    default: one.side.wait(.seconds(20))
    }
    #expect(one.side.engine.turn.budgets.strangers.countOfAll == 1)
    let end = ending(one.side.log)
    #expect(end != nil)
    if how == "link" || how == "timeout" { #expect(end?.detail.contains("broke off") == true) }
    #expect(one.side.census.members == 0 && one.side.census.attempts == 0)
  }

  @Test(
    "a link that breaks while the codes are compared ends as one that falls silent: no person has found them differ")
  func breakOffs() {
    for how in ["link", "silence", "gone"] {
      let one = inviting()
      one.receive(.codeNonce(someNonce))
      switch how {
      case "link": one.side.take(.linkClosed(one.link, .failed(LinkFailure(.reset))))
      case "silence": one.side.wait(.seconds(20))
      default: one.receive(.close(.left, detail: ""))
      }
      let end = ending(one.side.log)
      #expect(
        end.map { [.linkFailed, .timedOut, .left].contains($0.reason) } == true, "\(how): \(String(describing: end))")
      #expect(end?.detail.contains("broke off") == true, "\(how)")
    }
  }

  // MARK: A policy that asks

  @Test(
    "an inviter that compares is no member before both the accept and its own person's answer",
    arguments: [true, false])
  func inviterCompares(acceptFirst: Bool) {
    let one = inviting(judgement: .ask)
    guard case .invite(let invite)? = one.side.log.frames.last else {
      Issue.record("not invited")
      return
    }
    #expect(invite.terms == .comparesCodes)
    let shown = one.receive(.codeNonce(someNonce))
    guard case .confirmationNeeded(_, code: "123456")? = shown.events.last else {
      Issue.record("\(shown.events)")
      return
    }
    if acceptFirst { one.receive(.accept) }
    #expect(one.side.census.members == 0)
    let confirmed = one.side.command(.confirm(one.far, true, .codeMismatch), id: 2)
    // Only a peer that has accepted is admitted.
    #expect(confirmed.frames == (acceptFirst ? [.admit] : []) && confirmed.replies(to: 2) == [.done])
    if !acceptFirst {
      #expect(one.side.census.members == 0)
      #expect(one.receive(.accept).frames == [.admit])
    }
    #expect(one.side.members == [one.far])
    #expect(ending(one.side.command(.confirm(one.far, true, .codeMismatch), id: 3), 3)?.reason == .noSuchAssociation)
  }

  @Test("an accept without the code that has to be compared breaks the protocol")
  func acceptWithoutCode() {
    let one = inviting(judgement: .ask)
    #expect(one.receive(.accept).closeReason == .protocolBroken)
    #expect(one.side.census.members == 0)
  }

  @Test(
    "codes that differ for the inviter take the invitation back, before and after the accept", arguments: [true, false])
  func inviterSaysNo(acceptFirst: Bool) {
    let one = inviting(judgement: .ask)
    one.receive(.codeNonce(someNonce))
    if acceptFirst { one.receive(.accept) }
    let outcome = one.side.command(.confirm(one.far, false, .codeMismatch), id: 2)
    #expect(outcome.frames == [.withdraw(.codeMismatch)])
    #expect(ending(outcome)?.reason == .codeMismatch)
    // An accept that crosses this makes neither side a member, so neither has to leave.
    if !acceptFirst { #expect(one.receive(.accept).effects == []) }
    #expect(one.side.census.members == 0 && one.side.census.links == 1)
    #expect(tries(one) != nil)
  }

  @Test("an invitation that compares is accepted only with the code, and makes a member only with `admit`")
  func invitedByComparing() {
    let one = invited(.comparesCodes)
    guard case .invitationReceived(_, _, _, comparesCodes: true)? = one.side.log.events.last else {
      Issue.record("\(one.side.log.events)")
      return
    }
    let early = one.side.command(.answerInvitation(one.far, accept: true, .left), id: 4)
    #expect(ending(early, 4)?.reason == .identity && early.frames.isEmpty)
    one.side.command(.showCode(one.far), id: 5)
    one.receive(.codeReveal(someNonce))
    let accepted = one.side.command(.answerInvitation(one.far, accept: true, .left), id: 6)
    #expect(accepted.frames == [.accept] && accepted.replies(to: 6).isEmpty)
    #expect(one.side.census.members == 0)
    let confirmed = one.receive(.admit)
    #expect(confirmed.replies(to: 6) == [.done])
    #expect(one.side.members == [one.far])
    #expect(one.receive(.admit).closeReason == .protocolBroken)
  }

  @Test("inviting a peer that we have accepted succeeds with it and dials nothing; cancelling that ends nothing else")
  func invitedWhileAccepted() {
    let one = shown(.comparesCodes)
    one.side.command(.answerInvitation(one.far, accept: true, .left), id: 6)
    let outcome = one.side.command(.invite(.node(one.far), context: [], timeout: .seconds(20)), id: 7)
    #expect(outcome.replies(to: 7).isEmpty && outcome.frames.isEmpty)
    let later = one.side.wait(.seconds(3))
    #expect(!later.effects.contains { if case .dial = $0 { true } else { false } })
    let cancelled = one.side.command(.cancelInvitation(CommandID(rawValue: 7)), id: 8)
    #expect(ending(cancelled, 7)?.reason == .cancelled && cancelled.frames.isEmpty)
    one.side.command(.invite(.node(one.far), context: [], timeout: .seconds(20)), id: 9)
    let admitted = one.receive(.admit)
    #expect(admitted.replies(to: 6) == [.done] && admitted.replies(to: 9) == [.connected(one.far)])
    #expect(one.side.members == [one.far])
  }

  @Test(
    "an end at the inviter's side after our accept ends it for us as well", arguments: ["withdrawn", "time", "link"])
  func notConfirmed(how: String) {
    let one = shown(.comparesCodes, resumes: true)
    one.side.command(.answerInvitation(one.far, accept: true, .left), id: 6)
    switch how {
    case "withdrawn": one.receive(.withdraw(.codeMismatch))
    case "link": one.side.take(.linkClosed(one.link, .failed(LinkFailure(.reset))))
    default: for _ in 0..<70 where one.side.census.links > 0 { one.side.wait(.seconds(1)); one.receive(.ping(1)) }
    }
    #expect(ending(one.side.log, 6) != nil)
    #expect(one.side.census.members == 0)
    #expect(one.side.engine.turn.budgets.strangers.countOfAll == 1)
    if how == "withdrawn" { #expect(one.side.census.links == 1) }
  }

  @Test("our own policy that asks does not accept without the code either")
  func invitedAsks() {
    let one = invited(judgement: .ask)
    #expect(ending(one.side.command(.answerInvitation(one.far, accept: true, .left), id: 4), 4)?.reason == .identity)
    one.side.command(.showCode(one.far), id: 5)
    one.receive(.codeReveal(someNonce))
    one.side.command(.answerInvitation(one.far, accept: true, .left), id: 6)
    #expect(one.side.members.isEmpty)
    one.receive(.admit)
    #expect(one.side.members == [one.far])
  }

  // MARK: Crossing

  @Test("an invitation that crosses ours does not replace the comparison: the smaller one's counts, and is compared")
  func crossingTheLarger() {
    // We are the larger node.
    let one = inviting(judgement: .ask)
    let crossed = one.receive(.invite(Invite(timeout: 20_000, commitment: someCommitment)))
    #expect(one.side.census.members == 0)
    guard case .codeNonce? = crossed.frames.last else {
      Issue.record("\(crossed.frames)")
      return
    }
    // The remote side declines the invitation that does not count.
    #expect(one.receive(.decline(.inProgress, detail: "")).effects == [])
    let shown = one.receive(.codeReveal(someNonce))
    guard case .confirmationNeeded(_, code: "123456")? = shown.events.last else {
      Issue.record("\(shown.events)")
      return
    }
    #expect(one.side.census.members == 0)
    let outcome = one.side.command(.confirm(one.far, true, .codeMismatch), id: 2)
    #expect(outcome.frames == [.accept] && one.side.members.isEmpty)
    #expect(one.receive(.admit).replies(to: 1) == [.connected(one.far)])
    #expect(one.side.members == [one.far])
  }

  @Test("the smaller one declines an invitation that crosses its own, and has its own compared")
  func crossingTheSmaller() {
    let one = inviting(judgement: .ask, isSmaller: true)
    let crossed = one.receive(.invite(Invite(timeout: 20_000, commitment: someCommitment)))
    #expect(crossed.frames == [.decline(.inProgress, detail: "")] && crossed.events == [])
    #expect(one.side.census.members == 0)
    one.receive(.codeNonce(someNonce), .accept)
    #expect(one.side.census.members == 0)
    one.side.command(.confirm(one.far, true, .codeMismatch), id: 2)
    #expect(one.side.members == [one.far])
  }

  @Test("the terms of the remote side bind as our own policy does", arguments: [true, false])
  func crossingTerms(isSmaller: Bool) {
    let one = inviting(isSmaller: isSmaller)
    one.receive(.invite(Invite(timeout: 20_000, terms: .comparesCodes, commitment: someCommitment)))
    #expect(one.side.census.members == 0)
    guard !isSmaller else { return }
    one.receive(.decline(.inProgress, detail: ""), .codeReveal(someNonce))
    #expect(one.side.log.frames.last == .accept && one.side.census.members == 0)
    one.receive(.admit)
    #expect(one.side.members == [one.far])
  }

  @Test(
    "an invitation after the remote side has begun to answer ours, and an accept of what does not count, break the protocol"
  )
  func crossingAttacks() {
    let begun = inviting(judgement: .ask)
    begun.receive(.codeNonce(someNonce))
    #expect(
      begun.receive(.invite(Invite(timeout: 20_000, commitment: someCommitment))).closeReason == .protocolBroken)
    #expect(begun.side.census.members == 0 && tries(begun) != nil)
    let replaced = inviting(judgement: .ask)
    replaced.receive(.invite(Invite(timeout: 20_000, commitment: someCommitment)))
    #expect(replaced.receive(.accept).closeReason == .protocolBroken)
    #expect(replaced.side.census.members == 0)
  }

  @Test("our invitation to one whose question is open is compared as well")
  func invitationAsAnswer() {
    let one = invited(judgement: .ask)
    let outcome = one.side.command(.invite(.node(one.far), context: [], timeout: .seconds(9)), id: 1)
    guard case .codeNonce? = outcome.frames.last else {
      Issue.record("\(outcome.frames)")
      return
    }
    one.receive(.codeReveal(someNonce))
    #expect(one.side.census.members == 0)
    one.side.command(.confirm(one.far, true, .codeMismatch), id: 2)
    one.receive(.admit)
    #expect(one.side.members == [one.far])
  }

  @Test("the remote side withdraws before it saw ours: ours stands again, with its own nonce")
  func crossedAndWithdrawn() {
    let one = inviting(judgement: .ask)
    one.receive(.invite(Invite(timeout: 20_000, commitment: someCommitment)), .withdraw(.cancelled))
    #expect(one.side.log.replies(to: 1).isEmpty)
    let outcome = one.receive(.codeNonce(someNonce))
    #expect(outcome.frames == [.codeReveal([UInt8](repeating: 1, count: 32))])
  }
}
