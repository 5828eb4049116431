import PiconetWire

/// Members that are introduced to one another: by us, and to us.
///
/// A node that wants another one introduced to it by a member invites it and lets it in; where both want each other
/// their invitations cross, and both are members. So introductions add no way of becoming one.
extension SessionEngine {
  // MARK: Ours

  mutating func introduce(
    _ id: CommandID, _ first: NodeID, to second: NodeID, within timeout: Duration, _ turn: Turn
  ) {
    do throws(Ending) {
      let (one, other) = try OutgoingIntroductions.members(first, second, within: timeout, associations)
      // The answers come a little later.
      try introducing.begin(id, first, second, until: turn.now + timeout + configuration.leaveTimeout)
      one.introduce(other, timeout: timeout, surroundings, turn)
      other.introduce(one, timeout: timeout, surroundings, turn)
    } catch {
      turn.reply(id, .failed(error))
    }
  }

  mutating func cancelIntroduction(_ id: CommandID, _ introduction: CommandID, _ turn: Turn) {
    introducing.cancel(introduction, associations, turn)
    turn.reply(id, .done)
  }

  /// A member has answered.
  mutating func introductionAnswered(
    by member: Association, about node: NodeID, _ ending: Ending?, on link: Link, _ turn: Turn
  ) {
    do throws(Breach) {
      try introducing.answered(
        by: member.node, about: node, ending, grace: configuration.leaveTimeout, associations, turn)
    } catch {
      breach(link, error, turn)
    }
  }

  // MARK: To us

  mutating func received(_ introduction: Introduce, from introducer: Association, _ turn: Turn) {
    let subject = NodeID(introduction.member)
    if let member = associations[subject], member.isMember {
      let ending = member.isStaying ? nil : Ending(.inProgress, .us, "we are leaving it")
      return introducer.answerIntroduction(of: subject, ending, turn)
    }
    if let refusal = refusal(ofIntroduced: subject, by: introducer, turn) {
      return introducer.answerIntroduction(of: subject, refusal, turn)
    }
    let hints = introduction.addresses.compactMap { $0.address(near: introducer.reachedHosts) }
    switch turn.introductions.add(introduction, by: introducer.node, hints: hints, at: turn.now) {
    case .new(let node): turn.deliver(.introductionReceived(node))
    case .known: inviteIntroduced(subject, turn)
    case .refused(let ending): introducer.answerIntroduction(of: subject, ending, turn)
    }
  }

  private func refusal(ofIntroduced subject: NodeID, by introducer: Association, _ turn: Turn) -> Ending? {
    // A leaving member's words are ignored.
    guard introducer.isStaying else { return Ending(shutdown == nil ? .left : .shuttingDown, .us) }
    if tombstones.contains(subject) { return Ending(.removed, .us, "it was removed from the group") }
    guard admission.hasRoom(forMember: subject, associations, at: turn.now) else { return configuration.full }
    return turn.introductions.refusal(of: subject, by: introducer.node)
  }

  mutating func introductionWithdrawn(_ subject: NodeID, _ reason: Reason, by introducer: Association, _ turn: Turn) {
    if let ending = turn.introductionWithdrawn(subject, reason, by: introducer) {
      endIntroduction(of: subject, ending, turn)
    }
  }

  mutating func answerIntroduction(
    _ id: CommandID, _ subject: NodeID, accept: Bool, _ reason: Reason, _ turn: Turn
  ) {
    guard turn.introductions.isAsked(subject) else {
      let words = "no introduction of this node waits for an answer"
      return turn.reply(id, .failed(Ending(.noSuchAssociation, .us, words)))
    }
    turn.reply(id, .done)
    guard accept else { return endIntroduction(of: subject, Ending(reason, .us), turn) }
    // Nearly always one side dials, and not both.
    let delay = node < subject || associations[subject] != nil ? Duration.zero : .milliseconds(500)
    turn.introductions.wait(subject, until: turn.now + delay)
    inviteIntroduced(subject, turn)
  }

  /// Invites a node that was introduced, if there is a way to it and its turn has come.
  mutating func inviteIntroduced(_ subject: NodeID, _ turn: Turn) {
    guard let entry = turn.introductions[subject], case .waiting(let next) = entry.phase else { return }
    let hasLink = associations[subject] != nil || links.contains(node: subject)
    if !hasLink, let next, turn.now < next { return }
    // If its own invitation is here, the two cross at once.
    guard turn.introductions.hasTurn(subject) || associations[subject]?.invitations.isInvited == true else {
      return turn.introductions.wait(subject, until: turn.now + .milliseconds(250))
    }
    // What is learned of it until then counts at the next try.
    var destination = InvitationDestination(
      node: subject, expectedPeer: subject.peer, addresses: [], transports: nil, unreachable: nil)
    if let refusal = attempts.refusal(of: destination, [], full: admission.full(associations), ways, turn) {
      return introducedFailed(subject, refusal, turn)
    }
    if associations[subject] == nil {
      destination.addresses = turn.takeAddresses(
        of: entry, seen: discovery.summary(of: subject)?.addresses ?? [], configuration.transports, associations)
      // It may come by itself, or be seen.
      if !hasLink, destination.addresses.isEmpty {
        // Members that may relay to it may have no link at this moment.
        let again = configuration.transports.contains(.relay) ? turn.now + .seconds(1) : nil
        return turn.introductions.wait(subject, until: again)
      }
    }
    let command = turn.takeOwnCommand()
    turn.introductions.began(subject, command)
    let time = min(.seconds(15), entry.deadline - turn.now)
    goOn(attempts.begin(command, destination, [], time, nil, ways, turn), turn)
  }

  /// What was learned of a node may lead to one that was introduced.
  mutating func learned(of node: NodeID, _ turn: Turn) {
    if case .waiting(nil)? = turn.introductions[node]?.phase { inviteIntroduced(node, turn) }
  }

  /// The engine's own invitations have ended, or a node has become a member.
  mutating func settleIntroductions(_ turn: Turn) {
    while let (command, reply) = turn.takeOwnReply() {
      guard let entry = turn.introductions.inviting(by: command) else {
        groupIntroductionEnded(command, reply, turn)
        continue
      }
      if case .failed(let ending) = reply {
        introducedFailed(entry.node, ending, turn)
      } else {
        turn.endIntroduction(of: entry.node, telling: nil, associations)
      }
    }
    while let node = turn.takeJoined() {
      tombstones.remove(node)
      turn.endIntroduction(of: node, telling: nil, associations)
      joinedGroup(node, turn)
    }
  }

  private mutating func introducedFailed(_ subject: NodeID, _ ending: Ending, _ turn: Turn) {
    if associations[subject]?.isStaying == true {
      turn.endIntroduction(of: subject, telling: nil, associations)
    } else if !turn.introductions.triesAgain(subject, after: ending, at: turn.now) {
      endIntroduction(of: subject, ending, turn)
    }
  }

  /// The node does not become a member by the word of others: they and the application are told why.
  /// - Parameter told: what the others are told instead.
  mutating func endIntroduction(of subject: NodeID, _ ending: Ending, told: Ending? = nil, _ turn: Turn) {
    guard let entry = turn.endIntroduction(of: subject, telling: told ?? ending, associations) else { return }
    if case .inviting(let command) = entry.phase { withdraw(command, ending, turn) }
    // The node's own invitation may have waited for this.
    if let association = associations[subject] { negotiate(.introductionEnded, association, turn) }
    turn.deliver(.introductionEnded(subject, ending))
  }

  // MARK: Time, and ends

  mutating func introductionDeadlines(_ turn: Turn) {
    introducing.deadlineReached(associations, turn)
    for entry in turn.introductions.expired(at: turn.now) {
      if entry.deadline <= turn.now {
        endIntroduction(of: entry.node, entry.timedOut, told: Introductions.tooLate, turn)
      } else {
        turn.answerLateIntroducers(of: entry, associations)
      }
    }
    for node in turn.introductions.due(at: turn.now) { inviteIntroduced(node, turn) }
  }

  /// An association is over: no answer comes from there, or is awaited there.
  mutating func endIntroductions(with association: Association, _ ending: Ending, _ turn: Turn) {
    let member = association.node
    group.memberLeft(member)
    lostMember(association, ending, turn)
    let ending = Ending(ending.reason, ending.blame, "the connection to one of them is over: \(ending)", by: member)
    introducing.memberLeft(member, ending, associations, turn)
    for node in turn.introductions.introducerLeft(member) { endIntroduction(of: node, ending, turn) }
  }

  /// Nothing new begins.
  mutating func endAllIntroductions(_ ending: Ending, _ turn: Turn) {
    group.removeAll()
    introducing.endAll(ending, associations, turn)
    for node in turn.introductions.nodes { endIntroduction(of: node, ending, turn) }
  }
}
