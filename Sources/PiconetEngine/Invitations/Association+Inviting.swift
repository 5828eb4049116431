import PiconetWire

/// Invitations of ours, from the association that an attempt has found to their answer.
extension Association {
  /// An attempt of ours goes on here.
  func invite(_ invitation: OutgoingInvitation, _ turn: Turn) -> MembershipRequest? {
    if isMember, invitation.code == nil, membershipNumber > invitation.formerMemberships {
      // Who has invited us while our own was on its way: both sides have what they wanted.
      invitation.succeed(node, turn)
      return nil
    }
    if let refusal = refusal(of: invitation, turn) {
      invitation.fail(refusal, to: node, turn)
      return nil
    }
    if let code = invitation.code {
      invite(invitation, by: code, turn)
      return nil
    }
    guard let incoming = invitations.incoming else {
      invitations.begin(invitation, .drawing(turn.drawNonce()))
      return nil
    }
    guard incoming.acceptance == nil else {
      // We have accepted, and only the inviter's person compares yet.
      invitation.fail(Ending(.inProgress, .us), to: node, turn)
      return nil
    }
    if invitations.isTry {
      // Its code is under way, and another invitation would have another one.
      invitations.begin(invitation, .answering)
      return answerByOwn(turn)
    }
    invitations.begin(invitation, .crossing(turn.drawNonce()))
    return nil
  }

  private func refusal(of invitation: OutgoingInvitation, _ turn: Turn) -> Ending? {
    if isMember { return Ending(.alreadyConnected, .us) }
    if leaving != nil || invitations.own != nil { return Ending(.inProgress, .us) }
    if judgement != .known, let blocked = turn.budgets.blocked(peer, turn.now) {
      return Ending(.limitExceeded, .us, blocked)
    }
    return nil
  }

  /// The driver has drawn the nonce of ours.
  /// - Parameter isFull: others became members while we dialled.
  func sendInvite(
    _ own: OutgoingInvitation, _ nonce: CodeNonce?, isFull: Bool, _ turn: Turn
  ) -> MembershipRequest? {
    let isCrossing = invitations.isCrossing
    let obstacle = nonce == nil ? Self.noRandomBytes : isFull ? configuration.full : tooManyUnanswered
    if isCrossing, obstacle != nil || invitations.isTry {
      // It answers without saying anything of its own.
      invitations.yield()
      return answerByOwn(turn)
    }
    guard let nonce, obstacle == nil else {
      failInvitation(obstacle ?? Self.noRandomBytes, turn)
      if isFull { idle(turn) }
      return nil
    }
    let terms: InvitationTerms = judgement == .ask ? .comparesCodes : []
    invitations.nonceDrawn(nonce)
    invitations.sent(terms)
    let invite = Invite(
      timeout: own.timeLeft(turn.now), terms: terms, commitment: nonce.commitment, context: own.context[...])
    send(.invite(invite), turn)
    turn.deliver(.invitationSent(own.command, peer))
    return isCrossing ? decideCrossing(turn) : nil
  }

  private var tooManyUnanswered: Ending? {
    let (count, limit) = (invitations.unansweredCount, WireLimits.unansweredInvitations)
    guard count >= limit else { return nil }
    return Ending(.limitExceeded, .us, "\(count) invitations to this peer have no answer; the limit is \(limit)")
  }

  // MARK: Answers

  func receivedAccept(_ turn: Turn) throws(Breach) -> MembershipRequest? {
    guard let sent = invitations.takeAnswered() else { throw Breach("accepts what was not asked") }
    let isCompared = sent.terms.contains(.comparesCodes)
    guard let command = sent.command else {
      // Where the codes are compared nobody takes itself for a member before we have confirmed.
      if isCompared { idle(turn) } else { acceptedWithdrawn(turn) }
      return nil
    }
    guard !isMember, leaving == nil else { return nil }
    let wanted = sent.code == nil ? OutgoingInvitation.Phase.invited : .proven
    guard let own = invitations.own, own.command == command, own.phase == wanted else {
      throw Breach("accepts an invitation that its own has replaced")
    }
    if isCompared {
      guard let exchange = invitations.exchange else {
        throw Breach("accepts without the code that has to be compared")
      }
      invitations.remoteIsDone()
      if !exchange.isConfirmed { return nil }
    }
    return .place(sent.code == nil ? .agreed : .agreedByCode)
  }

  /// The peer has accepted an invitation that we had withdrawn: it is a member in its own eyes and leaves when it sees
  /// that. Until then we leave as well, so that nothing new begins between two sides that differ about what they are.
  private func acceptedWithdrawn(_ turn: Turn) {
    guard !isMember, leaving == nil else { return }
    beginLeaving(Ending(.cancelled, .us), turn)
    let ending = Ending(.cancelled, .us, "our own invitation was withdrawn")
    endProof(ending, turn)
    guard let incoming = invitations.incoming else { return }
    if incoming.acceptance == nil { send(.decline(.left, detail: ""), turn) }
    closeInvitation(ending, turn)
  }

  func receivedDecline(_ ending: Ending, _ turn: Turn) throws(Breach) {
    guard let sent = invitations.takeAnswered() else { throw Breach("declines what was not asked") }
    guard let command = sent.command else { return }
    // The peer's own invitation counts in its place.
    if invitations.isAnswering, invitations.own?.command == command { return }
    endExchange(ending, turn)
    idle(turn)
    if invitations.own?.command == command { failInvitation(ending, turn) }
  }

  // MARK: Ends

  /// Ends ours before its answer: by the caller, by time, or because what it was the answer to is over.
  func withdrawInvitation(_ ending: Ending, _ turn: Turn) {
    guard let own = invitations.own else { return }
    let ending = ending.reason == .timedOut && invitations.isTry ? Self.brokenOff(ending) : ending
    // Where it was accepted and not compared yet, it has its answer.
    if invitations.withdraw(own.command) || (own.phase == .invited && own.code == nil) {
      send(.withdraw(ending.reason), turn)
    }
    if invitations.isAnswering || invitations.isCrossing { breakOff(ending, turn) } else { endExchange(ending, turn) }
    idle(turn)
    failInvitation(ending, turn)
  }

  /// The time of ours is up.
  func invitationTimedOut(_ own: OutgoingInvitation, _ turn: Turn) {
    let words = ConnectRace.describe(own.failures)
    withdrawInvitation(Ending(.timedOut, .peer, words, failures: own.failures), turn)
  }

  /// Ours is over; the peer knows, or was told.
  func failInvitation(_ ending: Ending, _ turn: Turn) { invitations.takeOwn()?.fail(ending, to: node, turn) }
}
