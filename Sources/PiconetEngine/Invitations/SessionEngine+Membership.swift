import PiconetWire

/// Invitations of others, answers to ours, and what makes a member.
extension SessionEngine {
  /// Invitations that nobody answers expire here even if the inviter would wait for longer.
  static let longestInvitation = Duration.seconds(300)

  mutating func inviteCame(
    _ timeout: UInt64, _ context: Bytes, from far: NodeID, on id: LinkID, _ now: Instant, _ effects: inout [Effect]
  ) {
    guard let association = associations[far] else { return }
    // The far side may not know yet that it is a member, or that we leave.
    guard association.leaving == nil else {
      send(.decline(.left, detail: ""), to: far)
      return
    }
    guard !association.isMember, association.invitationExpires == nil else {
      breach(id, .protocolBroken, "an invitation beside another, or from a member", now, &effects)
      return
    }
    guard memberCount < configuration.capacity || idleMember(now) != nil else {
      send(.decline(.full, detail: "the session has \(configuration.capacity) members"), to: far)
      return
    }
    // Both invite at once: each takes the other's invitation as the answer to its own.
    if attempts.contains(where: { $0.node == far && $0.phase == .invited }), association.unanswered.last ?? nil != nil {
      _ = makeRoomForMember(now, &effects)
      send(.accept, to: far)
      becomeMember(far, now, &effects)
      return
    }
    let patience = min(
      .milliseconds(Int64(clamping: min(timeout, 86_400_000))), Self.longestInvitation)
    let expires = now + patience
    associations[far]?.invitationExpires = expires
    timesChanged = true
    deliver(.invitationReceived(association.peer, context: Array(context), expires: expires), &effects)
  }

  mutating func answerInvitation(
    _ id: CommandID, _ far: NodeID, accept: Bool, _ reason: Reason, _ now: Instant, _ effects: inout [Effect]
  ) {
    guard associations[far]?.invitationExpires != nil else {
      reply(id, .failed(Ending(.noSuchAssociation, .us, "no invitation of this peer waits for an answer")), &effects)
      return
    }
    associations[far]?.invitationExpires = nil
    guard accept else {
      send(.decline(reason, detail: ""), to: far)
      idleFrom(now, far)
      reply(id, .done, &effects)
      tell(conditions.invitationEnded(far, Ending(reason, .us)), &effects)
      return
    }
    guard makeRoomForMember(now, &effects) else {
      send(.decline(.full, detail: "the session has \(configuration.capacity) members"), to: far)
      idleFrom(now, far)
      let full = Ending(.full, .us, "the session has \(configuration.capacity) members")
      reply(id, .failed(full), &effects)
      tell(conditions.invitationEnded(far, full), &effects)
      return
    }
    send(.accept, to: far)
    becomeMember(far, now, &effects)
    reply(id, .done, &effects)
  }

  mutating func acceptCame(from far: NodeID, on id: LinkID, _ now: Instant, _ effects: inout [Effect]) {
    guard let association = associations[far], !association.unanswered.isEmpty else {
      breach(id, .protocolBroken, "accepts what was not asked", now, &effects)
      return
    }
    guard associations[far]?.unanswered.removeFirst() != nil else {
      acceptedWithdrawn(from: far, now, &effects)
      return
    }
    guard !association.isMember, association.leaving == nil else { return }
    guard memberCount < configuration.capacity else {
      end(association: far, Ending(.full, .us, "the session has \(configuration.capacity) members"), now, &effects)
      return
    }
    becomeMember(far, now, &effects)
  }

  /// The far side has accepted an invitation that we had withdrawn: it is a member in its own eyes and leaves when it sees that.
  /// Until then we leave as well, so that nothing new begins between two sides that differ about what they are.
  private mutating func acceptedWithdrawn(from far: NodeID, _ now: Instant, _ effects: inout [Effect]) {
    guard let association = associations[far], !association.isMember, association.leaving == nil else { return }
    associations[far]?.leaving = Association.Leaving(
      command: nil, reason: .cancelled, deadline: now + configuration.leaveTimeout)
    timesChanged = true
    dirty.insert(association.link)
    guard association.invitationExpires != nil else { return }
    associations[far]?.invitationExpires = nil
    send(.decline(.left, detail: ""), to: far)
    deliver(.invitationEnded(far, Ending(.cancelled, .us, "our own invitation was withdrawn")), &effects)
  }

  mutating func declineCame(
    _ reason: Reason, _ detail: String, from far: NodeID, on id: LinkID, _ now: Instant, _ effects: inout [Effect]
  ) {
    guard let association = associations[far], !association.unanswered.isEmpty else {
      breach(id, .protocolBroken, "declines what was not asked", now, &effects)
      return
    }
    guard let command = associations[far]?.unanswered.removeFirst() else { return }
    idleFrom(now, far)
    fail(command, Ending(reason, .peer, detail), &effects)
  }

  mutating func withdrawCame(_ reason: Reason, from far: NodeID, _ now: Instant, _ effects: inout [Effect]) {
    guard let association = associations[far] else { return }
    if association.invitationExpires != nil {
      associations[far]?.invitationExpires = nil
      // Every invitation gets exactly one answer, or the two sides would count differently.
      send(.decline(.cancelled, detail: ""), to: far)
      idleFrom(now, far)
      deliver(.invitationEnded(far, Ending(reason, .peer)), &effects)
    } else if association.isMember, association.leaving == nil {
      timesChanged = true
      // We had accepted before we knew. Leaving makes both sides agree whatever crossed on the way.
      associations[far]?.leaving = Association.Leaving(
        command: nil, reason: .cancelled, deadline: now + configuration.leaveTimeout)
      dirty.insert(association.link)
    }
  }

  mutating func becomeMember(_ far: NodeID, _ now: Instant, _ effects: inout [Effect]) {
    guard let association = associations[far], !association.isMember else { return }
    associations[far]?.isMember = true
    association.lastMoved = now
    deliver(.connected(association.peer), &effects)
    lookForBetter(association, now)
    if let suspension = association.suspension { deliver(.suspended(far, suspension.cause), &effects) }
    for attempt in attempts where attempt.node == far {
      guard let index = attempts.firstIndex(where: { $0.command == attempt.command }) else { continue }
      attempts.remove(at: index)
      reply(attempt.command, .connected(far), &effects)
      tell(conditions.attemptEnded(far, nil), &effects)
    }
  }

  /// Nobody may be a member or invited any more: from now on the association is idle.
  mutating func idleFrom(_ now: Instant, _ far: NodeID) {
    timesChanged = true
    if associations[far]?.isIdle == true { associations[far]?.idleSince = now }
  }
}
