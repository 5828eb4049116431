import PiconetWire

/// Deadlines, and the end of everything.
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
    var next = suspensionDeadline(of: association)
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

  mutating func deadlineReached(_ turn: inout Turn) {
    turn.deadlinesMoved = true
    questions.wake(at: turn.now)
    attemptDeadlines(&turn)
    pingDeadlines(&turn)
    // Of hundreds of peers few have anything due. Those that will want a ping soon get it now: one wake-up for all of them.
    let soon = turn.now + min(configuration.silence(isDurable: true) / 32, .milliseconds(250))
    for id in links.values.filter({ $0.nextDeadline(configuration) <= soon }).map(\.id).sorted() {
      linkDeadline(id, soon, &turn)
    }
    let due = associations.values.filter { association in deadline(of: association).map { $0 <= turn.now } ?? false }
    for far in due.map(\.node).sorted() {
      associationDeadline(far, &turn)
      suspensionDeadline(far, &turn)
    }
  }

  private mutating func linkDeadline(_ id: LinkID, _ soon: Instant, _ turn: inout Turn) {
    guard let link = links[id] else { return }
    guard link.phase == .active else {
      if link.openedAt + configuration.handshakeTimeout <= turn.now {
        end(
          id, Ending(.timedOut, .peer, "the handshake was not completed in time"), isOnlyLink: true, &turn)
      } else if let probe = link.probe, probe.ends <= turn.now {
        probeEnded(link, &turn)
      }
      return
    }
    if link.lastReceived + link.patience(configuration) <= turn.now {
      let seconds = link.patience(configuration).wholeNanoseconds / 1_000_000_000
      end(
        id, Ending(.timedOut, .link, "nothing was heard for \(seconds) s"), isOnlyLink: true, &turn)
    } else if link.nextPing(configuration) <= soon {
      link.queue(.ping(link.pings.begin(nil, at: turn.now)))
      link.pingedAt = turn.now
      // Counted as sent although the link may not take it now: a ping a quarter of the timeout is enough.
      link.lastSent = turn.now
      turn.flush(id)
    }
  }

  private mutating func associationDeadline(_ far: NodeID, _ turn: inout Turn) {
    guard let association = associations[far] else { return }
    if let leaving = association.leaving {
      if leaving.deadline <= turn.now {
        end(association: far, Ending(leaving.reason, .us, by: leaving.by), &turn)
      }
      return
    }
    if let proof = association.proof, proof.until <= turn.now {
      let words = "the attempt broke off: the code was not confirmed within \(CodeProof.time.inWords)"
      endProof(of: association, Ending(.wrongCode, .peer, words), &turn)
      return
    }
    if let invitation = association.invitation, invitationDeadline(invitation, association, &turn) {
      return
    }
    if isUnused(association), association.idleSince + configuration.idleTimeout <= turn.now {
      end(association: far, Ending(.idle, .nobody), &turn)
    }
  }

  /// Whoever has accepted waits a little longer than the inviter, who compares yet.
  private func deadline(of invitation: OpenInvitation, _ association: Association) -> Instant {
    if invitation.acceptance != nil { return invitation.expires + configuration.leaveTimeout }
    return questions.deadline(of: association.node).map { min($0, invitation.expires) } ?? invitation.expires
  }

  /// - Returns: true if the invitation is over.
  private mutating func invitationDeadline(
    _ invitation: OpenInvitation, _ association: Association, _ turn: inout Turn
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
    let far = association.node
    if let command = attempt(answering: far)?.command {
      withdraw(command, ending, &turn)
      return true
    }
    if association.exchange?.isTry != true, invitation.isDelivered, association.judgement == .ask {
      tries.refused(far.peer, at: association.peer.traits.remoteHost, turn.now)
    }
    breakOff(association, ending, &turn)
    return true
  }

  // MARK: Shutting down

  mutating func shutDown(_ command: CommandID, _ turn: inout Turn) {
    shutdown = Shutdown(command: command)
    turn.deadlinesMoved = true
    for attempt in attempts { withdraw(attempt.command, Ending(.shuttingDown, .us), &turn) }
    for dial in dials.keys.sorted() { turn.add(.cancelDial(dial)) }
    dials = [:]
    for far in associations.keys.sorted() {
      guard let association = associations[far] else { continue }
      if association.suspension != nil || links[association.link]?.phase == .resuming {
        end(association: far, Ending(.shuttingDown, .us), &turn)
      } else {
        endSearch(association, &turn)
      }
    }
    for id in links.keys.sorted() where links[id]?.phase != .active {
      end(id, Ending(.shuttingDown, .us), &turn)
    }
    for far in associations.keys.sorted() {
      guard let association = associations[far] else { continue }
      if association.leaving != nil { continue }
      if !association.isMember {
        end(association: far, Ending(.shuttingDown, .us), &turn)
        continue
      }
      for transfer in association.outgoingOrder { abandon(transfer, Ending(.shuttingDown, .us), &turn) }
      refuseIncoming(of: far, Ending(.shuttingDown, .us), &turn)
      resetStreams(of: association, Ending(.shuttingDown, .us), &turn)
      stopStreams(of: association, Ending(.shuttingDown, .us), &turn)
      associations[far]?.leaving = Association.Leaving(
        command: nil, reason: .shuttingDown, deadline: turn.now + configuration.leaveTimeout)
      turn.flush(association.link)
    }
  }

  mutating func finishShutdown(_ turn: inout Turn) {
    guard let shutdown, !shutdown.isFinished, links.isEmpty, associations.isEmpty else { return }
    self.shutdown?.isFinished = true
    turn.reply(shutdown.command, .done)
    turn.add(.finished)
  }

  /// What the engine holds: after `shutDown` all is zero.
  public var census: EngineCensus {
    EngineCensus(
      links: links.count, dials: dials.count + searchDials.count, associations: associations.count,
      members: associations.values.count { $0.isMember }, transfersIncoming: incoming.count,
      transfersOutgoing: outgoing.count,
      streams: associations.values.reduce(0) { $0 + $1.streams.incoming.count + $1.streams.outgoing.count },
      attempts: attempts.count, sightings: discovery.count,
      queuedBytes: associations.values.reduce(0) { $0 + $1.outbox.queuedCost + $1.streams.queuedCount }
        + links.values.reduce(0) { $0 + $1.control.count },
      keptBytes: associations.values.reduce(0) { $0 + $1.unacknowledged.byteCount }, retainedBytes: retainedBytes)
  }
}

/// How many things an engine holds.
public struct EngineCensus: Sendable, Hashable {
  public var links: Int
  public var dials: Int
  public var associations: Int
  public var members: Int
  public var transfersIncoming: Int
  public var transfersOutgoing: Int
  /// Open streams, both ways.
  public var streams: Int
  public var attempts: Int
  public var sightings: Int
  public var queuedBytes: Int
  /// What was sent and not acknowledged.
  public var keptBytes: Int
  /// What peers make it hold, in bytes: all that is not acknowledged, answers that wait, parts of frames and messages, what is open.
  /// Not what the application has queued itself.
  public var retainedBytes: Int
}
