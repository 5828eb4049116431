import PiconetWire

/// Carries out what becomes of nodes that members have introduced to us.
extension SessionEngine {
  func introductionTerms(for subject: NodeID, _ turn: Turn) -> IntroductionTerms {
    IntroductionTerms(
      attempts: attempts, ways: ways, surroundings: surroundings, full: full(for: subject, turn),
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
    // Called for each node that is sighted, of which hardly any was introduced.
    guard turn.introduced.entries[subject] != nil else { return }
    follow(turn.introduced.tried(subject, introductionTerms(for: subject, turn), turn), turn)
  }

  /// What was learned of a node may lead to one that was introduced.
  mutating func learned(of node: NodeID, _ turn: Turn) {
    if case .waiting(nil)? = turn.introduced.entries[node]?.phase { inviteIntroduced(node, turn) }
  }

  /// An introduction has failed: the introducers and the application are told why.
  private mutating func endIntroduction(of subject: NodeID, _ ending: Ending, told: Ending, _ turn: Turn) {
    guard let entry = turn.introduced.end(subject, telling: told, associations, turn) else { return }
    if case .inviting(let command) = entry.phase { withdraw(command, ending, turn) }
    // The node's own invitation may have waited for this.
    if let association = associations[subject] { negotiate(.introductionEnded, association, turn) }
    turn.deliver(.introductionEnded(subject, ending))
  }

  /// A node that was introduced, perhaps, has become a member.
  private func endIntroduction(ofMember node: NodeID, _ turn: Turn) {
    guard let entry = turn.introduced.end(node, telling: nil, associations, turn) else { return }
    for introducer in entry.introducers { associations[node]?.introduced(by: introducer.node) }
  }

  // MARK: Frames

  mutating func received(_ introduction: Introduce, from member: Association, _ turn: Turn) {
    let subject = NodeID(introduction.member)
    if let other = associations[subject], other.isMember {
      other.introduced(by: member.node)
      let ending = other.isStaying ? nil : Ending(.inProgress, .us, "we are leaving it")
      return member.answerIntroduction(of: subject, ending, turn)
    }
    let refusal = refusal(ofIntroduced: subject, by: member, turn)
    let terms = introductionTerms(for: subject, turn)
    follow(turn.introduced.received(introduction, by: member, refusal, terms, turn), turn)
  }

  private func refusal(ofIntroduced subject: NodeID, by member: Association, _ turn: Turn) -> Ending? {
    // An introduction by a member that we are leaving is ignored.
    guard member.isStaying else { return Ending(shutdown == nil ? .left : .shuttingDown, .us) }
    if introducer.wasRemoved(subject) { return Ending(.removed, .us, "it was removed from the group") }
    return hasRoom(forIntroduced: subject, turn) ? nil : configuration.full
  }

  // MARK: Time, and ends

  /// Takes note of engine-made invitations and introductions that have ended, and of nodes that have become members.
  mutating func settleIntroductions(_ turn: Turn) {
    while let (command, reply) = turn.takeOwnReply() {
      guard let entry = turn.introduced.entries.inviting(by: command) else {
        introducer.ended(command, reply, turn)
        continue
      }
      if case .failed(let ending) = reply {
        follow(turn.introduced.failed(entry.node, ending, associations, turn), turn)
      } else {
        endIntroduction(ofMember: entry.node, turn)
      }
    }
    while let node = turn.takeJoined() {
      endIntroduction(ofMember: node, turn)
      if let association = associations[node] { places.joined(association, at: turn.now) }
      turn.placesChanged()
      introducer.joined(node, surroundings, turn)
    }
  }

  mutating func introductionDeadlines(_ turn: Turn) {
    introducer.deadlineReached(associations, turn)
    for entry in turn.introduced.entries.expired(at: turn.now) {
      follow(turn.introduced.expired(entry, associations, turn), turn)
    }
    for node in turn.introduced.entries.due(at: turn.now) { inviteIntroduced(node, turn) }
    introducer.bringTogether(surroundings, turn)
  }

  /// An association is over: its node neither owes nor awaits an answer about introductions any more.
  mutating func endIntroductions(with association: Association, _ ending: Ending, _ turn: Turn) {
    let member = association.node
    let told = Ending(ending.reason, ending.blame, "the connection to one of them is over: \(ending)", by: member)
    introducer.left(association, ending, told: told, associations, turn)
    for node in turn.introduced.introducerLeft(member) { follow(.end(node, told, told: told), turn) }
  }

  /// Ends all introductions. No new ones begin.
  mutating func endAllIntroductions(_ ending: Ending, _ turn: Turn) {
    introducer.endAll(ending, associations, turn)
    for node in turn.introduced.entries.nodes { follow(.end(node, ending, told: ending), turn) }
  }
}
