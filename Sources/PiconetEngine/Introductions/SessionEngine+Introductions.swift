import PiconetWire

/// Members that are introduced to one another: by us, and to us.
///
/// Whoever wants a node that a member has introduced invites it and lets it in; where both want each other their
/// invitations cross, and both are members. So an introduction adds nothing to the ways of becoming one.
extension SessionEngine {
  // MARK: Ours

  mutating func introduce(
    _ id: CommandID, _ first: NodeID, to second: NodeID, within timeout: Duration, _ turn: Turn
  ) {
    do throws(Ending) {
      guard first != second, let one = associations[first], let other = associations[second], one.isStaying,
        other.isStaying
      else { throw Ending(.noSuchAssociation, .us, "only two members can be introduced to one another") }
      guard one.takesIntroductions, other.takesIntroductions else {
        throw Ending(.notSupported, .peer, "one of them takes no introductions")
      }
      guard timeout > .zero, timeout <= Introductions.longestTime else {
        throw Ending(.limitExceeded, .us, "an introduction stands for more than 0 s, and at most 300 s")
      }
      // The answers come a little later.
      try introducing.begin(id, first, second, until: turn.now + timeout + configuration.leaveTimeout)
      one.introduce(other, timeout: timeout, surroundings, turn)
      other.introduce(one, timeout: timeout, surroundings, turn)
    } catch {
      turn.reply(id, .failed(error))
    }
  }

  mutating func cancelIntroduction(_ id: CommandID, _ introduction: CommandID, _ turn: Turn) {
    if let pair = introducing.take(introduction) { end(pair, Ending(.cancelled, .us), turn) }
    turn.reply(id, .done)
  }

  /// A member has answered.
  mutating func introductionAnswered(
    by member: Association, about node: NodeID, _ ending: Ending?, on link: Link, _ turn: Turn
  ) {
    do throws(Breach) {
      let decided = try introducing.answered(by: member.node, about: node, ending)
      answerClosedIntroductions(turn)
      guard let pair = decided else { return }
      guard var ending else { return turn.reply(pair.command, .done) }
      ending.by = member.node
      withdraw(pair, ending.reason, turn)
      // Answered once the other one has answered, too, so that another introduction of the two may follow.
      introducing.close(pair, ending, until: turn.now + configuration.leaveTimeout)
      answerClosedIntroductions(turn)
    } catch {
      breach(link, error, turn)
    }
  }

  /// Two members are not brought together: whoever has not answered yet is told, and answers that.
  mutating func end(_ pair: OutgoingIntroductions.Pair, _ ending: Ending, _ turn: Turn) {
    if pair.ending == nil { withdraw(pair, ending.reason, turn) }
    turn.reply(pair.command, .failed(pair.ending ?? ending))
  }

  private func withdraw(_ pair: OutgoingIntroductions.Pair, _ reason: Reason, _ turn: Turn) {
    for member in [pair.first, pair.second] where introducing.owes(member, about: pair.other(than: member)) {
      let other = pair.other(than: member)
      associations[member]?.send(.withdrawIntroduction(other.memberName, reason), turn)
    }
  }

  private mutating func answerClosedIntroductions(_ turn: Turn) {
    for (pair, ending) in introducing.takeClosed() { turn.reply(pair.command, .failed(ending)) }
  }

  // MARK: To us

  mutating func received(_ introduction: Introduce, from introducer: Association, _ turn: Turn) {
    let subject = NodeID(introduction.member)
    if let member = associations[subject], member.isMember {
      let ending = member.isStaying ? nil : Ending(.inProgress, .us, "we are leaving it")
      return introducer.answerIntroduction(of: subject, ending, turn)
    }
    // Who is on its way out has no say any more.
    guard introducer.isStaying else {
      return introducer.answerIntroduction(of: subject, Ending(shutdown == nil ? .left : .shuttingDown, .us), turn)
    }
    if let refusal = refusal(ofIntroduced: subject, turn) {
      return introducer.answerIntroduction(of: subject, refusal, turn)
    }
    if turn.introductions[subject] == nil, let refusal = tooMany(by: introducer, turn) {
      return introducer.answerIntroduction(of: subject, refusal, turn)
    }
    let milliseconds = Duration.milliseconds(Int64(clamping: min(introduction.timeout, 86_400_000)))
    let deadline = turn.now + min(milliseconds, Introductions.longestTime)
    let hints = introduction.addresses.compactMap { $0.address(near: introducer.reachedHosts) }
    switch turn.introductions.add(subject, by: introducer.node, at: hints, until: deadline) {
    case nil:
      let ending = Ending(.limitExceeded, .us, "\(Introductions.limit) introduced nodes wait already")
      introducer.answerIntroduction(of: subject, ending, turn)
    case true?:
      turn.deliver(
        .introductionReceived(
          IntroducedNode(node: subject, name: introduction.name, by: introducer.node, expires: deadline)))
    case false?: inviteIntroduced(subject, turn)
    }
  }

  private func refusal(ofIntroduced subject: NodeID, _ turn: Turn) -> Ending? {
    if tombstones.contains(subject) { return Ending(.removed, .us, "it was removed from the group") }
    return hasRoomForMember(subject, turn.now) ? nil : configuration.full
  }

  private func tooMany(by introducer: Association, _ turn: Turn) -> Ending? {
    let limit = WireLimits.unansweredIntroductions
    guard turn.introductions.count(becauseOf: introducer.node.peer) >= limit else { return nil }
    return Ending(.limitExceeded, .us, "\(limit) nodes that it introduced wait already")
  }

  mutating func introductionWithdrawn(_ subject: NodeID, _ reason: Reason, by introducer: Association, _ turn: Turn) {
    // It may have crossed our answer.
    guard turn.introductions.contains(subject, by: introducer.node) else { return }
    let ending = Ending(reason, .peer, "the introducer took it back")
    turn.introductions.removeIntroducer(introducer.node, of: subject)
    introducer.answerIntroduction(of: subject, ending, turn)
    if turn.introductions[subject]?.introducers.isEmpty == true { endIntroduction(of: subject, ending, turn) }
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
    // Where its own is here the two cross at once.
    guard turn.introductions.hasTurn(subject) || associations[subject]?.invitations.isInvited == true else {
      return turn.introductions.wait(subject, until: turn.now + .milliseconds(250))
    }
    // What is learned of it until then counts at the next try.
    var destination = InvitationDestination(
      node: subject, expectedPeer: subject.peer, addresses: [], transports: nil, unreachable: nil)
    if let refusal = attempts.refusal(of: destination, [], full: isFull ? configuration.full : nil, ways, turn) {
      return introducedFailed(subject, refusal, turn)
    }
    if associations[subject] == nil {
      destination.addresses = turn.introductions.takeAddresses(
        of: subject, seen: discovery.summary(of: subject)?.addresses ?? [], over: configuration.transports, at: turn.now
      )
      if configuration.transports.contains(.relay) {
        let introducers = entry.introducers.map(\.node)
        destination.addresses += associations.relayAddresses(of: subject).filter { address in
          address.relayed.map { introducers.contains($0.relay) } ?? false
        }
      }
      // It may come by itself, or be seen.
      if !hasLink, destination.addresses.isEmpty {
        // Whoever may relay to it may have no link at this moment.
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

  /// Invitations of the engine's own have ended, or somebody has become a member.
  mutating func settleIntroductions(_ turn: Turn) {
    while let (command, reply) = turn.takeOwnReply() {
      guard let entry = turn.introductions.inviting(by: command) else {
        groupIntroductionEnded(command, reply, turn)
        continue
      }
      if case .failed(let ending) = reply {
        introducedFailed(entry.node, ending, turn)
      } else {
        introducedJoined(entry.node, turn)
      }
    }
    while let node = turn.takeJoined() {
      tombstones.remove(node)
      introducedJoined(node, turn)
      joinedGroup(node, turn)
    }
  }

  private mutating func introducedJoined(_ subject: NodeID, _ turn: Turn) {
    guard let entry = turn.introductions[subject] else { return }
    turn.introductions.remove(subject)
    for introducer in entry.introducers {
      associations[introducer.node]?.answerIntroduction(of: subject, nil, turn)
    }
  }

  private mutating func introducedFailed(_ subject: NodeID, _ ending: Ending, _ turn: Turn) {
    if associations[subject]?.isStaying == true { return introducedJoined(subject, turn) }
    guard let entry = turn.introductions[subject] else { return }
    // We may be leaving the node, and be introduced to it again.
    let isLeaving = ending.reason == .alreadyConnected && ending.blame == .us
    guard isLeaving || mayPass(ending.reason) else { return endIntroduction(of: subject, ending, turn) }
    let pause = Duration.seconds(Int64(1) << min(entry.tries, 3))
    turn.introductions.wait(subject, until: turn.now + pause, after: ending)
  }

  /// Whether another try may succeed: the other side may still be asked whether it wants us.
  func mayPass(_ reason: Reason) -> Bool {
    switch ReasonClass(reason) {
    case .lost: reason != .restarted
    // A code was on the screen there because our invitation had come before the introduction, and the link was lost.
    case .refused: reason == .notAvailable || reason == .codeMismatch
    case .left: [.cancelled, .inProgress, .idle].contains(reason)
    case .removed, .broken: false
    }
  }

  /// The node does not become a member by the word of others: they and the application are told why.
  /// - Parameter told: what the others are told instead.
  mutating func endIntroduction(of subject: NodeID, _ ending: Ending, told: Ending? = nil, _ turn: Turn) {
    guard let entry = turn.introductions[subject] else { return }
    turn.introductions.remove(subject)
    for introducer in entry.introducers {
      associations[introducer.node]?.answerIntroduction(of: subject, told ?? ending, turn)
    }
    if case .inviting(let command) = entry.phase { withdraw(command, ending, turn) }
    // The node's own invitation may have waited for this.
    if let association = associations[subject] { negotiate(.introductionEnded, association, turn) }
    turn.deliver(.introductionEnded(subject, ending))
  }

  // MARK: Time, and ends

  mutating func introductionDeadlines(_ turn: Turn) {
    for pair in introducing.takeExpired(at: turn.now) {
      let silent = [pair.first, pair.second].filter { introducing.owes($0, about: pair.other(than: $0)) }
      let one = silent.count == 1 ? silent.first : nil
      end(pair, Ending(.timedOut, .peer, "no answer to the introduction in time", by: one), turn)
    }
    for entry in turn.introductions.expired(at: turn.now) {
      if entry.deadline <= turn.now {
        endIntroduction(of: entry.node, entry.timedOut, told: Introductions.tooLate, turn)
        continue
      }
      for introducer in entry.introducers where introducer.deadline <= turn.now {
        turn.introductions.removeIntroducer(introducer.node, of: entry.node)
        associations[introducer.node]?.answerIntroduction(of: entry.node, Introductions.tooLate, turn)
      }
    }
    for node in turn.introductions.due(at: turn.now) { inviteIntroduced(node, turn) }
  }

  /// An association is over: nobody answers, or waits for an answer, there.
  mutating func endIntroductions(with association: Association, _ ending: Ending, _ turn: Turn) {
    let member = association.node
    group.memberLeft(member)
    lostMember(association, ending, turn)
    let ending = Ending(ending.reason, ending.blame, "the connection to one of them is over: \(ending)", by: member)
    for pair in introducing.memberLeft(member) { end(pair, ending, turn) }
    for node in turn.introductions.introducerLeft(member) { endIntroduction(of: node, ending, turn) }
  }

  /// Nothing new begins.
  mutating func endAllIntroductions(_ ending: Ending, _ turn: Turn) {
    group.removeAll()
    for pair in introducing.removeAll() { end(pair, ending, turn) }
    for node in turn.introductions.nodes { endIntroduction(of: node, ending, turn) }
  }
}
