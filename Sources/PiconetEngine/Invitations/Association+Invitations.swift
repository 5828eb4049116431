import PiconetWire

/// Frames about invitations, and what both sides' have in common: membership, and every end without it.
extension Association {
  func receiveAboutInvitation(_ frame: Frame, _ turn: Turn) throws(Breach) -> MembershipRequest? {
    switch frame {
    case .invite(let invite): return try received(invite, turn)
    case .inviteByCode(let invite): try received(invite, turn)
    case .withdraw(let reason): receivedWithdraw(reason, turn)
    case .codeReveal(let nonce): try receivedReveal(nonce, turn)
    case .codeConfirmed: return try receivedConfirmation(turn)
    case .codeConfirm(let confirmation): try receivedProof(confirmation, turn)

    case .accept: return try receivedAccept(turn)
    case .decline(let reason, let detail): try receivedDecline(Ending(reason, .peer, detail), turn)
    case .codeNonce(let nonce): try receivedNonce(nonce, turn)
    case .codeAnswer(let answer): try received(answer, turn)

    case .message, .fragment, .unreliableMessage, .messageCredit, .acknowledge, .leave, .removeMember, .removed,
      .offer, .acceptOffer, .declineOffer, .chunk, .position, .transferCredit, .end, .stored, .present, .restart,
      .comparing, .abandon, .refuse, .senderPaused, .receiverPaused, .openStream, .streamData, .endStream,
      .resetStream, .streamCredit, .stopStream, .streamDone, .hello, .associate, .associated, .close, .ping, .pong,
      .unknownOptional:
      break
    }
    return nil
  }

  // MARK: Membership

  /// There is a place for the node.
  func enter(_ entry: MembershipRequest.Entry, _ turn: Turn) {
    switch entry {
    case .accepting(let command):
      send(.accept, turn)
      accepted(by: command, turn)
    case .crossing:
      send(.accept, turn)
      becomeMember(turn)
    case .confirming:
      invitations.confirmed()
      send(.codeConfirmed, turn)
      if invitations.exchange?.isRemoteDone == true { becomeMember(turn) }
    case .agreed: becomeMember(turn)
    case .agreedByCode:
      peer.isProven = true
      becomeMember(turn)
    case .proven(let context):
      peer.isProven = true
      peer.invitationContext = context
      send(.accept, turn)
      becomeMember(turn)
    }
  }

  /// There is no place for the node.
  /// - Returns: false where it takes itself for a member already: the association has to end.
  func findNoPlace(_ entry: MembershipRequest.Entry, _ turn: Turn) -> Bool {
    switch entry {
    case .accepting(let command?): declineFull(command, turn)
    case .accepting(nil): if invitations.isAnswering { withdrawInvitation(configuration.full, turn) }
    case .confirming: withdrawInvitation(configuration.full, turn)
    case .proven: declineProven(turn)
    case .crossing, .agreed, .agreedByCode: return false
    }
    return true
  }

  func becomeMember(_ turn: Turn) {
    guard !isMember else { return }
    isMember = true
    membershipNumber = turn.countMembership()
    moved(turn.now)
    let former = invitations.takeAll()
    if let context = former.remoteContext { peer.invitationContext = context }
    turn.budgets.removeQuestion(of: node)
    if let exchange = former.exchange {
      peer.code = exchange.code
      if exchange.isConfirmed { turn.budgets.matched(node.peer) }
      for command in exchange.showing { turn.reply(command, .failed(Ending(.cancelled, .us, "answered already"))) }
    }
    turn.deliver(.connected(peer))
    if let suspension { turn.deliver(.suspended(node, suspension.cause)) }
    former.own?.succeed(node, turn)
    if let command = former.incoming?.acceptance?.command { turn.reply(command, .done) }
  }

  // MARK: Ends

  /// Nobody may be a member or invited any more: from now on the association is idle.
  func idle(_ turn: Turn) {
    if isIdle { idleSince = turn.now }
  }

  /// We are leaving, for this reason, and take no invitation with us.
  func dropInvitations(_ reason: Reason, _ turn: Turn) {
    endProof(Ending(reason, .us), turn)
    guard invitations.incoming != nil else { return }
    send(.decline(reason, detail: ""), turn)
    closeInvitation(Ending(reason, .us), turn)
  }

  /// The link is gone to which codes and proofs are bound: what was tried is over, whatever the association does.
  func invitationsLostLink(_ turn: Turn) {
    if invitations.isTry {
      let ending = Self.brokenOff(Ending(.linkFailed, .link, "the connection was lost"))
      switch invitations.own?.phase {
      case .invited, .answering: withdrawInvitation(ending, turn)
      case .drawing, .crossing, .sharing, .proving, .proven, nil: breakOff(ending, turn)
      }
    }
    let ending = Ending(.wrongCode, .link, "the attempt broke off: the connection was lost")
    endProof(ending, turn)
    if invitations.own?.provesOnLink == true { withdrawInvitation(ending, turn) }
  }

  /// The association is over, and with it what made or was to make its node a member.
  func endMembership(_ ending: Ending, _ turn: Turn) {
    // Before both sides have compared the code, this is one try of it.
    let brokenOff = invitations.isTry ? Self.brokenOff(ending) : ending
    turn.budgets.removeQuestion(of: node)
    endExchange(brokenOff, turn)
    endProof(Ending(.wrongCode, ending.blame, "the attempt broke off: \(ending)"), isAnswered: false, turn)
    if let incoming = invitations.takeIncoming() { tellEnd(of: incoming, brokenOff, turn) }
    if isMember { turn.deliver(.disconnected(node, ending)) }
    failInvitation(brokenOff, turn)
    if let command = leaving?.command { turn.reply(command, .done) }
  }

  // MARK: Time

  /// When something about invitations is due, if nothing happens before.
  func invitationsDeadline(_ budgets: InvitationBudgets) -> Instant? {
    [invitations.own?.deadline, incomingDeadline(budgets), invitations.proof?.until].compactMap { $0 }.min()
  }

  /// The time of the peer's invitation, or of its proof, may be up.
  /// - Returns: whether it was.
  func invitationsDeadlineReached(_ turn: Turn) -> Bool {
    if let proof = invitations.proof, proof.until <= turn.now {
      let words = "the attempt broke off: the code was not confirmed within \(CodeProof.time.inWords)"
      endProof(Ending(.wrongCode, .peer, words), turn)
      return true
    }
    return incomingDeadlineReached(turn)
  }
}

extension EngineConfiguration {
  /// How an invitation ends for which there is no place.
  var full: Ending { Ending(.full, .us, "the session has \(capacity) members") }
}
