import PiconetWire

/// Invitations by a code that a person has typed. The order on the wire is the inviter's share, the invited side's
/// share and confirmation, the inviter's confirmation, and `accept`. A device that doesn't know the code has one guess
/// for each share. The invited side counts a try before it answers anything from which the inviter could see whether it
/// was right. It gives the try back only for a right code.
extension Invitations {
  // MARK: The inviter

  mutating func invite(_ invitation: OutgoingInvitation, by code: TypedCodeID, _ remote: Remote, _ turn: Turn) {
    guard provesCodes else {
      return invitation.fail(Ending(.notSupported, .peer, "it can't be invited by a code"), to: remote.node, turn)
    }
    guard turn.budgets.allows(code) else {
      let words = "the code was wrong at \(TypedCodeTries.perCode) attempts, and is tried no more"
      return invitation.fail(Ending(.wrongCode, .us, words), to: remote.node, turn)
    }
    guard let link = remote.link else { return invitation.fail(Self.noLink, to: remote.node, turn) }
    if state.proof != nil {
      // The peer is currently proving our code: that invitation is the one that counts.
      return state.begin(invitation, .answering)
    }
    if let incoming = state.incoming {
      // We have accepted, and wait to be admitted.
      guard incoming.acceptance == nil else { return invitation.fail(Ending(.inProgress, .us), to: remote.node, turn) }
      breakOff(Ending(.codeNeeded, .us, "a code was typed for this peer"), remote, turn)
    }
    let id = turn.takeCodeID()
    state.begin(invitation, .sharing, proof: id)
    turn.add(.proveCode(id, .share(code, link)))
  }

  private mutating func send(_ share: [UInt8], of own: OutgoingInvitation, isFull: Bool, _ remote: Remote, _ turn: Turn)
  {
    guard own.phase == .sharing else { return }
    if isFull {
      failInvitation(full(remote), remote, turn)
      return idle(turn.now)
    }
    state.sent(own, [])
    let invite = InviteByCode(timeout: own.timeLeft(turn.now), share: share, context: own.context[...])
    send(.inviteByCode(invite))
    turn.deliver(.invitationSent(own.command, remote.peer))
  }

  mutating func received(_ answer: CodeAnswer, _ remote: Remote, _ turn: Turn) throws(Breach) {
    guard let first = state.beginAnswer(byCode: true) else { throw Breach("answers no invitation by code") }
    // The invitation was withdrawn, as the peer will soon see.
    guard let command = first.command, !remote.isLeaving else { return }
    guard let own = state.own, own.command == command, own.phase == .invited else {
      throw Breach("answers an invitation that its own has replaced")
    }
    guard let proof = own.proof else { return }
    state.answered(own, left: answer.left)
    turn.add(.proveCode(proof, .check(share: answer.share, confirmation: answer.confirmation)))
  }

  /// Handles the driver's check of the answer.
  /// - Parameter confirmation: our confirmation; nil if the peer has another code.
  private mutating func answerChecked(
    _ confirmation: [UInt8]?, of own: OutgoingInvitation, _ remote: Remote, _ turn: Turn
  ) {
    guard case .proving(let left) = own.phase, let code = own.code else { return }
    if let confirmation {
      state.proven(own)
      return send(.codeConfirm(confirmation))
    }
    turn.budgets.wasWrong(code)
    let rest =
      switch left {
      case 0: "it was the last try: the other device needs another code"
      case 1: "one more try is left"
      default: "\(min(left, UInt64(TypedCodeTries.perCode))) more tries are left"
      }
    withdrawInvitation(Ending(.wrongCode, .peer, "it is not the other device's code; \(rest)"), remote, turn)
  }

  // MARK: The invited side

  mutating func received(_ invite: InviteByCode, _ remote: Remote, _ turn: Turn) throws(Breach) {
    guard let link = remote.link else { return }
    if remote.judgement != .known, let blocked = turn.budgets.blocked(remote.peer, turn.now) {
      return decline(Ending(.limitExceeded, .us, blocked), turn.now)
    }
    if let own = state.own {
      guard state.exchange == nil, !own.isProving, own.phase != .proven else {
        throw Breach("an invitation beside the one that it has begun to answer")
      }
      if own.phase == .invited, own.code != nil, turn.node < remote.node {
        // If both prove codes to each other, the smaller node's invitation counts.
        state.crossed(own, Array(invite.context))
        return send(.decline(.inProgress, detail: ""))
      }
    }
    switch turn.budgets.beginTry(remote.peer, turn.now) {
    case .success(let begun): begin(begun, invite, on: link, remote, turn)
    case .failure(let refusal): decline(refusal.ending, turn.now)
    }
  }

  private mutating func begin(
    _ begun: TypedCodeTries.Try, _ invite: InviteByCode, on link: LinkID, _ remote: Remote, _ turn: Turn
  ) {
    if let own = state.own { state.yield(own) }
    let proof = CodeProof(
      id: turn.takeCodeID(), one: begun, until: turn.now + CodeProof.time, context: Array(invite.context))
    state.begin(proof)
    turn.tell(turn.conditions.proofBegan(remote.node, name: remote.peer.name))
    turn.add(.proveCode(proof.id, .answer(begun.code, link, share: invite.share)))
  }

  private mutating func answerMade(share: [UInt8], confirmation: [UInt8], of proof: CodeProof) {
    guard proof.phase == .answering else { return }
    state.answerMade(proof)
    send(.codeAnswer(CodeAnswer(share: share, confirmation: confirmation, left: UInt64(proof.one.left))))
  }

  mutating func receivedProof(_ confirmation: [UInt8], _ remote: Remote, _ turn: Turn) throws(Breach) {
    guard let proof = try state.receivedConfirmation(), !remote.isLeaving else { return }
    turn.add(.proveCode(proof.id, .confirm(confirmation)))
  }

  private mutating func confirmationChecked(isRight: Bool, of proof: CodeProof, _ remote: Remote, _ turn: Turn)
    -> MembershipRequest?
  {
    guard proof.phase == .checking else { return nil }
    guard isRight else {
      endProof(Ending(.wrongCode, .peer, "another code was typed there"), remote, turn)
      return nil
    }
    _ = state.takeProof()
    turn.budgets.wasRight(proof.one)
    turn.add(.proveCode(proof.id, .end))
    turn.budgets.matched(remote.node.peer)
    return .place(.proven(context: proof.context))
  }

  /// Declines a peer that has proven our code, since there is no place.
  mutating func declineProven(_ remote: Remote, _ turn: Turn) {
    let full = full(remote)
    send(.decline(.full, detail: full.detail))
    turn.tell(turn.conditions.invitationEnded(remote.node, full))
    endAnswering(full, remote, turn)
    idle(turn.now)
  }

  /// Ends a proof because the inviter was wrong, broke off or was too late. The try stays counted, and the invitation
  /// is over.
  /// - Parameter isAnswered: whether the inviter is told by a `decline`; false if nothing can reach it any more.
  mutating func endProof(_ ending: Ending, isAnswered: Bool = true, _ remote: Remote, _ turn: Turn) {
    guard let proof = state.takeProof() else { return }
    turn.add(.proveCode(proof.id, .end))
    let left = turn.budgets.wasWrong(proof.one, turn.now)
    if isAnswered {
      send(.decline(ending.reason, detail: ending.detail.prefix(utf8: WireLimits.detail)))
    }
    turn.deliver(.codeFailed(remote.peer, proof.one.code, left: left, ending))
    endAnswering(ending, remote, turn)
    idle(turn.now)
  }

  /// Ends our invitation that waited for the outcome of the peer's. It stands if the peer may still answer it.
  private mutating func endAnswering(_ ending: Ending, _ remote: Remote, _ turn: Turn) {
    if state.isAnswering, !state.standsAlone() { failInvitation(ending, remote, turn) }
  }

  // MARK: Both sides

  /// Takes the driver's finding in a step of a proof. For a proof that is over, the finding means nothing.
  /// - Parameter isFull: whether the session has no place for another member.
  mutating func codeProven(
    _ id: CodeID, _ finding: TypedCodeFinding, isFull: Bool, _ remote: Remote, _ turn: Turn
  ) throws(Breach) -> MembershipRequest? {
    if let own = state.own, own.proof == id, own.provesOnLink {
      found(finding, of: own, isFull: isFull, remote, turn)
      return nil
    }
    guard let proof = state.proof, proof.id == id else { return nil }
    return try found(finding, of: proof, remote, turn)
  }

  private mutating func found(
    _ finding: TypedCodeFinding, of own: OutgoingInvitation, isFull: Bool, _ remote: Remote, _ turn: Turn
  ) {
    switch finding {
    case .share(let share): send(share, of: own, isFull: isFull, remote, turn)
    case .confirmed(let confirmation): answerChecked(confirmation, of: own, remote, turn)
    case .wrong, .unfit: answerChecked(nil, of: own, remote, turn)
    case .failed(let words): withdrawInvitation(Ending(.internalError, .us, words), remote, turn)
    case .answer, .right: break
    }
  }

  private mutating func found(
    _ finding: TypedCodeFinding, of proof: CodeProof, _ remote: Remote, _ turn: Turn
  ) throws(Breach) -> MembershipRequest? {
    switch finding {
    case .answer(let share, let confirmation):
      answerMade(share: share, confirmation: confirmation, of: proof)
    case .right: return confirmationChecked(isRight: true, of: proof, remote, turn)
    case .wrong: return confirmationChecked(isRight: false, of: proof, remote, turn)
    case .unfit: throw Breach("a share that is no point of P-256, or our own")
    case .failed(let words): endProof(Ending(.internalError, .us, words), remote, turn)
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
    case .wait(let left): Ending(.wrongCode, .us, CodePause(left).words)
    }
  }
}
