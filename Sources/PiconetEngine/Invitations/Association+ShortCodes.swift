import PiconetWire

/// Short codes: the nonces behind them, who shows them when, and what counts as a wrong one. The order on the wire is
/// the commitment in the invitation, the nonce of the invited side when its question is on the screen, and the
/// inviter's reveal.
extension Association {
  static let noRandomBytes = Ending(.internalError, .us, "the system gives no random bytes")
  static let noLink = Ending(.linkFailed, .link, "the peer can't be reached for the moment")

  /// - Parameter isFull: the session has no place for another member.
  func nonceDrawn(
    _ id: CodeID, _ nonce: CodeNonce?, isFull: Bool, _ turn: Turn
  ) -> MembershipRequest? {
    if let own = invitations.own, own.drawing == id { return sendInvite(own, nonce, isFull: isFull, turn) }
    if let exchange = invitations.exchange, exchange.id == id, exchange.phase == .drawing,
      invitations.incoming != nil
    {
      give(nonce, turn)
    }
    return nil
  }

  // MARK: The invited side

  /// The inviter gets our nonce, and owes its own.
  private func give(_ nonce: CodeNonce?, _ turn: Turn) {
    guard let nonce, activeLink != nil else {
      let ending = nonce == nil ? Self.noRandomBytes : Self.noLink
      endExchange(ending, turn)
      // A question may be put on the screen again; an invitation of ours is over.
      if invitations.isAnswering { withdrawInvitation(ending, turn) }
      return
    }
    invitations.gave(nonce.bytes, until: turn.now + CodeExchange.revealTime)
    send(.codeNonce(nonce.bytes), turn)
  }

  /// The question is on the screen.
  func showCode(_ command: CommandID, _ turn: Turn) {
    guard openInvitation != nil else { return turn.reply(command, .failed(Self.noInvitation)) }
    if let exchange = invitations.exchange {
      if let code = exchange.code { turn.reply(command, .code(code)) } else { invitations.show(to: command) }
      return
    }
    guard activeLink != nil else { return turn.reply(command, .failed(Self.noLink)) }
    beginExchange(showing: [command], turn)
  }

  func beginExchange(showing: [CommandID], _ turn: Turn) {
    invitations.begin(CodeExchange(id: turn.drawNonce(), isInviter: false, phase: .drawing, showing: showing))
  }

  func receivedReveal(_ nonce: [UInt8], _ turn: Turn) throws(Breach) {
    guard let (exchange, commitment) = try invitations.revealed(), let link = activeLink else { return }
    let inputs = CodeInputs(
      inviter: node.peer, invited: turn.node.peer, inviterNonce: nonce, invitedNonce: exchange.nonce,
      commitment: commitment)
    turn.add(.deriveCode(exchange.id, link.id, inputs))
  }

  func receivedConfirmation(_ turn: Turn) throws(Breach) -> MembershipRequest? {
    // We may have declined meanwhile, or leave because the attempt broke off.
    guard try invitations.takeConfirmation(), leaving == nil else { return nil }
    invitations.remoteIsDone()
    return invitations.incoming?.acceptance == nil ? nil : .place(.agreed)
  }

  // MARK: The inviter

  func receivedNonce(_ nonce: [UInt8], _ turn: Turn) throws(Breach) {
    guard let first = invitations.beginAnswer(byCode: false) else { throw Breach("a nonce for no code") }
    // Withdrawn: the peer will know when it has seen that.
    guard let command = first.command, leaving == nil, let link = activeLink else { return }
    guard let own = invitations.own, own.command == command, own.phase == .invited, let ownNonce = own.nonce,
      invitations.exchange == nil
    else { throw Breach("a nonce for an invitation that its own has replaced") }
    let code = turn.takeCodeID()
    invitations.begin(
      CodeExchange(
        id: code, isInviter: true, phase: .deriving, nonce: ownNonce.bytes,
        isCompared: first.terms.contains(.comparesCodes)))
    send(.codeReveal(ownNonce.bytes), turn)
    let inputs = CodeInputs(
      inviter: turn.node.peer, invited: node.peer, inviterNonce: ownNonce.bytes, invitedNonce: nonce,
      commitment: ownNonce.commitment)
    turn.add(.deriveCode(code, link.id, inputs))
  }

  // MARK: Both

  func codeDerived(_ id: CodeID, _ code: String?, _ turn: Turn) throws(Breach) -> MembershipRequest? {
    guard let exchange = invitations.exchange, exchange.id == id, exchange.phase == .deriving else { return nil }
    guard let code else { throw Breach("the revealed nonce is not the one that was committed to", .identity) }
    for command in invitations.derived(code) { turn.reply(command, .code(code)) }
    guard exchange.isInviter else { return invitations.isAnswering ? showToInviting(code, turn) : nil }
    guard let own = invitations.own, own.phase == .invited else { return nil }
    turn.deliver(.codeShown(own.command, peer, code: code))
    if exchange.isCompared { turn.deliver(.confirmationNeeded(peer, code: code)) }
    return nil
  }

  /// Our invitation is the acceptance of the peer's, and the code is known.
  func showToInviting(_ code: String, _ turn: Turn) -> MembershipRequest? {
    guard let own = invitations.own else { return nil }
    turn.deliver(.codeShown(own.command, peer, code: code))
    guard judgement == .ask else { return acceptByOwn() }
    invitations.compare()
    turn.deliver(.confirmationNeeded(peer, code: code))
    return nil
  }

  private func acceptByOwn() -> MembershipRequest? {
    guard let incoming = invitations.incoming, incoming.acceptance == nil else { return nil }
    return .place(.accepting(nil))
  }

  /// A person of ours has compared, or would not.
  func confirm(_ command: CommandID, _ confirmed: Bool, _ reason: Reason, _ turn: Turn) -> MembershipRequest? {
    guard let own = invitations.own, own.phase == .invited || own.phase == .answering,
      let exchange = invitations.exchange, exchange.code != nil, exchange.isCompared, !exchange.isConfirmed
    else {
      turn.reply(command, .failed(Self.nothingToConfirm))
      return nil
    }
    turn.reply(command, .done)
    guard confirmed else {
      withdrawInvitation(Ending(reason, .us), turn)
      return nil
    }
    if exchange.isInviter { return .place(.confirming) }
    invitations.confirmed()
    return acceptByOwn()
  }

  static let nothingToConfirm = Ending(.noSuchAssociation, .us, "nothing waits for this confirmation")

  // MARK: What is no membership

  /// The exchange is over, and nobody is a member by it: once a nonce was given, that was one try.
  /// - Returns: whether it was one.
  @discardableResult
  func endExchange(_ ending: Ending, _ turn: Turn) -> Bool {
    guard let exchange = invitations.takeExchange() else { return false }
    for command in exchange.showing { turn.reply(command, .failed(ending)) }
    guard exchange.isTry else { return false }
    if judgement != .known, let words = turn.budgets.wrongCode(peer, turn.now) {
      turn.deliver(
        .peerRefused(node, name: peer.name, peer.traits, Ending(.limitExceeded, .peer, words), suppressed: 0))
    }
    return true
  }

  /// How an attempt ends whose code was under way, or on the screen.
  static func brokenOff(_ ending: Ending) -> Ending {
    let words = "the attempt broke off before both sides had compared the code"
    return switch ending.reason.known {
    case .codeMismatch, .declined, .identity, .shuttingDown: ending
    case .timedOut, .cancelled, .left:
      Ending(ending.reason, ending.blame, ending.detail.isEmpty ? words : "\(words): \(ending.detail)")
    case .full, .version, .wrongSession, .duplicateLink, .protocolBroken, .limitExceeded, .removed, .linkFailed, .idle,
      .noSuchAssociation, .restarted, .selfConnection, .alreadyConnected, .inProgress, .unreachable, .notSupported,
      .notAvailable, .codeNeeded, .wrongCode, .nameRefused, .tooLarge, .diskFull, .noPermission, .exists,
      .digestMismatch, .sizeMismatch, .directoryVanished, .sourceChanged, .sourceUnreadable, .notWanted,
      .storageFailed, .tooManyTransfers, .internalError, nil:
      Ending(.codeMismatch, ending.blame, "\(words): \(ending)")
    }
  }
}
