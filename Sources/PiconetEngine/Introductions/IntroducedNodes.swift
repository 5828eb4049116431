import PiconetWire

/// The nodes that members have introduced to us. Their functions return the engine's next step for a node.
///
/// If we accept an introduced node, we invite it and let it in. If both nodes accept each other, their invitations
/// cross, and both become members. So introductions add no new way to become a member.
///
/// This is an object that the engine has and `Turn` lends. Associations read it, and only its own functions change it.
/// The field skips the exclusivity check for the reason given at `Association`.
final class IntroducedNodes {
  @exclusivity(unchecked) private(set) var entries = Introductions() { didSet { watch.changed() } }
  /// Removed nodes; introductions of them are refused.
  private var tombstones = Tombstones()
  private var hasEnded = false
  /// Told of changes to what `nextDeadline` depends on.
  private let watch: DeadlineWatch

  init(_ watch: DeadlineWatch) { self.watch = watch }

  // MARK: Introducers

  /// Takes an introduction by a member.
  /// - Returns: the next step; nil if the introducer has its answer, or the application is asked.
  func received(
    _ introduction: Introduce, by introducer: Association, _ surroundings: Surroundings, _ turn: Turn
  ) -> IntroductionStep? {
    let subject = introduction.member
    let hints = introduction.addresses.compactMap { $0.address(near: introducer.reachedHosts) }
    if let member = surroundings.associations[subject], member.isMember {
      member.introduced(by: introducer.node)
      var told = AddressHints(limit: WireLimits.introducedAddresses)
      told.add(hints, by: introducer.node.peer)
      member.told(told, surroundings, turn)
      let ending = member.isStaying ? nil : Ending(.inProgress, .us, "we are leaving it")
      introducer.answerIntroduction(of: subject, ending, turn)
      return nil
    }
    if let refusal = refusal(of: subject, by: introducer, surroundings, turn) {
      introducer.answerIntroduction(of: subject, refusal, turn)
      return nil
    }
    let displaced = makeRoom(for: subject, by: introducer.node, surroundings.associations, turn)
    switch entries.add(introduction, by: introducer.node, hints: hints, at: turn.now) {
    case .new(let node): turn.deliver(.introductionReceived(node))
    case .known: return .tryNow(subject)
    case .refused(let ending): introducer.answerIntroduction(of: subject, ending, turn)
    }
    return displaced
  }

  /// Makes room for an introducer with fewer introductions: the one with the most loses a place.
  private func makeRoom(
    for subject: NodeID, by introducer: NodeID, _ members: AssociationTable, _ turn: Turn
  ) -> IntroductionStep? {
    guard entries[subject] == nil, let node = entries.crowding(out: introducer) else { return nil }
    let ending = Ending(.limitExceeded, .us, "\(Introductions.limit) introduced nodes wait, most of them of one member")
    return end(node, ending, told: ending, members, turn)
  }

  private func refusal(
    of subject: NodeID, by introducer: Association, _ surroundings: Surroundings, _ turn: Turn
  ) -> Ending? {
    // An introduction by a member that we are leaving is ignored.
    guard introducer.isStaying else { return Ending(hasEnded ? .shuttingDown : .left, .us) }
    if tombstones.refuses(subject, by: introducer.node.peer) {
      return Ending(.removed, .us, "it was removed from the group")
    }
    return surroundings.admission.full(forIntroduced: subject, surroundings.associations, turn)
      ?? entries.refusal(of: subject, by: introducer.node)
  }

  /// Removes a member that has left, and waits for no answer any more.
  /// - Returns: the nodes whose introductions end with that.
  func introducerLeft(_ introducer: NodeID) -> [NodeID] { entries.introducerLeft(introducer) }

  /// Prepares the end of all introductions; no new ones begin.
  /// - Returns: the nodes whose introductions must be ended.
  func endAll() -> [NodeID] {
    hasEnded = true
    return entries.nodes
  }

  // MARK: Removed nodes

  /// - Parameter member: the member that wanted the removal; nil if we did.
  func removed(_ node: NodeID, by member: PeerID?) { tombstones.insert(node, by: member) }

  func wasRemoved(_ node: NodeID) -> Bool { tombstones.contains(node) }

  // MARK: Steps

  /// Takes the application's answer.
  func answer(
    _ id: CommandID, _ subject: NodeID, accept: Bool, _ reason: Reason, _ members: AssociationTable, _ turn: Turn
  ) -> IntroductionStep? {
    guard entries.isAsked(subject) else {
      let words = "no introduction of this node waits for an answer"
      turn.reply(id, .failed(Ending(.noSuchAssociation, .us, words)))
      return nil
    }
    turn.reply(id, .done)
    guard accept else {
      return end(subject, Ending(reason, .us), told: Ending(reason, .us), members, turn)
    }
    // One of the two sides waits, so that nearly always only one dials.
    let delay = turn.node < subject || members[subject] != nil ? Duration.zero : .milliseconds(500)
    entries.wait(subject, until: turn.now + delay)
    return .tryNow(subject)
  }

  /// Reacts to news of a node, which may lead to the node if it was introduced.
  func learned(of node: NodeID) -> IntroductionStep? {
    guard case .waiting(nil)? = entries[node]?.phase else { return nil }
    return .tryNow(node)
  }

  /// Begins a try if there is a route to the node and its turn has come.
  func tried(
    _ subject: NodeID, _ attempts: InvitationAttempts, _ surroundings: Surroundings, _ turn: Turn
  ) -> IntroductionStep? {
    guard let entry = entries[subject], case .waiting(let next) = entry.phase else { return nil }
    let association = surroundings.associations[subject]
    let hasLink = association != nil || surroundings.links.contains(node: subject)
    if !hasLink, let next, turn.now < next { return nil }
    // If the node's own invitation has arrived, the two cross at once.
    guard entries.hasTurn(subject) || association?.invitations.isInvited == true else {
      entries.wait(subject, until: turn.now + .milliseconds(250))
      return nil
    }
    // News of the node until then counts at the next try.
    var destination = InvitationDestination(
      node: subject, expectedPeer: subject.peer, addresses: [], transports: nil, unreachable: nil)
    if let refusal = attempts.refusal(of: destination, [], surroundings, turn) {
      return failed(subject, refusal, surroundings.associations, turn)
    }
    if association == nil {
      destination.addresses = takeAddresses(
        of: entry, seen: surroundings.addresses(of: subject), attempts.transports, surroundings.associations, turn)
      // The node may connect by itself, or be seen.
      if !hasLink, destination.addresses.isEmpty {
        // Members that may relay to it may have no link at the moment.
        entries.wait(subject, until: attempts.transports.contains(.relay) ? turn.now + .seconds(1) : nil)
        return nil
      }
    }
    let command = turn.takeOwnCommand()
    entries.began(subject, command)
    return .invite(command, destination, within: min(.seconds(15), entry.deadline - turn.now))
  }

  /// Returns whether an attempt may continue with the association that it has led to. An attempt for an introduced node
  /// fails if another run of the node answers, which was not introduced.
  func accepts(_ arrival: InvitationAttempts.Arrival, _ turn: Turn) -> Bool {
    let (invitation, node) = (arrival.invitation, arrival.association.node)
    if !invitation.command.isOwn || entries.inviting(by: invitation.command)?.node == node { return true }
    invitation.fail(Ending(.restarted, .peer, "another run of it answers there"), to: node, turn)
    return false
  }

  /// Takes the answer to a command of the engine's own. If the command was a try, the try is over.
  func ended(
    _ command: CommandID, _ reply: Reply, _ surroundings: Surroundings, _ turn: Turn
  ) -> IntroductionStep? {
    guard let subject = entries.inviting(by: command)?.node else { return nil }
    if case .failed(let ending) = reply { return failed(subject, ending, surroundings.associations, turn) }
    becameMember(subject, surroundings, turn)
    return nil
  }

  private func failed(
    _ subject: NodeID, _ ending: Ending, _ members: AssociationTable, _ turn: Turn
  ) -> IntroductionStep? {
    if members[subject]?.isStaying == true {
      end(subject, telling: nil, members, turn)
      return nil
    }
    if entries.triesAgain(subject, after: ending, at: turn.now) { return nil }
    return end(subject, ending, told: ending, members, turn)
  }

  /// Handles the end of the node's time, or of the time of some of its introducers.
  func expired(
    _ entry: Introductions.Entry, _ members: AssociationTable, _ turn: Turn
  ) -> IntroductionStep? {
    if entry.deadline <= turn.now {
      return end(entry.node, entry.timedOut, told: Introductions.tooLate, members, turn)
    }
    answerLateIntroducers(of: entry, members, turn)
    return nil
  }

  /// Notes that a node has become a member, perhaps by an introduction.
  func joined(_ node: NodeID, _ surroundings: Surroundings, _ turn: Turn) {
    tombstones.remove(node)
    becameMember(node, surroundings, turn)
  }

  private func becameMember(_ node: NodeID, _ surroundings: Surroundings, _ turn: Turn) {
    guard let entry = end(node, telling: nil, surroundings.associations, turn),
      let member = surroundings.associations[node]
    else { return }
    for introducer in entry.introducers { member.introduced(by: introducer.node) }
    member.told(entry.hints, surroundings, turn)
  }

  /// Ends the introduction of a node, which does not become a member by it.
  /// - Parameters:
  ///   - ending: the ending for the application.
  ///   - told: the ending for its introducers.
  func end(
    _ node: NodeID, _ ending: Ending, told: Ending, _ members: AssociationTable, _ turn: Turn
  ) -> IntroductionStep? {
    end(node, telling: told, members, turn).map { .ended($0, ending) }
  }

  /// Ends the introduction of a node that is now a member, or that does not become one. Tells those of its introducers
  /// that are still members.
  /// - Parameter ending: why the node does not become a member; nil if it is one.
  /// - Returns: the entry of the node; nil if the node was not introduced.
  @discardableResult
  private func end(
    _ node: NodeID, telling ending: Ending?, _ members: AssociationTable, _ turn: Turn
  ) -> Introductions.Entry? {
    guard let entry = entries[node] else { return nil }
    entries.remove(node)
    for introducer in entry.introducers { members[introducer.node]?.answerIntroduction(of: node, ending, turn) }
    return entry
  }

  /// Handles a member's withdrawal of its introduction, which is answered too.
  func withdrawn(
    _ subject: NodeID, _ reason: Reason, by introducer: Association, _ members: AssociationTable, _ turn: Turn
  ) -> IntroductionStep? {
    // The withdrawal may have crossed our answer.
    guard entries.contains(subject, by: introducer.node) else { return nil }
    let ending = Ending(reason, .peer, "the introducer took it back")
    entries.removeIntroducer(introducer.node, of: subject)
    introducer.answerIntroduction(of: subject, ending, turn)
    guard entries[subject]?.introducers.isEmpty == true else { return nil }
    return end(subject, ending, told: ending, members, turn)
  }

  /// Answers the introducers of the node whose time is up. The introduction continues on the word of the others.
  private func answerLateIntroducers(
    of entry: Introductions.Entry, _ members: AssociationTable, _ turn: Turn
  ) {
    for introducer in entry.introducers where introducer.deadline <= turn.now {
      entries.removeIntroducer(introducer.node, of: entry.node)
      members[introducer.node]?.answerIntroduction(of: entry.node, Introductions.tooLate, turn)
    }
  }

  /// Returns the addresses for an invitation of a node, besides those where discovery sees it. First come those that
  /// members have named, which count as theirs, and last those over members that relay.
  func takeAddresses(
    beyondSightOf remote: NodeID, over transports: [TransportKind], _ members: AssociationTable, _ turn: Turn
  ) -> [TransportAddress] {
    guard members[remote] == nil else { return [] }
    let told = entries.takeAddresses(of: remote, seen: [], over: transports, at: turn.now)
    return transports.contains(.relay) && remote != turn.node ? told + members.relayAddresses(of: remote) : told
  }

  /// Returns whether an address may be dialled that only these members name. It counts as theirs.
  func pays(for sources: [PeerID], _ turn: Turn) -> Bool { entries.pays(for: sources, at: turn.now) }

  /// Returns the addresses at which the node is to be dialled now: where it is seen, where members have said that it
  /// is, and over those of these members that relay.
  private func takeAddresses(
    of entry: Introductions.Entry, seen: [TransportAddress], _ transports: [TransportKind], _ members: AssociationTable,
    _ turn: Turn
  ) -> [TransportAddress] {
    let addresses = entries.takeAddresses(of: entry.node, seen: seen, over: transports, at: turn.now)
    guard transports.contains(.relay) else { return addresses }
    let relays = entry.introducers.filter(\.relays).map(\.node)
    return addresses
      + members.relayAddresses(of: entry.node).filter { address in
        address.relayed.map { relays.contains($0.relay) } ?? false
      }
  }
}
