import PiconetWire

/// Invitations of ours with a code that a person has typed. The order on the wire is our share, the invited's share and
/// confirmation, our confirmation, and its `accept`; whoever is not the device that shows the code has one guess for
/// each.
extension SessionEngine {
  /// There is an association, and nobody is a member.
  mutating func proceedByCode(
    _ index: Int, _ code: TypedCodeID, _ association: Association, _ turn: Turn
  ) {
    let command = attempts[index].command
    guard association.capabilities.contains(.typedCodes) else {
      return fail(command, Ending(.notSupported, .peer, "it can't be invited by a code"), turn)
    }
    guard codesGiven.allows(code) else {
      let words = "the code was wrong at \(TypedCodeTries.perCode) attempts, and is tried no more"
      return fail(command, Ending(.wrongCode, .us, words), turn)
    }
    guard let link = association.activeLink else {
      return fail(command, Ending(.linkFailed, .link, "the peer can't be reached for the moment"), turn)
    }
    if association.proof != nil {
      // It proves our code just now: that invitation is the one that counts.
      attempts[index].phase = .answering
      return
    }
    if let invitation = association.invitation {
      guard invitation.acceptance == nil else { return fail(command, Ending(.inProgress, .us), turn) }
      breakOff(association, Ending(.codeNeeded, .us, "a code was typed for this peer"), turn)
    }
    let id = nextCodeID()
    attempts[index].phase = .sharing
    attempts[index].proof = id
    turn.add(.proveCode(id, .share(code, link.id)))
  }

  mutating func shareMade(_ share: [UInt8], _ index: Int, _ turn: Turn) {
    let attempt = attempts[index]
    guard attempt.phase == .sharing, let remote = attempt.node, let association = associations[remote] else { return }
    guard memberCount < configuration.capacity else {
      fail(attempt.command, Ending(.full, .us, "the session has \(configuration.capacity) members"), turn)
      idleFrom(remote, turn)
      return
    }
    attempts[index].phase = .invited
    association.unanswered.append(SentInvitation(command: attempt.command, terms: [], code: attempt.code))
    let left = max(0, (attempt.deadline - turn.now).wholeNanoseconds / 1_000_000)
    association.send(
      .inviteByCode(InviteByCode(timeout: UInt64(left), share: share, context: attempt.context[...])), turn)
    turn.deliver(.invitationSent(attempt.command, association.peer))
  }

  mutating func receivedCodeAnswer(_ answer: CodeAnswer, from association: Association, _ turn: Turn)
    throws(Breach)
  {
    guard let first = association.unanswered.first, first.code != nil, !first.hasNonce else {
      throw Breach("answers no invitation by code")
    }
    association.unanswered[0].hasNonce = true
    // Withdrawn: the far side will know when it has seen that.
    guard let command = first.command, association.leaving == nil else { return }
    guard let index = attempts.firstIndex(where: { $0.command == command && $0.phase == .invited }) else {
      throw Breach("answers an invitation that its own has replaced")
    }
    guard let proof = attempts[index].proof else { return }
    attempts[index].phase = .proving(left: answer.left)
    turn.add(.proveCode(proof, .check(share: answer.share, confirmation: answer.confirmation)))
  }

  /// The driver has checked the answer.
  /// - Parameter confirmation: nil: the far side has another code.
  mutating func answerChecked(
    _ confirmation: [UInt8]?, _ index: Int, _ turn: Turn
  ) {
    guard case .proving(let left) = attempts[index].phase, let code = attempts[index].code,
      let remote = attempts[index].node, let association = associations[remote]
    else { return }
    if let confirmation {
      attempts[index].phase = .proven
      association.send(.codeConfirm(confirmation), turn)
      return
    }
    codesGiven.wasWrong(code)
    let rest =
      switch left {
      case 0: "it was the last try: the other device needs another code"
      case 1: "one more try is left"
      default: "\(min(left, UInt64(TypedCodeTries.perCode))) more tries are left"
      }
    withdraw(
      attempts[index].command, Ending(.wrongCode, .peer, "it is not the other device's code; \(rest)"), turn)
  }
}
