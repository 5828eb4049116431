import PiconetWire

/// Short codes: the nonces behind them, who shows them when, and what counts as a wrong one. The order on the wire is
/// the commitment in the invitation, the nonce of the invited side when its question is on the screen, and the
/// inviter's reveal.
extension SessionEngine {
  private mutating func drawNonce(_ turn: Turn) -> CodeID {
    let id = nextCodeID()
    turn.add(.drawNonce(id))
    return id
  }

  /// Of an invitation of ours, before it is sent.
  mutating func drawNonce(forAttempt index: Int, _ turn: Turn) {
    attempts[index].phase = .drawing(drawNonce(turn))
  }

  mutating func nonceDrawn(_ id: CodeID, _ nonce: CodeNonce?, _ turn: Turn) {
    if let index = attempts.firstIndex(where: { $0.phase == .drawing(id) }), let remote = attempts[index].node {
      guard let nonce else { return fail(attempts[index].command, Self.noRandomBytes, turn) }
      attempts[index].nonce = nonce
      sendInvite(index, to: remote, turn)
      return
    }
    guard let association = association(exchanging: id), association.exchange?.phase == .drawing,
      let invitation = association.invitation
    else { return }
    let remote = association.node
    guard let nonce, isLinked(association) else {
      let ending = nonce == nil ? Self.noRandomBytes : Self.noLink
      endExchange(of: association, ending, turn)
      // A question may be put on the screen again; an invitation of ours is over.
      if let command = attempt(answering: remote)?.command { withdraw(command, ending, turn) }
      return
    }
    association.exchange?.nonce = nonce.bytes
    association.exchange?.phase = .awaitingReveal(until: turn.now + CodeExchange.revealTime)
    association.isRevealDue = true
    association.isConfirmationDue = invitation.terms.contains(.comparesCodes)
    association.send(.codeNonce(nonce.bytes), turn)
  }

  private static let noRandomBytes = Ending(.internalError, .us, "the system gives no random bytes")
  private static let noLink = Ending(.linkFailed, .link, "the peer can't be reached for the moment")

  private func isLinked(_ association: Association) -> Bool {
    association.link.map { $0.association === association && $0.phase == .active } ?? false
  }

  private func association(exchanging id: CodeID) -> Association? {
    associations.values.first { $0.exchange?.id == id }
  }

  /// The invitation of ours that is the acceptance of the far side's.
  func attempt(answering remote: NodeID) -> InvitationAttempt? {
    attempts.first { $0.node == remote && $0.phase == .answering }
  }

  // MARK: The invited side

  /// The question is on the screen.
  mutating func showCode(_ id: CommandID, _ remote: NodeID, _ turn: Turn) {
    guard let association = associations[remote], let invitation = association.invitation, invitation.isDelivered,
      invitation.acceptance == nil
    else {
      turn.reply(id, .failed(Ending(.noSuchAssociation, .us, "no invitation of this peer waits for an answer")))
      return
    }
    if let exchange = association.exchange {
      if let code = exchange.code { turn.reply(id, .code(code)) } else { association.exchange?.showing.append(id) }
      return
    }
    guard isLinked(association) else { return turn.reply(id, .failed(Self.noLink)) }
    beginExchange(association, showing: [id], turn)
  }

  private mutating func beginExchange(_ association: Association, showing: [CommandID], _ turn: Turn) {
    association.exchange = CodeExchange(
      id: drawNonce(turn), isInviter: false, phase: .drawing, showing: showing)
  }

  mutating func receivedCodeReveal(_ nonce: [UInt8], from association: Association, on link: Link, _ turn: Turn)
    throws(Breach)
  {
    let remote = association.node
    guard association.isRevealDue else {
      throw Breach("reveals a nonce that was not asked for")
    }
    association.isRevealDue = false
    // It may come too late.
    guard let exchange = association.exchange, case .awaitingReveal = exchange.phase,
      let invitation = association.invitation
    else { return }
    association.exchange?.phase = .deriving
    let inputs = CodeInputs(
      inviter: remote.peer, invited: node.peer, inviterNonce: nonce, invitedNonce: exchange.nonce,
      commitment: invitation.commitment)
    turn.add(.deriveCode(exchange.id, link.id, inputs))
  }

  mutating func receivedCodeConfirmed(from association: Association, _ turn: Turn) throws(Breach) {
    guard association.isConfirmationDue else {
      throw Breach("confirms a code that was not shown")
    }
    association.isConfirmationDue = false
    // We may have declined meanwhile, or leave because the attempt broke off.
    guard association.leaving == nil, let invitation = association.invitation, association.exchange != nil else {
      return
    }
    association.exchange?.isRemoteDone = true
    if invitation.acceptance != nil { becomeMemberIfRoom(association, turn) }
  }

  // MARK: The inviter

  mutating func receivedCodeNonce(_ nonce: [UInt8], from association: Association, on link: Link, _ turn: Turn)
    throws(Breach)
  {
    let remote = association.node
    guard let first = association.unanswered.first, !first.hasNonce else {
      throw Breach("a nonce for no code")
    }
    association.unanswered[0].hasNonce = true
    // Withdrawn: the far side will know when it has seen that.
    guard let command = first.command, association.leaving == nil else { return }
    guard let attempt = attempts.first(where: { $0.command == command }), attempt.phase == .invited,
      let own = attempt.nonce, association.exchange == nil
    else {
      throw Breach("a nonce for an invitation that its own has replaced")
    }
    let code = CodeID(rawValue: nextCode)
    nextCode += 1
    association.exchange = CodeExchange(
      id: code, isInviter: true, phase: .deriving, nonce: own.bytes,
      isCompared: first.terms.contains(.comparesCodes))
    association.send(.codeReveal(own.bytes), turn)
    let inputs = CodeInputs(
      inviter: node.peer, invited: remote.peer, inviterNonce: own.bytes, invitedNonce: nonce, commitment: own.commitment
    )
    turn.add(.deriveCode(code, link.id, inputs))
  }

  // MARK: Both

  mutating func codeDerived(_ id: CodeID, _ code: String?, _ turn: Turn) {
    guard let association = association(exchanging: id), let exchange = association.exchange,
      exchange.phase == .deriving
    else { return }
    let remote = association.node
    guard let code else {
      let rule = "the revealed nonce is not the one that was committed to"
      if let link = association.link { breach(link, .identity, rule, turn) }
      return
    }
    association.exchange?.phase = .shown(code)
    association.exchange?.showing = []
    for command in exchange.showing { turn.reply(command, .code(code)) }
    if exchange.isInviter {
      guard let command = attempts.first(where: { $0.node == remote && $0.phase == .invited })?.command else { return }
      turn.deliver(.codeShown(command, association.peer, code: code))
      if exchange.isCompared { turn.deliver(.confirmationNeeded(association.peer, code: code)) }
    } else if attempt(answering: remote) != nil {
      showToInviting(association, code, turn)
    }
  }

  /// Our invitation is the acceptance of the far side's, and the code is known.
  private mutating func showToInviting(
    _ association: Association, _ code: String, _ turn: Turn
  ) {
    guard let command = attempt(answering: association.node)?.command else { return }
    turn.deliver(.codeShown(command, association.peer, code: code))
    if association.judgement == .ask {
      association.exchange?.isCompared = true
      turn.deliver(.confirmationNeeded(association.peer, code: code))
    } else {
      accept(byAttemptTo: association, turn)
    }
  }

  /// An invitation of the far side is here, and one of ours is its acceptance.
  mutating func answer(byAttempt index: Int, _ association: Association, _ turn: Turn) {
    guard let invitation = association.invitation, invitation.acceptance == nil else { return }
    attempts[index].phase = .answering
    guard association.judgement == .ask || invitation.terms.contains(.comparesCodes) else {
      accept(byAttemptTo: association, turn)
      return
    }
    if let code = association.exchange?.code {
      showToInviting(association, code, turn)
    } else if association.exchange == nil {
      beginExchange(association, showing: [], turn)
    }
  }

  private mutating func accept(byAttemptTo association: Association, _ turn: Turn) {
    guard let invitation = association.invitation, invitation.acceptance == nil else { return }
    let remote = association.node
    guard makeRoomForMember(remote, turn) else {
      let ending = Ending(.full, .us, "the session has \(configuration.capacity) members")
      if let command = attempt(answering: remote)?.command { withdraw(command, ending, turn) }
      return
    }
    association.send(.accept, turn)
    accepted(association, by: nil, turn)
  }

  /// Our `accept` is on its way: we are members, unless the inviter's person compares yet.
  mutating func accepted(
    _ association: Association, by command: CommandID?, _ turn: Turn
  ) {
    guard let invitation = association.invitation else { return }
    association.exchange?.isConfirmed = true
    association.invitation?.acceptance = OpenInvitation.Acceptance(command: command)
    // It is not before the application any more.
    questions.remove(association.node)
    if !invitation.terms.contains(.comparesCodes) || association.exchange?.isRemoteDone == true {
      becomeMember(association.node, turn)
    }
  }

  /// A person of ours has compared, or would not.
  mutating func confirm(
    _ id: CommandID, _ remote: NodeID, _ confirmed: Bool, _ reason: Reason, _ turn: Turn
  ) {
    let command = attempts.first { $0.node == remote && ($0.phase == .invited || $0.phase == .answering) }?.command
    guard let association = associations[remote], let exchange = association.exchange, exchange.code != nil,
      exchange.isCompared, !exchange.isConfirmed, let command
    else {
      turn.reply(id, .failed(Ending(.noSuchAssociation, .us, "nothing waits for this confirmation")))
      return
    }
    turn.reply(id, .done)
    guard confirmed else { return withdraw(command, Ending(reason, .us), turn) }
    association.exchange?.isConfirmed = true
    if exchange.isInviter {
      association.send(.codeConfirmed, turn)
      if exchange.isRemoteDone { becomeMemberIfRoom(association, turn) }
    } else {
      accept(byAttemptTo: association, turn)
    }
  }

  private mutating func becomeMemberIfRoom(_ association: Association, _ turn: Turn) {
    guard makeRoomForMember(association.node, turn) else {
      end(association, Ending(.full, .us, "the session has \(configuration.capacity) members"), turn)
      return
    }
    becomeMember(association.node, turn)
  }

  // MARK: What is no membership

  /// The exchange is over, and nobody is a member by it: once a nonce was given, that was one try.
  /// - Returns: whether it was one.
  @discardableResult
  mutating func endExchange(
    of association: Association, _ ending: Ending, _ turn: Turn
  ) -> Bool {
    guard let exchange = association.exchange else { return false }
    association.exchange = nil
    for command in exchange.showing { turn.reply(command, .failed(ending)) }
    guard exchange.isTry else { return false }
    if association.judgement != .known,
      tries.wrongCode(association.node.peer, at: association.peer.traits.remoteHost, turn.now)
    {
      let words =
        "\(tries.limits.wrongCodes) codes were wrong or broke off: it is not listened to for \(tries.limits.blockTime.inWords)"
      turn.deliver(
        .peerRefused(
          association.node, name: association.peer.name, association.peer.traits, Ending(.limitExceeded, .peer, words),
          untold: 0))
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

  /// The link is gone on which a nonce was given: the attempt is over, whatever the association does.
  mutating func exchangeLostLink(_ association: Association, _ turn: Turn) {
    guard association.exchange?.isTry == true else { return }
    let remote = association.node
    let ending = Self.brokenOff(Ending(.linkFailed, .link, "the connection was lost"))
    let command = attempts.first { $0.node == remote && ($0.phase == .invited || $0.phase == .answering) }?.command
    if let command {
      withdraw(command, ending, turn)
    } else {
      breakOff(association, ending, turn)
    }
  }

  /// Ends the far side's invitation from this side, before or behind our `accept`.
  mutating func breakOff(
    _ association: Association, _ ending: Ending, _ turn: Turn
  ) {
    guard let invitation = association.invitation else { return }
    if invitation.acceptance == nil {
      association.send(.decline(ending.reason, detail: ending.detail.prefix(utf8: WireLimits.detail)), turn)
    } else {
      // The inviter may have confirmed, and take us for a member.
      association.beginLeaving(Ending(ending.reason, .us), turn)
    }
    closeInvitation(of: association, ending, turn)
  }

  /// The far side's invitation is over without membership; the far side knows, or was told.
  mutating func closeInvitation(
    of association: Association, _ ending: Ending, _ turn: Turn
  ) {
    guard let invitation = association.invitation else { return }
    association.invitation = nil
    questions.remove(association.node)
    endExchange(of: association, ending, turn)
    idleFrom(association.node, turn)
    if invitation.isDelivered { turn.deliver(.invitationEnded(association.node, ending)) }
    if let command = invitation.acceptance?.command { turn.reply(command, .failed(ending)) }
  }

  /// Tells the application of those whose turn it is.
  mutating func deliverQuestions(_ turn: Turn) {
    guard questions.hasNews else { return }
    for remote in questions.takeNext(at: turn.now) {
      guard let association = associations[remote], let invitation = association.invitation else { continue }
      association.invitation?.isDelivered = true
      turn.deliver(
        .invitationReceived(
          association.peer, context: invitation.context, expires: invitation.expires,
          comparesCodes: association.judgement == .ask || invitation.terms.contains(.comparesCodes)))
    }
  }
}
