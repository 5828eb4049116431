import PiconetWire

/// What is due when, and what happens then.
extension SessionEngine {
  /// The earliest of all owners' deadlines.
  var earliestDeadline: Instant? {
    let surroundings = surroundings
    var deadlines: [Instant?] = [questions.nextWake]
    deadlines += attempts.map(\.nextDeadline)
    deadlines += links.values.map(\.nextDeadline)
    deadlines += associations.values.map { $0.nextDeadline(surroundings) }
    return deadlines.lazy.compactMap { $0 }.min()
  }

  mutating func deadlineReached(_ turn: Turn) {
    // Traffic may have put off what was announced.
    watch.changed()
    questions.wake(at: turn.now)
    attemptDeadlines(turn)
    pingDeadlines(turn)
    linkDeadlines(turn)
    let surroundings = surroundings
    let due = associations.values.filter { association in
      association.nextDeadline(surroundings).map { $0 <= turn.now } ?? false
    }
    for association in due.sorted(by: { $0.node < $1.node }) where !association.isOver {
      associationDeadline(association, turn)
      if !association.isOver { suspensionDeadline(association, turn) }
    }
  }

  /// Of hundreds of links few have anything due. Those that will want a ping soon get it now: one wake-up for all of
  /// them.
  private mutating func linkDeadlines(_ turn: Turn) {
    let soon = turn.now + min(configuration.silence(isDurable: true) / 32, .milliseconds(250))
    let due = links.values.filter { $0.due(at: turn.now, soon: soon) != nil }
    for link in due.sorted(by: { $0.id < $1.id }) where !link.isForgotten { linkDeadline(link, soon, turn) }
  }

  private mutating func linkDeadline(_ link: Link, _ soon: Instant, _ turn: Turn) {
    switch link.due(at: turn.now, soon: soon) {
    case .handshake:
      end(link, Ending(.timedOut, .peer, "the handshake was not completed in time"), isOnlyLink: true, turn)
    case .probe: probeEnded(link, turn)
    case .silence(let duration):
      let seconds = duration.wholeNanoseconds / 1_000_000_000
      end(link, Ending(.timedOut, .link, "nothing was heard for \(seconds) s"), isOnlyLink: true, turn)
    case .ping:
      link.ping(turn.now)
      turn.flush(link)
    case nil: break
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

  /// - Returns: true if the invitation is over.
  private mutating func invitationDeadline(
    _ invitation: OpenInvitation, _ association: Association, _ turn: Turn
  ) -> Bool {
    var ending: Ending?
    if let until = association.exchange?.revealEnds, until <= turn.now {
      let time = CodeExchange.revealTime.inWords
      ending = Ending(
        .codeMismatch, .peer, "the attempt broke off: the inviter did not reveal its part of the code within \(time)")
    } else if let answer = association.answerDeadline(surroundings), answer <= turn.now {
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
