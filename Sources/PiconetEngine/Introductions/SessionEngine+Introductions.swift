import PiconetWire

/// Nodes that members have introduced to us: carries out what becomes of each.
extension SessionEngine {
  var introductionTerms: IntroductionTerms {
    IntroductionTerms(
      attempts: attempts, ways: ways, surroundings: surroundings, admission: admission,
      transports: configuration.transports)
  }

  mutating func follow(_ step: IntroductionStep?, _ turn: Turn) {
    switch step {
    case .invite(let command, let destination, let time):
      goOn(attempts.begin(command, destination, [], time, nil, ways, turn), turn)
    case .end(let subject, let ending, let told): endIntroduction(of: subject, ending, told: told, turn)
    case nil: break
    }
  }

  /// Invites a node that was introduced, if there is a way to it and its turn has come.
  mutating func inviteIntroduced(_ subject: NodeID, _ turn: Turn) {
    // Asked for each node that is sighted: nearly none was introduced.
    guard turn.introductions[subject] != nil else { return }
    follow(turn.tryIntroduced(subject, introductionTerms), turn)
  }

  /// What was learned of a node may lead to one that was introduced.
  mutating func learned(of node: NodeID, _ turn: Turn) {
    if case .waiting(nil)? = turn.introductions[node]?.phase { inviteIntroduced(node, turn) }
  }

  /// The node does not become a member by the word of others: they and the application are told why.
  private mutating func endIntroduction(of subject: NodeID, _ ending: Ending, told: Ending, _ turn: Turn) {
    guard let entry = turn.endIntroduction(of: subject, telling: told, associations) else { return }
    if case .inviting(let command) = entry.phase { withdraw(command, ending, turn) }
    // The node's own invitation may have waited for this.
    if let association = associations[subject] { negotiate(.introductionEnded, association, turn) }
    turn.deliver(.introductionEnded(subject, ending))
  }

  // MARK: Frames

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
    if self.introducer.wasRemoved(subject) { return Ending(.removed, .us, "it was removed from the group") }
    guard admission.hasRoom(forMember: subject, associations, at: turn.now) else { return configuration.full }
    return turn.introductions.refusal(of: subject, by: introducer.node)
  }

  // MARK: Time, and ends

  /// The engine's own invitations and introductions have ended, or a node has become a member.
  mutating func settleIntroductions(_ turn: Turn) {
    while let (command, reply) = turn.takeOwnReply() {
      guard let entry = turn.introductions.inviting(by: command) else {
        introducer.ended(command, reply, turn)
        continue
      }
      if case .failed(let ending) = reply {
        follow(turn.introducedFailed(entry.node, ending, associations), turn)
      } else {
        turn.endIntroduction(of: entry.node, telling: nil, associations)
      }
    }
    while let node = turn.takeJoined() {
      turn.endIntroduction(of: node, telling: nil, associations)
      introducer.joined(node, surroundings, turn)
    }
  }

  mutating func introductionDeadlines(_ turn: Turn) {
    introducer.deadlineReached(associations, turn)
    for entry in turn.introductions.expired(at: turn.now) {
      follow(turn.introductionExpired(entry, associations), turn)
    }
    for node in turn.introductions.due(at: turn.now) { inviteIntroduced(node, turn) }
    introducer.bringTogether(surroundings, turn)
  }

  /// An association is over: no answer comes from there, or is awaited there.
  mutating func endIntroductions(with association: Association, _ ending: Ending, _ turn: Turn) {
    let member = association.node
    let told = Ending(ending.reason, ending.blame, "the connection to one of them is over: \(ending)", by: member)
    introducer.left(association, ending, told: told, associations, turn)
    for node in turn.introductions.introducerLeft(member) { follow(.end(node, told, told: told), turn) }
  }

  /// Nothing new begins.
  mutating func endAllIntroductions(_ ending: Ending, _ turn: Turn) {
    introducer.endAll(ending, associations, turn)
    for node in turn.introductions.nodes { follow(.end(node, ending, told: ending), turn) }
  }
}
