import PiconetWire

/// What is due when, and what happens then.
extension SessionEngine {
  var earliestDeadline: Instant? {
    var next: Instant?
    func consider(_ instant: Instant?) {
      guard let instant else { return }
      next = next.map { min($0, instant) } ?? instant
    }
    consider(questions.nextWake)
    for attempt in attempts {
      consider(attempt.deadline)
      if attempt.phase == .dialling { consider(attempt.race.nextDeadline) }
    }
    for link in links.values {
      consider(link.nextDeadline(configuration))
      consider(link.pings.deadline)
    }
    for association in associations.values { consider(deadline(of: association)) }
    return next
  }

  private func deadline(of association: Association) -> Instant? {
    var next = association.suspensionDeadline(surroundings(of: association))
    func consider(_ instant: Instant) { next = next.map { min($0, instant) } ?? instant }
    if let invitation = association.invitation {
      consider(deadline(of: invitation, association))
      if let until = association.exchange?.revealEnds { consider(until) }
    }
    if let proof = association.proof { consider(proof.until) }
    if let leaving = association.leaving { consider(leaving.deadline) }
    if isUnused(association) { consider(association.idleSince + configuration.idleTimeout) }
    return next
  }

  mutating func deadlineReached(_ turn: Turn) {
    turn.deadlinesMoved = true
    questions.wake(at: turn.now)
    attemptDeadlines(turn)
    pingDeadlines(turn)
    // Of hundreds of peers few have anything due. Those that will want a ping soon get it now: one wake-up for all of
    // them.
    let soon = turn.now + min(configuration.silence(isDurable: true) / 32, .milliseconds(250))
    for link in links.values.filter({ $0.nextDeadline(configuration) <= soon }).sorted(by: { $0.id < $1.id }) {
      linkDeadline(link, soon, turn)
    }
    let due = associations.values.filter { association in deadline(of: association).map { $0 <= turn.now } ?? false }
    for association in due.sorted(by: { $0.node < $1.node }) where !association.isOver {
      associationDeadline(association, turn)
      if !association.isOver { suspensionDeadline(association, turn) }
    }
  }

  private mutating func linkDeadline(_ link: Link, _ soon: Instant, _ turn: Turn) {
    if link.isForgotten { return }
    guard link.phase == .active else {
      if link.openedAt + configuration.handshakeTimeout <= turn.now {
        end(
          link, Ending(.timedOut, .peer, "the handshake was not completed in time"), isOnlyLink: true, turn)
      } else if let probe = link.probe, probe.ends <= turn.now {
        probeEnded(link, turn)
      }
      return
    }
    if link.lastReceived + link.patience(configuration) <= turn.now {
      let seconds = link.patience(configuration).wholeNanoseconds / 1_000_000_000
      end(
        link, Ending(.timedOut, .link, "nothing was heard for \(seconds) s"), isOnlyLink: true, turn)
    } else if link.nextPing(configuration) <= soon {
      link.queue(.ping(link.pings.begin(nil, at: turn.now)))
      link.pingedAt = turn.now
      // Counted as sent although the link may not take it now: a ping a quarter of the timeout is enough.
      link.lastSent = turn.now
      turn.flush(link)
    }
  }

  private mutating func associationDeadline(_ association: Association, _ turn: Turn) {
    if let leaving = association.leaving {
      if leaving.deadline <= turn.now {
        end(association, Ending(leaving.reason, .us, by: leaving.by), turn)
      }
      return
    }
    if let proof = association.proof, proof.until <= turn.now {
      let words = "the attempt broke off: the code was not confirmed within \(CodeProof.time.inWords)"
      endProof(of: association, Ending(.wrongCode, .peer, words), turn)
      return
    }
    if let invitation = association.invitation, invitationDeadline(invitation, association, turn) {
      return
    }
    if isUnused(association), association.idleSince + configuration.idleTimeout <= turn.now {
      end(association, Ending(.idle, .nobody), turn)
    }
  }

  /// Whoever has accepted waits a little longer than the inviter, who compares yet.
  private func deadline(of invitation: OpenInvitation, _ association: Association) -> Instant {
    if invitation.acceptance != nil { return invitation.expires + configuration.leaveTimeout }
    return questions.deadline(of: association.node).map { min($0, invitation.expires) } ?? invitation.expires
  }

  /// - Returns: true if the invitation is over.
  private mutating func invitationDeadline(
    _ invitation: OpenInvitation, _ association: Association, _ turn: Turn
  ) -> Bool {
    var ending: Ending?
    if let until = association.exchange?.revealEnds, until <= turn.now {
      let time = CodeExchange.revealTime.inWords
      ending = Ending(
        .codeMismatch, .peer, "the attempt broke off: the inviter did not reveal its part of the code within \(time)")
    } else if deadline(of: invitation, association) <= turn.now {
      ending = Ending(.timedOut, .us, "nobody answered in time")
    }
    guard let ending else { return false }
    let remote = association.node
    if let command = attempt(answering: remote)?.command {
      withdraw(command, ending, turn)
      return true
    }
    if association.exchange?.isTry != true, invitation.isDelivered, association.judgement == .ask {
      tries.refused(remote.peer, at: association.peer.traits.remoteHost, turn.now)
    }
    breakOff(association, ending, turn)
    return true
  }
}
