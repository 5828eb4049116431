import PiconetWire

/// Invitations of the peer, from their frame to our answer.
extension Association {
  /// What both kinds of invitation have to pass first, before it is asked whether there is a place.
  /// - Returns: false where it has been declined.
  func admitsInvitation(_ turn: Turn) throws(Breach) -> Bool {
    // The peer may not know yet that it is a member, or that we leave.
    guard leaving == nil else {
      send(.decline(.left, detail: ""), turn)
      return false
    }
    guard !isMember, invitations.incoming == nil, invitations.proof == nil else {
      throw Breach("an invitation beside another, or from a member")
    }
    invitations.forgetFormer()
    return true
  }

  /// An invitation that is not opened.
  func declineInvitation(_ ending: Ending, _ turn: Turn) {
    send(.decline(ending.reason, detail: ending.detail), turn)
    idle(turn)
  }

  func received(_ invite: Invite, _ turn: Turn) throws(Breach) -> MembershipRequest? {
    let own = invitations.own
    if needsCode(turn) || own?.code != nil {
      // Without a proof nothing stands for one: neither an invitation of ours nor theirs.
      declineInvitation(Ending(.codeNeeded, .us), turn)
      return nil
    }
    if let own { return try crossed(own, invite, turn) }
    let time = Duration.milliseconds(Int64(clamping: min(invite.timeout, 86_400_000)))
    let expires = turn.now + min(time, IncomingInvitation.longestTime)
    let isKnown = judgement == .known
    switch turn.budgets.ask(node, at: peer.traits.remoteHost, isKnown: isKnown, until: expires, turn.now) {
    case .taken:
      open(invite, until: expires, turn)
      return .question(insteadOf: nil)
    case .instead(let other):
      open(invite, until: expires, turn)
      return .question(insteadOf: other)
    case .refused(let words):
      declineInvitation(Ending(.limitExceeded, .us, words), turn)
      return nil
    }
  }

  /// Strangers have to prove the code that is set, and can't invite otherwise.
  private func needsCode(_ turn: Turn) -> Bool { turn.budgets.isCodeSet && judgement != .known }

  private func open(_ invite: Invite, until expires: Instant, _ turn: Turn) {
    invitations.begin(IncomingInvitation(invite, expires: expires))
  }

  /// Both invite at once. Where no code has to be compared, each takes the other's invitation as the answer to its own.
  /// Otherwise that of the smaller node counts, and the other one is its acceptance, once the code was compared.
  private func crossed(
    _ own: OutgoingInvitation, _ invite: Invite, _ turn: Turn
  ) throws(Breach) -> MembershipRequest? {
    if own.phase == .invited, invitations.exchange != nil || invitations.lastSent?.command != own.command {
      throw Breach("an invitation beside the one that it has begun to answer")
    }
    open(invite, until: turn.now + IncomingInvitation.longestTime, turn)
    switch own.phase {
    case .drawing:
      // The peer is to see what ours says, too.
      invitations.cross()
      return nil
    case .invited: return decideCrossing(turn)
    case .crossing, .sharing, .proving, .proven, .answering:
      invitations.yield()
      return answerByOwn(turn)
    }
  }

  /// Both sides' invitations are sent.
  func decideCrossing(_ turn: Turn) -> MembershipRequest? {
    guard let incoming = invitations.incoming, let sent = invitations.lastSent else { return nil }
    if !sent.terms.union(incoming.terms).contains(.comparesCodes) { return .place(.crossing) }
    if turn.node < node {
      send(.decline(.inProgress, detail: ""), turn)
      invitations.crossed(incoming.context)
      closeInvitation(Ending(.inProgress, .us, "our own invitation is the one that counts"), turn)
      return nil
    }
    invitations.yield()
    return answerByOwn(turn)
  }

  /// Ours is the acceptance of the peer's, which is here.
  func answerByOwn(_ turn: Turn) -> MembershipRequest? {
    guard comparesCodes else { return .place(.accepting(nil)) }
    if let code = invitations.exchange?.code { return showToInviting(code, turn) }
    if invitations.exchange == nil { beginExchange(showing: [], turn) }
    return nil
  }

  /// A person compares the code of the peer's invitation, here or there.
  var comparesCodes: Bool { judgement == .ask || invitations.incoming?.terms.contains(.comparesCodes) == true }

  // MARK: The application

  /// It is told of the peer's invitation.
  func ask(_ turn: Turn) {
    guard let incoming = invitations.incoming else { return }
    invitations.delivered()
    turn.deliver(
      .invitationReceived(
        peer, context: incoming.context, expires: incoming.expires, comparesCodes: comparesCodes))
  }

  /// The invitation that the application may answer.
  var openInvitation: IncomingInvitation? {
    guard let incoming = invitations.incoming, incoming.acceptance == nil, incoming.isDelivered else { return nil }
    return incoming
  }

  func accept(_ command: CommandID, _ turn: Turn) -> MembershipRequest? {
    guard openInvitation != nil else {
      turn.reply(command, .failed(Self.noInvitation))
      return nil
    }
    guard !comparesCodes || invitations.exchange?.code != nil else {
      // It stands, and can be accepted once the code was shown.
      turn.reply(command, .failed(Ending(.identity, .us, "the code has to be shown and compared first")))
      return nil
    }
    return .place(.accepting(command))
  }

  func decline(_ command: CommandID, _ reason: Reason, _ turn: Turn) {
    guard openInvitation != nil else { return turn.reply(command, .failed(Self.noInvitation)) }
    let ending = Ending(reason, .us)
    if !declineOpen(ending, turn), judgement == .ask, reason != .cancelled {
      turn.budgets.refused(peer, turn.now)
    }
    idle(turn)
    turn.reply(command, .done)
    turn.tell(turn.conditions.invitationEnded(node, ending))
    if invitations.isAnswering { withdrawInvitation(ending, turn) }
  }

  /// The application would accept, and there is no place.
  func declineFull(_ command: CommandID, _ turn: Turn) {
    let full = configuration.full
    _ = declineOpen(full, turn)
    idle(turn)
    turn.reply(command, .failed(full))
    turn.tell(turn.conditions.invitationEnded(node, full))
  }

  /// - Returns: whether that was a try of the code.
  private func declineOpen(_ ending: Ending, _ turn: Turn) -> Bool {
    send(.decline(ending.reason, detail: ending.detail), turn)
    _ = invitations.takeIncoming()
    turn.budgets.removeQuestion(of: node)
    return endExchange(ending, turn)
  }

  static let noInvitation = Ending(.noSuchAssociation, .us, "no invitation of this peer waits for an answer")

  /// Our `accept` is on its way: we are members, unless the inviter's person compares yet.
  func accepted(by command: CommandID?, _ turn: Turn) {
    guard let incoming = invitations.incoming else { return }
    invitations.accepted(by: command)
    // It is not before the application any more.
    turn.budgets.removeQuestion(of: node)
    if !incoming.terms.contains(.comparesCodes) || invitations.exchange?.isRemoteDone == true { becomeMember(turn) }
  }

  // MARK: Ends

  func receivedWithdraw(_ reason: Reason, _ turn: Turn) {
    invitations.withdrawn()
    if invitations.proof != nil {
      let words = reason == .wrongCode ? "another code was typed there" : "the attempt broke off: \(reason)"
      endProof(Ending(.wrongCode, .peer, words), turn)
    } else if let incoming = invitations.incoming {
      withdrawn(incoming, Ending(reason, .peer), turn)
    } else if isMember, leaving == nil {
      // We had accepted before we knew. Leaving makes both sides agree whatever crossed on the way.
      beginLeaving(Ending(.cancelled, .peer), turn)
    }
  }

  private func withdrawn(_ incoming: IncomingInvitation, _ ending: Ending, _ turn: Turn) {
    // Every invitation gets exactly one answer, or the two sides would count differently.
    if incoming.acceptance == nil { send(.decline(.cancelled, detail: ""), turn) }
    let wasTry = invitations.isTry
    let ending = wasTry ? Self.brokenOff(ending) : ending
    if !wasTry, incoming.isDelivered, judgement == .ask { turn.budgets.refused(peer, turn.now) }
    guard invitations.isAnswering else { return closeInvitation(ending, turn) }
    // Ours stands if the peer had withdrawn its own before it saw ours.
    let stands = invitations.standsAlone()
    closeInvitation(ending, turn)
    if !stands { failInvitation(ending, turn) }
  }

  /// Ends the peer's invitation from this side, before or behind our `accept`.
  func breakOff(_ ending: Ending, _ turn: Turn) {
    guard let incoming = invitations.incoming else { return }
    if incoming.acceptance == nil {
      send(.decline(ending.reason, detail: ending.detail.prefix(utf8: WireLimits.detail)), turn)
    } else {
      // The inviter may have confirmed, and take us for a member.
      beginLeaving(Ending(ending.reason, .us), turn)
    }
    closeInvitation(ending, turn)
  }

  /// The peer's invitation is over without membership; the peer knows, or was told.
  func closeInvitation(_ ending: Ending, _ turn: Turn) {
    guard let incoming = invitations.takeIncoming() else { return }
    turn.budgets.removeQuestion(of: node)
    endExchange(ending, turn)
    idle(turn)
    tellEnd(of: incoming, ending, turn)
  }

  /// Tells the application of an invitation that is over.
  func tellEnd(of incoming: IncomingInvitation, _ ending: Ending, _ turn: Turn) {
    if incoming.isDelivered { turn.deliver(.invitationEnded(node, ending)) }
    if let command = incoming.acceptance?.command { turn.reply(command, .failed(ending)) }
  }

  // MARK: Time

  /// When the peer's invitation is over, or its reveal overdue.
  func incomingDeadline(_ budgets: InvitationBudgets) -> Instant? {
    guard let incoming = invitations.incoming else { return nil }
    let ends = timeEnds(of: incoming, budgets)
    guard let revealEnds = invitations.exchange?.revealEnds else { return ends }
    return min(ends, revealEnds)
  }

  /// Whoever has accepted waits a little longer than the inviter, who compares yet.
  private func timeEnds(of incoming: IncomingInvitation, _ budgets: InvitationBudgets) -> Instant {
    if incoming.acceptance != nil { return incoming.expires + configuration.leaveTimeout }
    return budgets.questionEnds(of: node).map { min($0, incoming.expires) } ?? incoming.expires
  }

  /// - Returns: true if the invitation is over.
  func incomingDeadlineReached(_ turn: Turn) -> Bool {
    guard let incoming = invitations.incoming, let ending = endingInTime(of: incoming, turn) else { return false }
    if invitations.isAnswering {
      withdrawInvitation(ending, turn)
      return true
    }
    if !invitations.isTry, incoming.isDelivered, judgement == .ask { turn.budgets.refused(peer, turn.now) }
    breakOff(ending, turn)
    return true
  }

  private func endingInTime(of incoming: IncomingInvitation, _ turn: Turn) -> Ending? {
    if let until = invitations.exchange?.revealEnds, until <= turn.now {
      let time = CodeExchange.revealTime.inWords
      let words = "the attempt broke off: the inviter did not reveal its part of the code within \(time)"
      return Ending(.codeMismatch, .peer, words)
    }
    return timeEnds(of: incoming, turn.budgets) <= turn.now ? Ending(.timedOut, .us, "nobody answered in time") : nil
  }
}
