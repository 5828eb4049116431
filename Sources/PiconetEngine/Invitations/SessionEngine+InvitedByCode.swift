import PiconetWire

/// Invitations of others who have typed the code that is set here. A try is counted before anything is answered by
/// which the inviter could see whether it was right, and is given back for a right code alone.
extension SessionEngine {
  mutating func setCode(_ id: CommandID, _ code: TypedCodeID?, _ turn: Turn) {
    codeTries.set(code)
    turn.reply(id, .done)
  }

  /// Whether a stranger has to prove the code, and can't invite otherwise.
  func needsCode(_ association: Association) -> Bool {
    codeTries.isSet && association.judgement != .known
  }

  mutating func receivedInviteByCode(
    _ invite: InviteByCode, from association: Association, on link: Link, _ turn: Turn
  ) throws(Breach) {
    let remote = association.node
    guard association.leaving == nil else {
      association.send(.decline(.left, detail: ""), turn)
      return
    }
    guard !association.isMember, association.invitation == nil, association.proof == nil else {
      throw Breach("an invitation beside another, or from a member")
    }
    association.isRevealDue = false
    association.isConfirmationDue = false
    association.isCodeConfirmDue = false
    if let refusal = refusalOfCode(association, turn.now) {
      association.send(.decline(refusal.reason, detail: refusal.detail), turn)
      idleFrom(remote, turn)
      return
    }
    if let index = attempts.firstIndex(where: { $0.node == remote && $0.isWithPeer }) {
      guard association.exchange == nil, !attempts[index].isProving, attempts[index].phase != .proven else {
        throw Breach("an invitation beside the one that it has begun to answer")
      }
      if attempts[index].phase == .invited, attempts[index].code != nil, node < remote {
        // Of two that prove codes to each other the smaller node's counts.
        association.send(.decline(.inProgress, detail: ""), turn)
        return
      }
    }
    let begun: TypedCodeTries.Try
    switch codeTries.begin(remote.peer, at: association.peer.traits.remoteHost, turn.now) {
    case .success(let one): begun = one
    case .failure(let refusal):
      let ending = refusal.ending
      association.send(.decline(ending.reason, detail: ending.detail), turn)
      idleFrom(remote, turn)
      return
    }
    if let index = attempts.firstIndex(where: { $0.node == remote && $0.isWithPeer }) {
      attempts[index].phase = .answering
    }
    let proof = CodeProof(id: nextCodeID(), one: begun, until: turn.now + CodeProof.time)
    association.proof = proof
    turn.tell(turn.conditions.proofBegan(remote, name: association.peer.name))
    turn.add(.proveCode(proof.id, .answer(begun.code, link.id, share: invite.share)))
  }

  private func refusalOfCode(_ association: Association, _ now: Instant) -> Ending? {
    if !hasRoomForMember(association.node, now) {
      return Ending(.full, .us, "the session has \(configuration.capacity) members")
    }
    guard association.judgement != .known,
      let blocked = tries.blocked(association.node.peer, at: association.peer.traits.remoteHost, now)
    else { return nil }
    return Ending(.limitExceeded, .us, blocked.words)
  }

  mutating func answerMade(
    share: [UInt8], confirmation: [UInt8], on association: Association, _ turn: Turn
  ) {
    guard let proof = association.proof, proof.phase == .answering else { return }
    association.proof?.phase = .awaitingConfirmation
    association.isCodeConfirmDue = true
    association.send(
      .codeAnswer(CodeAnswer(share: share, confirmation: confirmation, left: UInt64(proof.one.left))), turn)
  }

  mutating func receivedCodeConfirm(_ confirmation: [UInt8], from association: Association, _ turn: Turn)
    throws(Breach)
  {
    guard association.isCodeConfirmDue else {
      throw Breach("confirms a code that was not asked for")
    }
    association.isCodeConfirmDue = false
    // It may come too late.
    guard association.leaving == nil, association.proof?.phase == .awaitingConfirmation else { return }
    guard let proof = association.proof else { return }
    association.proof?.phase = .checking
    turn.add(.proveCode(proof.id, .confirm(confirmation)))
  }

  mutating func confirmationChecked(
    isRight: Bool, on association: Association, _ turn: Turn
  ) {
    guard let proof = association.proof, proof.phase == .checking else { return }
    let remote = association.node
    guard isRight else {
      endProof(of: association, Ending(.wrongCode, .peer, "another code was typed there"), turn)
      return
    }
    codeTries.wasRight(proof.one)
    association.proof = nil
    turn.add(.proveCode(proof.id, .end))
    tries.matched(remote.peer)
    guard makeRoomForMember(remote, turn) else {
      let full = Ending(.full, .us, "the session has \(configuration.capacity) members")
      association.send(.decline(.full, detail: full.detail), turn)
      turn.tell(turn.conditions.invitationEnded(remote, full))
      attemptLostProof(of: association, full, turn)
      idleFrom(remote, turn)
      return
    }
    association.peer.isProven = true
    association.send(.accept, turn)
    becomeMember(remote, turn)
  }

  /// The inviter was wrong, broke off or is too late: the try stays counted, and the invitation is over.
  /// - Parameter isAnswered: the inviter is told by a `decline`; false where nothing reaches it any more.
  mutating func endProof(
    of association: Association, _ ending: Ending, isAnswered: Bool = true, _ turn: Turn
  ) {
    guard let proof = association.proof else { return }
    association.proof = nil
    turn.add(.proveCode(proof.id, .end))
    let isOver = codeTries.wasWrong(proof.one, turn.now)
    if isAnswered {
      association.send(.decline(ending.reason, detail: ending.detail.prefix(utf8: WireLimits.detail)), turn)
    }
    turn.deliver(
      .codeFailed(association.peer, proof.one.code, left: isOver ? 0 : codeTries.left, ending))
    attemptLostProof(of: association, ending, turn)
    idleFrom(association.node, turn)
  }

  /// An invitation of ours waited for what comes of the far side's. It stands if the far side may yet answer it.
  private mutating func attemptLostProof(
    of association: Association, _ ending: Ending, _ turn: Turn
  ) {
    guard let index = attempts.firstIndex(where: { $0.node == association.node && $0.phase == .answering })
    else { return }
    let command = attempts[index].command
    if association.unanswered.contains(where: { $0.command == command }) {
      attempts[index].phase = .invited
    } else {
      fail(command, ending, turn)
    }
  }

  /// The link is gone to which the proofs on it are bound, in both directions.
  mutating func proofsLostLink(_ association: Association, _ turn: Turn) {
    let ending = Ending(.wrongCode, .link, "the attempt broke off: the connection was lost")
    endProof(of: association, ending, turn)
    let command = attempts.first { $0.node == association.node && $0.provesOnLink }?.command
    if let command { withdraw(command, ending, turn) }
  }

  // MARK: Both sides

  /// What the driver has found by a step of a proof; one that is over finds nothing more.
  mutating func codeProven(
    _ id: CodeID, _ finding: TypedCodeFinding, _ turn: Turn
  ) {
    if let index = attempts.firstIndex(where: { $0.proof == id && $0.provesOnLink }) {
      switch finding {
      case .share(let share): shareMade(share, index, turn)
      case .confirmed(let confirmation): answerChecked(confirmation, index, turn)
      case .wrong, .unfit: answerChecked(nil, index, turn)
      case .failed(let words): withdraw(attempts[index].command, Ending(.internalError, .us, words), turn)
      case .answer, .right: break
      }
    } else if let association = associations.values.first(where: { $0.proof?.id == id }) {
      switch finding {
      case .answer(let share, let confirmation):
        answerMade(share: share, confirmation: confirmation, on: association, turn)
      case .right: confirmationChecked(isRight: true, on: association, turn)
      case .wrong: confirmationChecked(isRight: false, on: association, turn)
      case .unfit:
        let rule = "a share that is no point of P-256, or our own"
        if let link = association.link { breach(link, .protocolBroken, rule, turn) }
      case .failed(let words): endProof(of: association, Ending(.internalError, .us, words), turn)
      case .share, .confirmed: break
      }
    }
  }

  mutating func nextCodeID() -> CodeID {
    defer { nextCode += 1 }
    return CodeID(rawValue: nextCode)
  }
}

extension InvitationAttempt {
  /// The invited's answer is here, and the driver checks it.
  var isProving: Bool { if case .proving = phase { true } else { false } }

  /// What is under way is bound to the link.
  var provesOnLink: Bool {
    guard code != nil else { return false }
    return switch phase {
    case .sharing, .invited, .proving, .proven: true
    case .dialling, .linking, .drawing, .answering: false
    }
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
