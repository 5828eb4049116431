import PiconetWire

/// Invitations of others, answers to ours, and what makes a member.
extension SessionEngine {
  /// Invitations that nobody answers expire here even if the inviter would wait for longer.
  static let longestInvitation = Duration.seconds(300)

  mutating func receivedInvite(_ invite: Invite, from association: Association, _ turn: Turn) throws(Breach) {
    let remote = association.node
    // The far side may not know yet that it is a member, or that we leave.
    guard association.leaving == nil else {
      association.send(.decline(.left, detail: ""), turn)
      return
    }
    guard !association.isMember, association.invitation == nil, association.proof == nil else {
      throw Breach("an invitation beside another, or from a member")
    }
    // What belonged to an earlier one can't come any more.
    association.isRevealDue = false
    association.isConfirmationDue = false
    association.isCodeConfirmDue = false
    guard hasRoomForMember(remote, turn.now) else {
      association.send(.decline(.full, detail: "the session has \(configuration.capacity) members"), turn)
      return
    }
    let index = attempts.firstIndex { $0.node == remote && $0.isWithPeer }
    if needsCode(association) || index.map({ attempts[$0].code != nil }) == true {
      // Without a proof nothing stands for one: neither an invitation of ours nor theirs.
      association.send(.decline(.codeNeeded, detail: ""), turn)
      idleFrom(remote, turn)
      return
    }
    if let index {
      try crossed(index, invite, association, turn)
      return
    }
    let host = association.peer.traits.remoteHost
    let isKnown = association.judgement == .known
    let expires =
      turn.now + min(.milliseconds(Int64(clamping: min(invite.timeout, 86_400_000))), Self.longestInvitation)
    var notBefore: Instant?
    if !isKnown, let refusal = tries.refusal(remote.peer, at: host, turn.now) {
      // Shortly after a refusal it waits for its turn, if it can.
      if case .pause(let left) = refusal, turn.now + left < expires {
        notBefore = turn.now + left
      } else {
        association.send(.decline(.limitExceeded, detail: refusal.words), turn)
        idleFrom(remote, turn)
        return
      }
    }
    switch questions.add(remote, at: host, isKnown: isKnown, notBefore: notBefore) {
    case .taken: break
    case .instead(let other): decline(waiting: other, turn)
    case .refused:
      association.send(.decline(.limitExceeded, detail: Self.tooManyWait), turn)
      idleFrom(remote, turn)
      return
    }
    open(invite, association, until: expires, turn)
    deliverQuestions(turn)
  }

  private static let tooManyWait = "too many wait for an answer there"

  private mutating func open(_ invite: Invite, _ association: Association, until expires: Instant, _ turn: Turn) {
    association.invitation = OpenInvitation(
      terms: invite.terms, commitment: invite.commitment, context: Array(invite.context), expires: expires)
  }

  /// One that waits in the queue has to make room.
  private mutating func decline(waiting remote: NodeID, _ turn: Turn) {
    guard let association = associations[remote] else { return }
    breakOff(association, Ending(.limitExceeded, .us, Self.tooManyWait), turn)
  }

  /// Both invite at once. Where no code has to be compared, each takes the other's invitation as the answer to its own.
  /// Otherwise that of the smaller node counts, and the other one is its acceptance, once the code was compared.
  private mutating func crossed(
    _ index: Int, _ invite: Invite, _ association: Association, _ turn: Turn
  ) throws(Breach) {
    let remote = association.node
    let attempt = attempts[index]
    let expires = turn.now + Self.longestInvitation
    guard attempt.phase == .invited else {
      // Ours was not sent yet.
      open(invite, association, until: expires, turn)
      answer(byAttempt: index, association, turn)
      return
    }
    guard association.exchange == nil, let own = association.unanswered.last, own.command == attempt.command else {
      throw Breach("an invitation beside the one that it has begun to answer")
    }
    let isCompared = own.terms.union(invite.terms).contains(.comparesCodes)
    if !isCompared {
      _ = makeRoomForMember(remote, turn)
      association.send(.accept, turn)
      becomeMember(remote, turn)
    } else if node < remote {
      association.send(.decline(.inProgress, detail: ""), turn)
    } else {
      open(invite, association, until: expires, turn)
      answer(byAttempt: index, association, turn)
    }
  }

  mutating func answerInvitation(
    _ id: CommandID, _ remote: NodeID, accept: Bool, _ reason: Reason, _ turn: Turn
  ) {
    guard let association = associations[remote], let invitation = association.invitation, invitation.acceptance == nil,
      invitation.isDelivered
    else {
      turn.reply(id, .failed(Ending(.noSuchAssociation, .us, "no invitation of this peer waits for an answer")))
      return
    }
    let attempt = attempt(answering: remote)?.command
    guard accept else {
      let ending = Ending(reason, .us)
      association.send(.decline(reason, detail: ""), turn)
      association.invitation = nil
      questions.remove(remote)
      if !endExchange(of: association, ending, turn), association.judgement == .ask, reason != .cancelled {
        tries.refused(remote.peer, at: association.peer.traits.remoteHost, turn.now)
      }
      idleFrom(remote, turn)
      turn.reply(id, .done)
      turn.tell(turn.conditions.invitationEnded(remote, ending))
      if let attempt { withdraw(attempt, ending, turn) }
      return
    }
    if association.judgement == .ask || invitation.terms.contains(.comparesCodes), association.exchange?.code == nil {
      // It stands, and can be accepted once the code was shown.
      turn.reply(id, .failed(Ending(.identity, .us, "the code has to be shown and compared first")))
      return
    }
    guard makeRoomForMember(remote, turn) else {
      let full = Ending(.full, .us, "the session has \(configuration.capacity) members")
      association.send(.decline(.full, detail: full.detail), turn)
      association.invitation = nil
      questions.remove(remote)
      endExchange(of: association, full, turn)
      idleFrom(remote, turn)
      turn.reply(id, .failed(full))
      turn.tell(turn.conditions.invitationEnded(remote, full))
      return
    }
    association.send(.accept, turn)
    accepted(association, by: id, turn)
  }

  mutating func receivedAccept(from association: Association, _ turn: Turn) throws(Breach) {
    let remote = association.node
    guard !association.unanswered.isEmpty else {
      throw Breach("accepts what was not asked")
    }
    let sent = association.unanswered.removeFirst()
    let isCompared = sent.terms.contains(.comparesCodes)
    guard let command = sent.command else {
      // Where the codes are compared nobody takes itself for a member before we have confirmed.
      if isCompared { idleFrom(remote, turn) } else { acceptedWithdrawn(from: remote, turn) }
      return
    }
    guard !association.isMember, association.leaving == nil else { return }
    let wanted = sent.code == nil ? InvitationAttempt.Phase.invited : .proven
    guard attempts.contains(where: { $0.command == command && $0.phase == wanted }) else {
      throw Breach("accepts an invitation that its own has replaced")
    }
    if isCompared {
      guard let exchange = association.exchange else {
        throw Breach("accepts without the code that has to be compared")
      }
      association.exchange?.isRemoteDone = true
      if !exchange.isConfirmed { return }
    }
    guard makeRoomForMember(remote, turn) else {
      end(association, Ending(.full, .us, "the session has \(configuration.capacity) members"), turn)
      return
    }
    if sent.code != nil { association.peer.isProven = true }
    becomeMember(remote, turn)
  }

  /// The far side has accepted an invitation that we had withdrawn: it is a member in its own eyes and leaves when it
  /// sees that. Until then we leave as well, so that nothing new begins between two sides that differ about what they
  /// are.
  private mutating func acceptedWithdrawn(from remote: NodeID, _ turn: Turn) {
    guard let association = associations[remote], !association.isMember, association.leaving == nil else { return }
    association.beginLeaving(Ending(.cancelled, .us), turn)
    endProof(of: association, Ending(.cancelled, .us, "our own invitation was withdrawn"), turn)
    guard let invitation = association.invitation else { return }
    if invitation.acceptance == nil { association.send(.decline(.left, detail: ""), turn) }
    closeInvitation(
      of: association, Ending(.cancelled, .us, "our own invitation was withdrawn"), turn)
  }

  mutating func receivedDecline(_ reason: Reason, _ detail: String, from association: Association, _ turn: Turn)
    throws(Breach)
  {
    let remote = association.node
    guard !association.unanswered.isEmpty else {
      throw Breach("declines what was not asked")
    }
    guard let command = association.unanswered.removeFirst().command else { return }
    // The far side's own invitation counts in its place.
    if attempt(answering: remote)?.command == command { return }
    let ending = Ending(reason, .peer, detail)
    endExchange(of: association, ending, turn)
    idleFrom(remote, turn)
    fail(command, ending, turn)
  }

  mutating func receivedWithdraw(_ reason: Reason, from association: Association, _ turn: Turn) {
    let remote = association.node
    association.isCodeConfirmDue = false
    if association.proof != nil {
      let words = reason == .wrongCode ? "another code was typed there" : "the attempt broke off: \(reason)"
      endProof(of: association, Ending(.wrongCode, .peer, words), turn)
    } else if let invitation = association.invitation {
      // Every invitation gets exactly one answer, or the two sides would count differently.
      if invitation.acceptance == nil { association.send(.decline(.cancelled, detail: ""), turn) }
      let wasTry = association.exchange?.isTry == true
      let ending = wasTry ? Self.brokenOff(Ending(reason, .peer)) : Ending(reason, .peer)
      if !wasTry, invitation.isDelivered, association.judgement == .ask {
        tries.refused(remote.peer, at: association.peer.traits.remoteHost, turn.now)
      }
      let attempt = attempts.firstIndex { $0.node == remote && $0.phase == .answering }
      // Ours stands if the far side had withdrawn its own before it saw ours.
      if let attempt, association.unanswered.contains(where: { $0.command == attempts[attempt].command }) {
        attempts[attempt].phase = .invited
        closeInvitation(of: association, ending, turn)
      } else {
        closeInvitation(of: association, ending, turn)
        if let attempt { fail(attempts[attempt].command, ending, turn) }
      }
    } else if association.isMember, association.leaving == nil {
      // We had accepted before we knew. Leaving makes both sides agree whatever crossed on the way.
      association.beginLeaving(Ending(.cancelled, .peer), turn)
    }
  }

  mutating func becomeMember(_ remote: NodeID, _ turn: Turn) {
    guard let association = associations[remote], !association.isMember else { return }
    association.isMember = true
    association.moved(turn.now)
    let invitation = association.invitation
    association.invitation = nil
    questions.remove(remote)
    let exchange = association.exchange
    association.exchange = nil
    if let exchange {
      association.peer.code = exchange.code
      if exchange.isConfirmed { tries.matched(remote.peer) }
      for command in exchange.showing { turn.reply(command, .failed(Ending(.cancelled, .us, "answered already"))) }
    }
    turn.deliver(.connected(association.peer))
    lookForBetter(association, turn)
    if let suspension = association.suspension { turn.deliver(.suspended(remote, suspension.cause)) }
    for attempt in attempts where attempt.node == remote {
      guard let index = attempts.firstIndex(where: { $0.command == attempt.command }) else { continue }
      attempts.remove(at: index)
      if let proof = attempt.proof { turn.add(.proveCode(proof, .end)) }
      turn.reply(attempt.command, .connected(remote))
      turn.tell(turn.conditions.attemptEnded(remote, nil))
    }
    if let command = invitation?.acceptance?.command { turn.reply(command, .done) }
  }

  /// Nobody may be a member or invited any more: from now on the association is idle.
  mutating func idleFrom(_ remote: NodeID, _ turn: Turn) {
    if let association = associations[remote], association.isIdle { association.idleSince = turn.now }
  }
}
