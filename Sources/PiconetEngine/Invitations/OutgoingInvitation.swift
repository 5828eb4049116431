import PiconetWire

/// Our invitation to a node that we have an association with.
struct OutgoingInvitation: Sendable {
  enum Phase: Equatable, Sendable {
    /// The driver draws the nonce of its short code.
    case drawing(CodeID)
    /// The driver draws that nonce, and the peer's invitation has come. Once our invitation is sent, the two cross, and
    /// each side has the other's context.
    case crossing(CodeID)
    /// The driver makes the share with which a typed code is proven.
    case sharing
    /// The invite frame, of either kind, was sent.
    case invited
    /// The driver checks the invited side's answer. This many tries are left if it is wrong.
    case proving(left: UInt64)
    /// The invited side has proven that it has the same code, and gets our proof.
    case proven
    /// The peer has invited us at the same time. Its invitation is the one that counts, and ours is its acceptance.
    case answering
  }

  let caller: Caller<ResultKind.Connected>
  let context: [UInt8]
  /// The number of memberships that had begun before its attempt.
  let formerMemberships: UInt64
  /// The code that a person has typed for this invitation.
  let code: TypedCodeID?
  let deadline: Instant
  /// The failures of transports before one led to the peer.
  let failures: [TransportFailure]
  var phase: Phase
  /// The nonce of its short code, never used for another code.
  var nonce: CodeNonce?
  /// Our side's proof of its typed code.
  var proof: CodeID?
  /// The context of the peer's invitation, which has crossed this one and does not count.
  var crossedContext: [UInt8]?

  /// Makes the invitation of an attempt that has led to an association. Nothing was sent yet; `InvitationState.begin`
  /// sets the phase.
  init(_ attempt: InvitationAttempt) {
    caller = attempt.caller
    context = attempt.context
    formerMemberships = attempt.formerMemberships
    code = attempt.code
    deadline = attempt.deadline
    failures = attempt.race.failures
    phase = .answering
  }

  var command: CommandID { caller.command }

  /// The number under which the driver draws its nonce; nil if the driver draws none.
  var drawing: CodeID? {
    switch phase {
    case .drawing(let id), .crossing(let id): id
    case .sharing, .invited, .proving, .proven, .answering: nil
    }
  }

  /// Whether the invited side's answer has come, and the driver checks it.
  var isProving: Bool { if case .proving = phase { true } else { false } }

  /// Whether a proof is under way, which is bound to the link.
  var provesOnLink: Bool {
    guard code != nil else { return false }
    return switch phase {
    case .sharing, .invited, .proving, .proven: true
    case .drawing, .crossing, .answering: false
    }
  }

  /// Returns the rest of its time in milliseconds, as a frame states it.
  func timeLeft(_ now: Instant) -> UInt64 { UInt64(max(0, (deadline - now).wholeNanoseconds / 1_000_000)) }

  // MARK: Answer

  func fail(_ ending: Ending, to node: NodeID, _ turn: Turn) {
    if let proof { turn.add(.proveCode(proof, .end)) }
    turn.invitationFailed(caller, to: node, ending, failures)
  }

  /// Answers the invitation with success: the node is a member.
  func succeed(_ node: NodeID, _ turn: Turn) {
    if let proof { turn.add(.proveCode(proof, .end)) }
    turn.reply(caller, .connected(node))
    turn.tell(turn.conditions.attemptEnded(node, nil))
  }
}

extension Turn {
  /// Answers our own invitation that has led to no membership.
  func invitationFailed(
    _ caller: Caller<ResultKind.Connected>, to node: NodeID?, _ ending: Ending, _ failures: [TransportFailure]
  ) {
    var ending = ending
    if ending.failures.isEmpty { ending.failures = failures }
    reply(caller, .failed(ending))
    if let node { tell(conditions.attemptEnded(node, ending)) }
  }
}
