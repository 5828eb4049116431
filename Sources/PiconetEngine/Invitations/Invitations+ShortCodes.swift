import PiconetWire

/// Short codes: the nonces behind them, which side shows them when, and which count as wrong. On the wire, the
/// commitment in the invitation comes first. The nonce of the invited side follows when its question is on the screen,
/// and then the inviter's reveal.
extension Invitations {
  static let noRandomBytes = Ending(.internalError, .us, "the system gives no random bytes")
  static let noLink = Ending(.linkFailed, .link, "the peer can't be reached for the moment")

  /// - Parameter isFull: whether the session has no place for another member.
  mutating func nonceDrawn(
    _ id: CodeID, _ nonce: CodeNonce?, isFull: Bool, _ remote: Remote, _ turn: Turn
  ) -> MembershipRequest? {
    if let own = state.own, own.drawing == id { return sendInvite(own, nonce, isFull: isFull, remote, turn) }
    if let exchange = state.exchange, exchange.id == id, exchange.phase == .drawing,
      state.incoming != nil
    {
      give(nonce, for: exchange, remote, turn)
    }
    return nil
  }

  // MARK: The invited side

  /// Gives our nonce to the inviter, which then owes its own.
  private mutating func give(_ nonce: CodeNonce?, for exchange: CodeExchange, _ remote: Remote, _ turn: Turn) {
    guard let nonce, remote.link != nil else {
      let ending = nonce == nil ? Self.noRandomBytes : Self.noLink
      endExchange(ending, remote, turn)
      // A question may be put on the screen again, but our own invitation is over.
      if state.isAnswering { withdrawInvitation(ending, remote, turn) }
      return
    }
    state.gave(nonce.bytes, for: exchange, until: turn.now + CodeExchange.revealTime)
    send(.codeNonce(nonce.bytes))
  }

  /// Notes that the question is on the screen, and shows its code.
  mutating func showCode(_ caller: Caller<ResultKind.Code>, _ remote: Remote, _ turn: Turn) {
    guard openInvitation != nil else { return turn.reply(caller, .failed(Self.noInvitation)) }
    if let exchange = state.exchange {
      if let code = exchange.code { turn.reply(caller, .code(code)) } else { state.show(exchange, to: caller) }
      return
    }
    guard remote.link != nil else { return turn.reply(caller, .failed(Self.noLink)) }
    if remote.judgement != .known, let words = turn.budgets.refusalOfCode(remote.peer, turn.now) {
      // Other exchanges have begun since the application was told of the invitation.
      let ending = Ending(.limitExceeded, .us, words)
      turn.reply(caller, .failed(ending))
      return breakOff(ending, remote, turn)
    }
    beginExchange(showing: [caller], remote, turn)
  }

  mutating func beginExchange(showing: [Caller<ResultKind.Code>], _ remote: Remote, _ turn: Turn) {
    begin(CodeExchange(id: turn.drawNonce(), isInviter: false, phase: .drawing, showing: showing), remote, turn)
  }

  private mutating func begin(_ exchange: CodeExchange, _ remote: Remote, _ turn: Turn) {
    if remote.judgement != .known { turn.budgets.began(exchange.id, remote.peer) }
    state.begin(exchange)
  }

  mutating func receivedReveal(_ nonce: [UInt8], _ remote: Remote, _ turn: Turn) throws(Breach) {
    guard let (exchange, commitment) = try state.revealed(), let link = remote.link else { return }
    let inputs = CodeInputs(
      inviter: remote.node.peer, invited: turn.node.peer, inviterNonce: nonce, invitedNonce: exchange.nonce,
      commitment: commitment)
    turn.add(.deriveCode(exchange.id, link, inputs))
  }

  // MARK: The inviter

  mutating func receivedNonce(_ nonce: [UInt8], _ remote: Remote, _ turn: Turn) throws(Breach) {
    guard let first = state.beginAnswer(byCode: false) else { throw Breach("a nonce for no code") }
    // The invitation was withdrawn, as the peer will soon see.
    guard let command = first.command, !remote.isLeaving, let link = remote.link else { return }
    guard let own = state.own, own.command == command, own.phase == .invited, let ownNonce = own.nonce,
      state.exchange == nil, !state.hasCrossed
    else { throw Breach("a nonce for an invitation that its own has replaced") }
    let code = turn.takeCodeID()
    let exchange = CodeExchange(
      id: code, isInviter: true, phase: .deriving, nonce: ownNonce.bytes,
      isCompared: first.terms.contains(.comparesCodes))
    begin(exchange, remote, turn)
    send(.codeReveal(ownNonce.bytes))
    let inputs = CodeInputs(
      inviter: turn.node.peer, invited: remote.node.peer, inviterNonce: ownNonce.bytes, invitedNonce: nonce,
      commitment: ownNonce.commitment)
    turn.add(.deriveCode(code, link, inputs))
  }

  // MARK: Both sides

  mutating func codeDerived(_ id: CodeID, _ code: String?, _ remote: Remote, _ turn: Turn) throws(Breach)
    -> MembershipRequest?
  {
    guard let exchange = state.exchange, exchange.id == id, exchange.phase == .deriving else { return nil }
    guard let code else { throw Breach("the revealed nonce is not the one that was committed to", .identity) }
    for caller in state.derived(code, of: exchange) { turn.reply(caller, .code(code)) }
    guard exchange.isInviter else {
      return state.isAnswering ? state.exchange.flatMap { showToInviting($0, remote, turn) } : nil
    }
    guard let own = state.own, own.phase == .invited else { return nil }
    // The other side asks a person nevertheless. Here the member's introduction counts, and there is no screen to show
    // the code on.
    if own.command.isOwn { return nil }
    turn.deliver(.codeShown(own.command, remote.peer, code: code))
    if exchange.isCompared { turn.deliver(.confirmationNeeded(remote.peer, code: code)) }
    return nil
  }

  /// Shows the code of the peer's invitation, whose acceptance is our own invitation.
  mutating func showToInviting(_ exchange: CodeExchange, _ remote: Remote, _ turn: Turn) -> MembershipRequest? {
    guard let own = state.own, let code = exchange.code else { return nil }
    // An introduction has led to our invitation: no person compares the code here, but a person does on the peer's
    // side.
    if own.command.isOwn { return acceptByOwn() }
    turn.deliver(.codeShown(own.command, remote.peer, code: code))
    guard remote.judgement == .ask else { return acceptByOwn() }
    state.compare(exchange)
    turn.deliver(.confirmationNeeded(remote.peer, code: code))
    return nil
  }

  private func acceptByOwn() -> MembershipRequest? {
    guard let incoming = state.incoming, incoming.acceptance == nil else { return nil }
    return .place(.accepting(.ownInvitation))
  }

  /// Takes the answer of a person on our side, who has compared the codes or declined to.
  mutating func confirm(_ command: CommandID, isSame: Bool, _ reason: Reason, _ remote: Remote, _ turn: Turn)
    -> MembershipRequest?
  {
    guard let own = state.own, own.phase == .invited || own.phase == .answering,
      let exchange = state.exchange, exchange.code != nil, exchange.isCompared, !exchange.isConfirmed
    else {
      turn.reply(command, .failed(Self.nothingToConfirm))
      return nil
    }
    turn.reply(command, .done)
    guard isSame else {
      withdrawInvitation(Ending(reason, .us), remote, turn)
      return nil
    }
    if exchange.isInviter { return .place(.confirming) }
    state.confirmed(exchange)
    return acceptByOwn()
  }

  static let nothingToConfirm = Ending(.noSuchAssociation, .us, "nothing waits for this confirmation")

  // MARK: Failures

  /// Ends the exchange without membership. Once a nonce was given, this was one try, unless the person here rejected
  /// the code.
  /// - Returns: whether it counts as a try.
  @discardableResult
  mutating func endExchange(_ ending: Ending, _ remote: Remote, _ turn: Turn) -> Bool {
    guard let exchange = state.takeExchange() else { return false }
    turn.budgets.ended(exchange.id)
    for caller in exchange.showing { turn.reply(caller, .failed(ending)) }
    guard exchange.isTry else { return false }
    if remote.judgement != .known, let words = turn.budgets.attemptEnded(ending, remote.peer, turn.now) {
      turn.deliver(
        .peerRefused(
          remote.node, name: remote.peer.name, remote.peer.traits, Ending(.limitExceeded, .peer, words), suppressed: 0))
    }
    return true
  }

  /// Returns the ending of an attempt that ends while its code is under way or on the screen.
  static func brokenOff(_ ending: Ending) -> Ending {
    let words = "the attempt broke off before both sides had compared the code"
    return switch ending.reason.known {
    case .codeMismatch, .declined, .identity, .shuttingDown: ending
    // No person has found that the codes differ. When a peer falls silent, chance decides which of these reasons comes
    // first.
    case .timedOut, .cancelled, .left, .linkFailed, .idle, .restarted, .noSuchAssociation, .unreachable:
      Ending(ending.reason, ending.blame, ending.detail.isEmpty ? words : "\(words): \(ending.detail)")
    case .full, .version, .wrongSession, .duplicateLink, .protocolBroken, .limitExceeded, .removed, .selfConnection,
      .alreadyConnected, .inProgress, .notSupported, .notAvailable, .codeNeeded, .wrongCode, .nameRefused, .tooLarge,
      .diskFull, .noPermission, .exists,
      .digestMismatch, .sizeMismatch, .directoryVanished, .sourceChanged, .sourceUnreadable, .notWanted, .storageFailed,
      .tooManyTransfers, .internalError, nil:
      Ending(.codeMismatch, ending.blame, "\(words): \(ending)")
    }
  }
}
