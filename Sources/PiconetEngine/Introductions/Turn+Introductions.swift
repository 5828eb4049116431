import PiconetWire

/// Nodes that members have introduced to us: what becomes of each is returned as the engine's next step.
///
/// A node that wants another one introduced to it by a member invites it and lets it in; where both want each other
/// their invitations cross, and both are members. So introductions add no way of becoming one.
extension Turn {
  /// The application has answered.
  func answerIntroduction(
    _ id: CommandID, _ subject: NodeID, accept: Bool, _ reason: Reason, _ terms: IntroductionTerms
  ) -> IntroductionStep? {
    guard introductions.isAsked(subject) else {
      let words = "no introduction of this node waits for an answer"
      reply(id, .failed(Ending(.noSuchAssociation, .us, words)))
      return nil
    }
    reply(id, .done)
    guard accept else { return .end(subject, Ending(reason, .us), told: Ending(reason, .us)) }
    // Nearly always one side dials, and not both.
    let delay = node < subject || terms.ways.associations[subject] != nil ? Duration.zero : .milliseconds(500)
    introductions.wait(subject, until: now + delay)
    return tryIntroduced(subject, terms)
  }

  /// A try begins, if there is a way to the node and its turn has come.
  func tryIntroduced(_ subject: NodeID, _ terms: IntroductionTerms) -> IntroductionStep? {
    guard let entry = introductions[subject], case .waiting(let next) = entry.phase else { return nil }
    let association = terms.ways.associations[subject]
    let hasLink = association != nil || terms.ways.links.contains(node: subject)
    if !hasLink, let next, now < next { return nil }
    // If its own invitation is here, the two cross at once.
    guard introductions.hasTurn(subject) || association?.invitations.isInvited == true else {
      introductions.wait(subject, until: now + .milliseconds(250))
      return nil
    }
    // What is learned of it until then counts at the next try.
    var destination = InvitationDestination(
      node: subject, expectedPeer: subject.peer, addresses: [], transports: nil, unreachable: nil)
    let full = terms.admission.full(terms.ways.associations)
    if let refusal = terms.attempts.refusal(of: destination, [], full: full, terms.ways, self) {
      return introducedFailed(subject, refusal, terms.ways.associations)
    }
    if association == nil {
      destination.addresses = takeAddresses(
        of: entry, seen: terms.surroundings.addresses(of: subject), terms.transports, terms.ways.associations)
      // It may come by itself, or be seen.
      if !hasLink, destination.addresses.isEmpty {
        // Members that may relay to it may have no link at this moment.
        introductions.wait(subject, until: terms.transports.contains(.relay) ? now + .seconds(1) : nil)
        return nil
      }
    }
    let command = takeOwnCommand()
    introductions.began(subject, command)
    return .invite(command, destination, within: min(.seconds(15), entry.deadline - now))
  }

  /// A try has failed.
  func introducedFailed(_ subject: NodeID, _ ending: Ending, _ members: AssociationTable) -> IntroductionStep? {
    if members[subject]?.isStaying == true {
      endIntroduction(of: subject, telling: nil, members)
      return nil
    }
    return introductions.triesAgain(subject, after: ending, at: now) ? nil : .end(subject, ending, told: ending)
  }

  /// The node's time is up, or that of some of its introducers.
  func introductionExpired(_ entry: Introductions.Entry, _ members: AssociationTable) -> IntroductionStep? {
    if entry.deadline <= now { return .end(entry.node, entry.timedOut, told: Introductions.tooLate) }
    answerLateIntroducers(of: entry, members)
    return nil
  }

  /// An introduced node is a member now, or it is known why it does not become one: its introducers are told.
  /// - Parameter ending: nil: it is a member.
  /// - Returns: what was known of it; nil if it was not introduced.
  @discardableResult
  func endIntroduction(of node: NodeID, telling ending: Ending?, _ members: AssociationTable) -> Introductions.Entry? {
    guard let entry = introductions[node] else { return nil }
    introductions.remove(node)
    for introducer in entry.introducers { members[introducer.node]?.answerIntroduction(of: node, ending, self) }
    return entry
  }

  /// A member takes its introduction back, which is answered too.
  func introductionWithdrawn(_ subject: NodeID, _ reason: Reason, by introducer: Association) -> IntroductionStep? {
    // It may have crossed our answer.
    guard introductions.contains(subject, by: introducer.node) else { return nil }
    let ending = Ending(reason, .peer, "the introducer took it back")
    introductions.removeIntroducer(introducer.node, of: subject)
    introducer.answerIntroduction(of: subject, ending, self)
    return introductions[subject]?.introducers.isEmpty == true ? .end(subject, ending, told: ending) : nil
  }

  /// Introducers of the node that must have an answer by now get one; it goes on by the word of the others.
  private func answerLateIntroducers(of entry: Introductions.Entry, _ members: AssociationTable) {
    for introducer in entry.introducers where introducer.deadline <= now {
      introductions.removeIntroducer(introducer.node, of: entry.node)
      members[introducer.node]?.answerIntroduction(of: entry.node, Introductions.tooLate, self)
    }
  }

  /// Where an invitation may lead to a node besides the places where discovery sees it: where members have said that it
  /// is, which counts as theirs, and last over members that relay.
  func takeAddresses(
    beyondSightOf target: InvitationTarget, _ transports: [TransportKind], _ members: AssociationTable
  ) -> [TransportAddress] {
    guard case .node(let remote, _) = target, members[remote] == nil else { return [] }
    let told = introductions.takeAddresses(of: remote, seen: [], over: transports, at: now)
    return transports.contains(.relay) && remote != node ? told + members.relayAddresses(of: remote) : told
  }

  /// Where the node is to be dialled now: where it is seen, where members have said that it is, and over those of them
  /// that relay.
  private func takeAddresses(
    of entry: Introductions.Entry, seen: [TransportAddress], _ transports: [TransportKind], _ members: AssociationTable
  ) -> [TransportAddress] {
    let addresses = introductions.takeAddresses(of: entry.node, seen: seen, over: transports, at: now)
    guard transports.contains(.relay) else { return addresses }
    let introducers = entry.introducers.map(\.node)
    return addresses
      + members.relayAddresses(of: entry.node).filter { address in
        address.relayed.map { introducers.contains($0.relay) } ?? false
      }
  }
}
