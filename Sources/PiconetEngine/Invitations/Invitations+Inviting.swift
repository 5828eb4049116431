import PiconetWire

/// Our own invitations, from the time an attempt has found an association until they are answered.
extension Invitations {
  /// Continues our attempt, which has found the association.
  mutating func invite(_ invitation: OutgoingInvitation, _ remote: Remote, _ turn: Turn) -> MembershipRequest? {
    if remote.isMember, invitation.code == nil, remote.membershipNumber > invitation.formerMemberships {
      // The peer invited us while our own invitation was on its way. Both sides have what they wanted.
      invitation.succeed(remote.node, turn)
      return nil
    }
    if let refusal = refusal(of: invitation, remote, turn) {
      invitation.fail(refusal, to: remote.node, turn)
      return nil
    }
    if let code = invitation.code {
      invite(invitation, by: code, remote, turn)
      return nil
    }
    guard let incoming = state.incoming else {
      state.begin(invitation, .drawing(turn.drawNonce()))
      return nil
    }
    if incoming.acceptance != nil {
      // We have accepted the peer's invitation and wait to be admitted. Our own invitation ends like that one.
      state.begin(invitation, .answering)
      return nil
    }
    if state.isTry {
      // The code of that invitation is under way, and another invitation would have another code.
      state.begin(invitation, .answering)
      return answerByOwn(remote, turn)
    }
    state.begin(invitation, .crossing(turn.drawNonce()))
    return nil
  }

  private func refusal(of invitation: OutgoingInvitation, _ remote: Remote, _ turn: Turn) -> Ending? {
    if remote.isMember { return Ending(.alreadyConnected, .us) }
    if remote.isLeaving || state.own != nil { return Ending(.inProgress, .us) }
    if remote.judgement != .known, let blocked = turn.budgets.blocked(remote.peer, turn.now) {
      return Ending(.limitExceeded, .us, blocked)
    }
    return nil
  }

  /// Sends our invitation, whose nonce the driver has drawn.
  /// - Parameter isFull: whether others became members while we dialled, so that there is no place.
  mutating func sendInvite(
    _ own: OutgoingInvitation, _ nonce: CodeNonce?, isFull: Bool, _ remote: Remote, _ turn: Turn
  ) -> MembershipRequest? {
    let isCrossing = state.isCrossing
    let obstacle = nonce == nil ? Self.noRandomBytes : isFull ? full(remote) : tooManyUnanswered
    if isCrossing, obstacle != nil || state.isTry {
      // Our invitation is only the answer to the peer's, and is not sent.
      state.yield(own)
      return answerByOwn(remote, turn)
    }
    guard let nonce, obstacle == nil else {
      failInvitation(obstacle ?? Self.noRandomBytes, remote, turn)
      if isFull { idle(turn.now) }
      return nil
    }
    let terms: InvitationTerms = remote.judgement == .ask ? .comparesCodes : []
    state.sent(own, terms, nonce: nonce)
    let invite = Invite(
      timeout: own.timeLeft(turn.now), terms: terms, commitment: nonce.commitment, context: own.context[...])
    send(.invite(invite))
    if !own.command.isOwn { turn.deliver(.invitationSent(own.command, remote.peer)) }
    return isCrossing ? decideCrossing(remote, turn) : nil
  }

  private var tooManyUnanswered: Ending? {
    let (count, limit) = (state.unansweredCount, WireLimits.unansweredInvitations)
    guard count >= limit else { return nil }
    return Ending(.limitExceeded, .us, "\(count) invitations to this peer have no answer; the limit is \(limit)")
  }

  // MARK: Answers

  mutating func receivedAccept(_ remote: Remote, _ turn: Turn) throws(Breach) -> MembershipRequest? {
    guard let sent = state.takeAnswered() else { throw Breach("accepts what was not asked") }
    let isCompared = sent.terms.contains(.comparesCodes)
    guard let command = sent.command else {
      // We have withdrawn it meanwhile, as the peer will see. The peer is not a member before we admit it.
      idle(turn.now)
      return nil
    }
    guard !remote.isMember, !remote.isLeaving else { return nil }
    let wanted = sent.code == nil ? OutgoingInvitation.Phase.invited : .proven
    guard let own = state.own, own.command == command, own.phase == wanted else {
      throw Breach("accepts an invitation that its own has replaced")
    }
    if state.hasCrossed { return .place(.admitted) }
    if isCompared {
      guard let exchange = state.exchange else {
        throw Breach("accepts without the code that has to be compared")
      }
      state.remoteIsDone(exchange)
      if !exchange.isConfirmed { return nil }
    }
    return .place(.accepted)
  }

  mutating func receivedDecline(_ ending: Ending, _ remote: Remote, _ turn: Turn) throws(Breach) {
    guard let sent = state.takeAnswered() else { throw Breach("declines what was not asked") }
    guard let command = sent.command else { return }
    // The peer's own invitation counts instead.
    if state.isAnswering, state.own?.command == command { return }
    endExchange(ending, remote, turn)
    idle(turn.now)
    if state.own?.command == command { failInvitation(ending, remote, turn) }
    // A peer that can't take our invitation withdraws its own too.
    if state.hasCrossed { closeInvitation(ending, remote, turn) }
  }

  // MARK: Endings

  /// Ends our invitation before it is answered. Either the caller wants it, its time is up, or the invitation that it
  /// answered is over.
  mutating func withdrawInvitation(_ ending: Ending, _ remote: Remote, _ turn: Turn) {
    guard let own = state.own else { return }
    // The peer's invitation, which the application has accepted, stands.
    if state.isBesideAcceptance { return failInvitation(ending, remote, turn) }
    let ending = ending.reason == .timedOut && state.isTry ? Self.brokenOff(ending) : ending
    // If our invitation was accepted and the peer is not admitted yet, our invitation has its answer. A crossed
    // invitation may have made the peer a member, so both leave.
    if state.withdraw(own.command) || own.phase == .invited || own.phase == .proven, !state.hasCrossed {
      send(.withdraw(ending.reason))
    }
    if state.isAnswering || state.isCrossing || state.hasCrossed {
      breakOff(ending, remote, turn)
    } else {
      endExchange(ending, remote, turn)
    }
    idle(turn.now)
    failInvitation(ending, remote, turn)
  }

  /// Ends our invitation, whose time is up.
  mutating func ownTimedOut(_ remote: Remote, _ turn: Turn) {
    guard let own = state.own else { return }
    let words = ConnectRace.describe(own.failures)
    withdrawInvitation(Ending(.timedOut, .peer, words, failures: own.failures), remote, turn)
  }

  /// Fails our invitation. The peer knows that it is over, or was told.
  mutating func failInvitation(_ ending: Ending, _ remote: Remote, _ turn: Turn) {
    state.takeOwn()?.fail(ending, to: remote.node, turn)
  }
}
