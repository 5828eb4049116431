import PiconetWire

/// Invitations by a code that a person has typed. The order on the wire is the inviter's share, the invited's share and
/// confirmation, the inviter's confirmation, and `accept`; whoever is not the device that shows the code has one guess
/// for each. The invited side counts a try before anything is answered by which the inviter could see whether it was
/// right, and gives it back for a right code alone.
extension Association {
  // MARK: The inviter

  func invite(_ invitation: OutgoingInvitation, by code: TypedCodeID, _ turn: Turn) {
    guard capabilities.contains(.typedCodes) else {
      return invitation.fail(Ending(.notSupported, .peer, "it can't be invited by a code"), to: node, turn)
    }
    guard turn.budgets.allows(code) else {
      let words = "the code was wrong at \(TypedCodeTries.perCode) attempts, and is tried no more"
      return invitation.fail(Ending(.wrongCode, .us, words), to: node, turn)
    }
    guard let link = activeLink else { return invitation.fail(Self.noLink, to: node, turn) }
    if invitations.proof != nil {
      // It proves our code just now: that invitation is the one that counts.
      return invitations.begin(invitation, .answering)
    }
    if let incoming = invitations.incoming {
      guard incoming.acceptance == nil else { return invitation.fail(Ending(.inProgress, .us), to: node, turn) }
      breakOff(Ending(.codeNeeded, .us, "a code was typed for this peer"), turn)
    }
    let id = turn.takeCodeID()
    invitations.begin(invitation, .sharing, proof: id)
    turn.add(.proveCode(id, .share(code, link.id)))
  }

  private func send(_ share: [UInt8], of own: OutgoingInvitation, isFull: Bool, _ turn: Turn) {
    guard own.phase == .sharing else { return }
    if isFull {
      failInvitation(configuration.full, turn)
      return idle(turn)
    }
    invitations.sent([])
    let invite = InviteByCode(timeout: own.timeLeft(turn.now), share: share, context: own.context[...])
    send(.inviteByCode(invite), turn)
    turn.deliver(.invitationSent(own.command, peer))
  }

  func received(_ answer: CodeAnswer, _ turn: Turn) throws(Breach) {
    guard let first = invitations.beginAnswer(byCode: true) else { throw Breach("answers no invitation by code") }
    // Withdrawn: the peer will know when it has seen that.
    guard let command = first.command, leaving == nil else { return }
    guard let own = invitations.own, own.command == command, own.phase == .invited else {
      throw Breach("answers an invitation that its own has replaced")
    }
    guard let proof = own.proof else { return }
    invitations.answered(left: answer.left)
    turn.add(.proveCode(proof, .check(share: answer.share, confirmation: answer.confirmation)))
  }

  /// The driver has checked the answer.
  /// - Parameter confirmation: nil: the peer has another code.
  private func answerChecked(_ confirmation: [UInt8]?, of own: OutgoingInvitation, _ turn: Turn) {
    guard case .proving(let left) = own.phase, let code = own.code else { return }
    if let confirmation {
      invitations.proven()
      return send(.codeConfirm(confirmation), turn)
    }
    turn.budgets.wasWrong(code)
    let rest =
      switch left {
      case 0: "it was the last try: the other device needs another code"
      case 1: "one more try is left"
      default: "\(min(left, UInt64(TypedCodeTries.perCode))) more tries are left"
      }
    withdrawInvitation(Ending(.wrongCode, .peer, "it is not the other device's code; \(rest)"), turn)
  }

  // MARK: The invited side

  func received(_ invite: InviteByCode, _ turn: Turn) throws(Breach) {
    guard let link = activeLink else { return }
    if judgement != .known, let blocked = turn.budgets.blocked(peer, turn.now) {
      return declineInvitation(Ending(.limitExceeded, .us, blocked), turn)
    }
    if let own = invitations.own {
      guard invitations.exchange == nil, !own.isProving, own.phase != .proven else {
        throw Breach("an invitation beside the one that it has begun to answer")
      }
      if own.phase == .invited, own.code != nil, turn.node < node {
        // Of two that prove codes to each other the smaller node's counts.
        invitations.crossed(Array(invite.context))
        return send(.decline(.inProgress, detail: ""), turn)
      }
    }
    switch turn.budgets.beginTry(peer, turn.now) {
    case .success(let begun): begin(begun, invite, on: link, turn)
    case .failure(let refusal): declineInvitation(refusal.ending, turn)
    }
  }

  private func begin(_ begun: TypedCodeTries.Try, _ invite: InviteByCode, on link: Link, _ turn: Turn) {
    invitations.yield()
    let proof = CodeProof(
      id: turn.takeCodeID(), one: begun, until: turn.now + CodeProof.time, context: Array(invite.context))
    invitations.begin(proof)
    turn.tell(turn.conditions.proofBegan(node, name: peer.name))
    turn.add(.proveCode(proof.id, .answer(begun.code, link.id, share: invite.share)))
  }

  private func answerMade(share: [UInt8], confirmation: [UInt8], of proof: CodeProof, _ turn: Turn) {
    guard proof.phase == .answering else { return }
    invitations.answerMade()
    send(.codeAnswer(CodeAnswer(share: share, confirmation: confirmation, left: UInt64(proof.one.left))), turn)
  }

  func receivedProof(_ confirmation: [UInt8], _ turn: Turn) throws(Breach) {
    guard let proof = try invitations.confirmationCame(), leaving == nil else { return }
    turn.add(.proveCode(proof.id, .confirm(confirmation)))
  }

  private func confirmationChecked(isRight: Bool, of proof: CodeProof, _ turn: Turn) -> MembershipRequest? {
    guard proof.phase == .checking else { return nil }
    guard isRight else {
      endProof(Ending(.wrongCode, .peer, "another code was typed there"), turn)
      return nil
    }
    _ = invitations.takeProof()
    turn.budgets.wasRight(proof.one)
    turn.add(.proveCode(proof.id, .end))
    turn.budgets.matched(node.peer)
    return .place(.proven(context: proof.context))
  }

  /// The peer has proven our code, and there is no place.
  func declineProven(_ turn: Turn) {
    let full = configuration.full
    send(.decline(.full, detail: full.detail), turn)
    turn.tell(turn.conditions.invitationEnded(node, full))
    endAnswering(full, turn)
    idle(turn)
  }

  /// The inviter was wrong, broke off or is too late: the try stays counted, and the invitation is over.
  /// - Parameter isAnswered: the inviter is told by a `decline`; false where nothing reaches it any more.
  func endProof(_ ending: Ending, isAnswered: Bool = true, _ turn: Turn) {
    guard let proof = invitations.takeProof() else { return }
    turn.add(.proveCode(proof.id, .end))
    let left = turn.budgets.wasWrong(proof.one, turn.now)
    if isAnswered {
      send(.decline(ending.reason, detail: ending.detail.prefix(utf8: WireLimits.detail)), turn)
    }
    turn.deliver(.codeFailed(peer, proof.one.code, left: left, ending))
    endAnswering(ending, turn)
    idle(turn)
  }

  /// An invitation of ours waited for what comes of the peer's. It stands if the peer may yet answer it.
  private func endAnswering(_ ending: Ending, _ turn: Turn) {
    if invitations.isAnswering, !invitations.standsAlone() { failInvitation(ending, turn) }
  }

  // MARK: Both sides

  /// What the driver has found by a step of a proof; one that is over finds nothing more.
  /// - Parameter isFull: the session has no place for another member.
  func codeProven(
    _ id: CodeID, _ finding: TypedCodeFinding, isFull: Bool, _ turn: Turn
  ) throws(Breach) -> MembershipRequest? {
    if let own = invitations.own, own.proof == id, own.provesOnLink {
      found(finding, of: own, isFull: isFull, turn)
      return nil
    }
    guard let proof = invitations.proof, proof.id == id else { return nil }
    return try found(finding, of: proof, turn)
  }

  private func found(_ finding: TypedCodeFinding, of own: OutgoingInvitation, isFull: Bool, _ turn: Turn) {
    switch finding {
    case .share(let share): send(share, of: own, isFull: isFull, turn)
    case .confirmed(let confirmation): answerChecked(confirmation, of: own, turn)
    case .wrong, .unfit: answerChecked(nil, of: own, turn)
    case .failed(let words): withdrawInvitation(Ending(.internalError, .us, words), turn)
    case .answer, .right: break
    }
  }

  private func found(
    _ finding: TypedCodeFinding, of proof: CodeProof, _ turn: Turn
  ) throws(Breach) -> MembershipRequest? {
    switch finding {
    case .answer(let share, let confirmation):
      answerMade(share: share, confirmation: confirmation, of: proof, turn)
    case .right: return confirmationChecked(isRight: true, of: proof, turn)
    case .wrong: return confirmationChecked(isRight: false, of: proof, turn)
    case .unfit: throw Breach("a share that is no point of P-256, or our own")
    case .failed(let words): endProof(Ending(.internalError, .us, words), turn)
    case .share, .confirmed: break
    }
    return nil
  }
}

extension TypedCodeTries.Refusal {
  /// How the inviter's invitation ends.
  fileprivate var ending: Ending {
    switch self {
    case .noCode: Ending(.notAvailable, .us, "no code is set there")
    case .over: Ending(.wrongCode, .us, "the code is over after \(TypedCodeTries.perCode) wrong tries")
    case .busy: Ending(.inProgress, .us, "somebody is trying the code just now")
    case .wait(let left):
      Ending(.wrongCode, .us, "tries were wrong before: the next one is taken in \(left.inWords)")
    }
  }
}
