import PiconetWire

/// Invitations from the peer, from their frame to our answer.
extension Invitations {
  /// Makes the checks that both kinds of invitation must pass before a place is requested.
  /// - Returns: false if the invitation was declined.
  mutating func admits(_ remote: Remote) throws(Breach) -> Bool {
    // The peer may not know yet that it is a member, or that we are leaving.
    guard !remote.isLeaving else {
      send(.decline(.left, detail: ""))
      return false
    }
    guard !remote.isMember, state.incoming == nil, state.proof == nil else {
      throw Breach("an invitation beside another, or from a member")
    }
    state.forgetFormer()
    return true
  }

  /// Declines an invitation before it is opened.
  mutating func decline(_ ending: Ending, _ now: Instant) {
    send(.decline(ending.reason, detail: ending.detail))
    idle(now)
  }

  mutating func received(_ invite: Invite, _ remote: Remote, _ turn: Turn) throws(Breach) -> MembershipRequest? {
    // Nothing can replace a proof. But a peer that we invite without a code is not asked for one: it takes our
    // invitation for accepted, and would wait for nothing.
    if let own = state.own, own.code == nil { return try crossed(own, invite, remote, turn) }
    if needsCode(remote, turn) || state.own != nil {
      decline(Ending(.codeNeeded, .us), turn.now)
      return nil
    }
    let time = Duration.milliseconds(Int64(clamping: min(invite.timeout, 86_400_000)))
    let expires = turn.now + min(time, IncomingInvitation.longestTime)
    // An invitation that waits for the answer to an introduction is not a question, and takes no stranger's place.
    let isKnown = remote.judgement == .known || remote.isIntroduced
    let compares = comparesCodes(remote, invite.terms)
    switch turn.budgets.ask(
      remote.node, at: remote.peer.traits.remoteHost, isKnown: isKnown, comparesCodes: compares, until: expires,
      turn.now)
    {
    case .taken:
      open(invite, until: expires)
      return .question(insteadOf: nil)
    case .instead(let other):
      open(invite, until: expires)
      return .question(insteadOf: other)
    case .refused(let words):
      decline(Ending(.limitExceeded, .us, words), turn.now)
      return nil
    }
  }

  /// Returns whether the peer has to prove the code that is set. A stranger can't invite us in any other way.
  private func needsCode(_ remote: Remote, _ turn: Turn) -> Bool {
    turn.budgets.isCodeSet && remote.judgement != .known && !remote.isIntroduced
  }

  private mutating func open(_ invite: Invite, until expires: Instant) {
    state.begin(IncomingInvitation(invite, expires: expires))
  }

  /// Handles invitations that both sides have sent at once. If no code has to be compared, each side takes the other's
  /// invitation as the answer to its own. If one has to be, the smaller node's invitation counts. The other one is its
  /// acceptance, once the code has been compared.
  private mutating func crossed(
    _ own: OutgoingInvitation, _ invite: Invite, _ remote: Remote, _ turn: Turn
  ) throws(Breach) -> MembershipRequest? {
    if own.phase == .invited, state.exchange != nil || state.lastSent?.command != own.command {
      throw Breach("an invitation beside the one that it has begun to answer")
    }
    open(invite, until: turn.now + IncomingInvitation.longestTime)
    switch own.phase {
    case .drawing(let id):
      // The peer should get the context of our invitation too.
      state.cross(own, drawing: id)
      return nil
    case .invited: return decideCrossing(remote, turn)
    case .crossing, .sharing, .proving, .proven, .answering:
      state.yield(own)
      return answerByOwn(remote, turn)
    }
  }

  /// Withdraws our crossing invitation when the peer's is declined because the session is full. The peer may take our
  /// invitation for accepted, so it ends too. If codes are compared, only the smaller node's invitation counts, and a
  /// place is requested again when that one is accepted.
  mutating func withdrawCrossedByFull(_ invite: Invite, _ remote: Remote, _ turn: Turn) {
    guard let own = state.own, own.phase == .invited, own.code == nil, let sent = state.lastSent else { return }
    if sent.terms.union(invite.terms).contains(.comparesCodes), turn.node < remote.node { return }
    withdrawInvitation(full(remote), remote, turn)
  }

  /// Decides which of two crossing invitations counts, once both are sent.
  mutating func decideCrossing(_ remote: Remote, _ turn: Turn) -> MembershipRequest? {
    guard let own = state.own, let incoming = state.incoming, let sent = state.lastSent else { return nil }
    if !sent.terms.union(incoming.terms).contains(.comparesCodes) { return .place(.accepting(.crossing)) }
    if turn.node < remote.node {
      send(.decline(.inProgress, detail: ""))
      state.crossed(own, incoming.context)
      closeInvitation(Ending(.inProgress, .us, "our own invitation is the one that counts"), remote, turn)
      return nil
    }
    state.yield(own)
    return answerByOwn(remote, turn)
  }

  /// Takes our invitation as the acceptance of the peer's invitation, which has come.
  mutating func answerByOwn(_ remote: Remote, _ turn: Turn) -> MembershipRequest? {
    guard comparesCodes(remote) else { return .place(.accepting(.ownInvitation)) }
    if let exchange = state.exchange, exchange.code != nil { return showToInviting(exchange, remote, turn) }
    if state.exchange == nil { beginExchange(showing: [], remote, turn) }
    return nil
  }

  /// Returns whether a person compares the code of the peer's invitation, here or there.
  private func comparesCodes(_ remote: Remote) -> Bool {
    comparesCodes(remote, state.incoming?.terms ?? [])
  }

  private func comparesCodes(_ remote: Remote, _ terms: InvitationTerms) -> Bool {
    remote.judgement == .ask || terms.contains(.comparesCodes)
  }

  // MARK: The application

  /// Tells the application of the peer's invitation.
  mutating func ask(_ remote: Remote, _ turn: Turn) {
    guard let incoming = state.incoming else { return }
    if remote.isIntroduced { return state.held(incoming) }
    state.delivered(incoming)
    turn.deliver(
      .invitationReceived(
        remote.peer, context: incoming.context, expires: incoming.expires, comparesCodes: comparesCodes(remote)))
  }

  /// Handles the end of the inviter's introduction. An invitation that has waited for it is now like any other. If the
  /// end of the introduction counted as its answer, members could break off each other's questions.
  mutating func introductionEnded(_ remote: Remote, _ turn: Turn) -> MembershipRequest? {
    guard let incoming = state.incoming, incoming.isHeld, incoming.acceptance == nil else { return nil }
    turn.budgets.removeQuestion(of: remote.node)
    if needsCode(remote, turn) {
      breakOff(Ending(.codeNeeded, .us), remote, turn)
      return nil
    }
    state.released(incoming)
    switch turn.budgets.ask(
      remote.node, at: remote.peer.traits.remoteHost, isKnown: remote.judgement == .known,
      comparesCodes: comparesCodes(remote, incoming.terms), until: incoming.expires, turn.now)
    {
    case .taken: return .question(insteadOf: nil)
    case .instead(let other): return .question(insteadOf: other)
    case .refused(let words):
      breakOff(Ending(.limitExceeded, .us, words), remote, turn)
      return nil
    }
  }

  /// The invitation that the application may answer; nil if there is no such invitation.
  var openInvitation: IncomingInvitation? {
    guard let incoming = state.incoming, incoming.acceptance == nil, incoming.isDelivered else { return nil }
    return incoming
  }

  mutating func accept(_ command: CommandID, _ remote: Remote, _ turn: Turn) -> MembershipRequest? {
    guard openInvitation != nil else {
      if !state.alsoAccepted(by: command) { turn.reply(command, .failed(Self.noInvitation)) }
      return nil
    }
    guard !comparesCodes(remote) || state.exchange?.code != nil else {
      // The invitation stands, and can be accepted once the code has been shown.
      turn.reply(command, .failed(Ending(.identity, .us, "the code has to be shown and compared first")))
      return nil
    }
    return .place(.accepting(.command(command)))
  }

  /// Withdraws our acceptance. The inviter may have admitted us already, so it is told that we leave.
  mutating func cancelAcceptance(_ remote: Remote, _ turn: Turn) {
    let ending = Ending(.cancelled, .us)
    if state.isBesideAcceptance { failInvitation(ending, remote, turn) }
    breakOff(ending, remote, turn)
  }

  mutating func decline(_ command: CommandID, _ reason: Reason, _ remote: Remote, _ turn: Turn) {
    guard openInvitation != nil else { return turn.reply(command, .failed(Self.noInvitation)) }
    let ending = Ending(reason, .us)
    if !declineOpen(ending, remote, turn), remote.judgement == .ask, reason != .cancelled {
      turn.budgets.refused(remote.peer, turn.now)
    }
    idle(turn.now)
    turn.reply(command, .done)
    turn.tell(turn.conditions.invitationEnded(remote.node, ending))
    if state.isAnswering { withdrawInvitation(ending, remote, turn) }
  }

  /// Declines an invitation that the application has accepted, since there is no place.
  mutating func declineFull(_ command: CommandID, _ remote: Remote, _ turn: Turn) {
    let full = full(remote)
    _ = declineOpen(full, remote, turn)
    idle(turn.now)
    turn.reply(command, .failed(full))
    turn.tell(turn.conditions.invitationEnded(remote.node, full))
    if state.isAnswering { withdrawInvitation(full, remote, turn) }
  }

  /// - Returns: whether this was a try of the code.
  private mutating func declineOpen(_ ending: Ending, _ remote: Remote, _ turn: Turn) -> Bool {
    send(.decline(ending.reason, detail: ending.detail))
    _ = state.takeIncoming()
    turn.budgets.removeQuestion(of: remote.node)
    return endExchange(ending, remote, turn)
  }

  static let noInvitation = Ending(.noSuchAssociation, .us, "no invitation of this peer waits for an answer")

  /// Takes the inviter's admission. The inviter has a place for us, and the person there, if one compares codes, has
  /// seen the same code.
  mutating func receivedAdmission(_ remote: Remote) throws(Breach) -> MembershipRequest? {
    // We may be leaving because the attempt broke off.
    guard try state.takeAdmission(), !remote.isLeaving else { return nil }
    return .place(.admitted)
  }

  // MARK: Endings

  mutating func receivedWithdraw(_ reason: Reason, _ remote: Remote, _ turn: Turn) {
    state.withdrawn()
    if state.proof != nil {
      let words = reason == .wrongCode ? "another code was typed there" : "the attempt broke off: \(reason)"
      endProof(Ending(.wrongCode, .peer, words), remote, turn)
    } else if let incoming = state.incoming {
      withdrawn(incoming, ended(byPeer: reason, "", remote), remote, turn)
    }
  }

  private mutating func withdrawn(_ incoming: IncomingInvitation, _ ending: Ending, _ remote: Remote, _ turn: Turn) {
    // Every invitation gets exactly one answer. Otherwise the two sides would count differently.
    if incoming.acceptance == nil { send(.decline(.cancelled, detail: "")) }
    let wasTry = state.isTry
    let ending = wasTry ? Self.brokenOff(ending) : ending
    if !wasTry, incoming.isDelivered, remote.judgement == .ask { turn.budgets.refused(remote.peer, turn.now) }
    guard state.isAnswering else { return closeInvitation(ending, remote, turn) }
    // Our invitation stands if the peer had withdrawn its own before it saw ours.
    let stands = state.standsAlone()
    closeInvitation(ending, remote, turn)
    if !stands { failInvitation(ending, remote, turn) }
  }

  /// Ends the peer's invitation from this side, before or after our `accept`.
  mutating func breakOff(_ ending: Ending, _ remote: Remote, _ turn: Turn) {
    guard let incoming = state.incoming else { return }
    if incoming.acceptance == nil {
      send(.decline(ending.reason, detail: ending.detail.prefix(utf8: WireLimits.detail)))
    } else {
      // The inviter may have admitted us, and take us for a member. If an introduction was withdrawn for a removal,
      // that removal is not ours: the inviter learns of it from the node that has removed it.
      leave(Ending(ending.reason == .removed ? .cancelled : ending.reason, .us))
    }
    closeInvitation(ending, remote, turn)
  }

  /// Ends the peer's invitation without membership. The peer knows that, or was told.
  mutating func closeInvitation(_ ending: Ending, _ remote: Remote, _ turn: Turn) {
    guard let incoming = state.takeIncoming() else { return }
    turn.budgets.removeQuestion(of: remote.node)
    endExchange(ending, remote, turn)
    idle(turn.now)
    tellEnd(of: incoming, ending, remote, turn)
  }

  /// Tells the application of an invitation that is over.
  func tellEnd(of incoming: IncomingInvitation, _ ending: Ending, _ remote: Remote, _ turn: Turn) {
    if incoming.isDelivered { turn.deliver(.invitationEnded(remote.node, ending)) }
    if incoming.isProven { turn.tell(turn.conditions.invitationEnded(remote.node, ending)) }
    if let command = incoming.command { turn.reply(command, .failed(ending)) }
  }

  // MARK: Deadlines

  /// Returns when the time of the peer's invitation, or of its reveal, is up.
  func incomingDeadline(_ remote: NodeID, _ budgets: InvitationBudgets) -> Instant? {
    guard let incoming = state.incoming else { return nil }
    let ends = timeEnds(of: incoming, remote, budgets)
    guard let revealEnds = state.exchange?.revealEnds else { return ends }
    return min(ends, revealEnds)
  }

  /// Returns when the invitation's time is up. After our `accept` we wait a little longer than the inviter if a person
  /// may still be comparing.
  private func timeEnds(
    of incoming: IncomingInvitation, _ remote: NodeID, _ budgets: InvitationBudgets
  ) -> Instant {
    if incoming.acceptance != nil { return incoming.expires + leaveTimeout }
    return budgets.questionEnds(of: remote).map { min($0, incoming.expires) } ?? incoming.expires
  }

  mutating func incomingTimedOut(_ remote: Remote, _ turn: Turn) {
    guard let incoming = state.incoming else { return }
    let ending = endingInTime(turn.now)
    if state.isBesideAcceptance { failInvitation(ending, remote, turn) }
    if state.isAnswering { return withdrawInvitation(ending, remote, turn) }
    if !state.isTry, incoming.isDelivered, remote.judgement == .ask { turn.budgets.refused(remote.peer, turn.now) }
    breakOff(ending, remote, turn)
  }

  private func endingInTime(_ now: Instant) -> Ending {
    if let until = state.exchange?.revealEnds, until <= now {
      let time = CodeExchange.revealTime.inWords
      let words = "the attempt broke off: the inviter did not reveal its part of the code within \(time)"
      return Ending(.codeMismatch, .peer, words)
    }
    return Ending(.timedOut, .us, "nobody answered in time")
  }
}
