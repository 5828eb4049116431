import PiconetWire

/// A fact about the invitations between two nodes.
enum InvitationFact: Sendable {
  // MARK: Our invitation

  /// Our attempt has found the association, and continues here.
  case invited(OutgoingInvitation)
  /// Our invitation ends before it is answered.
  case withdrawn(Ending)
  /// The time of our invitation is up.
  case timedOut

  // MARK: The application's answers

  /// The application is told of the peer's invitation now.
  case asked
  case accepted(CommandID)
  case declined(CommandID, Reason)
  /// The application withdraws its acceptance before there is a membership.
  case acceptanceCancelled
  /// The question is on the screen, and the code should be shown.
  case showing(Caller<ResultKind.Code>)
  /// A person has compared the codes.
  case compared(CommandID, isSame: Bool, Reason)

  // MARK: Answers of the driver

  case nonceDrawn(CodeID, CodeNonce?, isFull: Bool)
  case codeDerived(CodeID, String?)
  case codeProven(CodeID, TypedCodeFinding, isFull: Bool)

  // MARK: The remote side

  /// A frame about invitations.
  /// - Parameter hasRoom: whether the peer can become a member.
  case received(InvitationFrame, hasRoom: Bool)

  // MARK: The session

  case placeFound(MembershipRequest.Entry)
  case noPlaceFound(MembershipRequest.Entry)
  /// Another invitation has taken the place of the peer's invitation in the queue.
  case displaced
  /// The peer's introduction to us has ended without a membership.
  case introductionEnded
}

/// A frame about invitations.
enum InvitationFrame: Sendable {
  case invite(Invite)
  case accept
  case decline(Reason, String)
  case withdraw(Reason)
  case admit
  case codeNonce([UInt8])
  case codeReveal([UInt8])
  indirect case inviteByCode(InviteByCode)
  indirect case codeAnswer(CodeAnswer)
  case codeConfirm([UInt8])

  /// Whether it begins an invitation.
  var isInvitation: Bool {
    switch self {
    case .invite, .inviteByCode: true
    case .accept, .decline, .withdraw, .admit, .codeNonce, .codeReveal, .codeAnswer, .codeConfirm: false
    }
  }
}

/// An event of an association that may end the invitations between its two nodes. It leaves nothing for the engine to
/// do.
enum InvitationEnd: Sendable {
  /// We are leaving: all invitations end.
  case leaving(Reason)
  /// The link to which codes and proofs are bound is gone.
  case linkLost
  /// The association is over.
  case associationEnded(Ending)
  /// The time of the peer's invitation, or of its proof, is up.
  case incomingTimedOut
}
