import PiconetWire

/// Invitations: which association each goes on with, who gets a place in the session, and of whom the application is
/// told.
extension SessionEngine {
  // MARK: Commands

  mutating func invite(
    _ id: CommandID, _ target: InvitationTarget, _ context: [UInt8], _ timeout: Duration, _ code: TypedCodeID?,
    _ turn: Turn
  ) {
    let destination = InvitationDestination(target, discovery)
    if let refusal = refusal(ofInvitationTo: destination, context) { return turn.reply(id, .failed(refusal)) }
    let race = ConnectRace(
      addresses: destination.addresses, preference: configuration.transports,
      headStart: configuration.transportHeadStart)
    attempts.begin(
      InvitationAttempt(
        command: id, node: destination.node, expectedPeer: destination.expectedPeer, context: context, code: code,
        formerMemberships: turn.membershipCount, deadline: turn.now + timeout, race: race), turn)
    if let remote = destination.node, associations[remote] != nil {
      goOn(id, with: remote, turn)
    } else {
      follow(attempts.dial(id, turn), turn)
    }
  }

  private func refusal(ofInvitationTo destination: InvitationDestination, _ context: [UInt8]) -> Ending? {
    if context.count > WireLimits.context {
      return Ending(.limitExceeded, .us, "the context has \(context.count) bytes; the limit is \(WireLimits.context)")
    }
    if attemptCount >= InvitationAttempt.limit {
      return Ending(.limitExceeded, .us, "\(InvitationAttempt.limit) invitations are under way")
    }
    if isFull { return configuration.full }
    guard let remote = destination.node else { return destination.unreachable }
    if remote == node { return Ending(.selfConnection, .us) }
    if invites(remote) { return Ending(.inProgress, .us) }
    if let association = associations[remote] { return association.refusalOfInvitation }
    return destination.unreachable
  }

  /// Invitations of ours that have no reply yet.
  var attemptCount: Int { attempts.count + associations.invitationCount }

  /// Whether an invitation of ours to this node is under way.
  func invites(_ remote: NodeID) -> Bool {
    attempts.contains(node: remote) || associations[remote]?.invitations.own != nil
  }

  /// Whether this command has no reply yet.
  func isInviting(by command: CommandID) -> Bool {
    attempts.commands.contains(command) || associations.inviting(by: command) != nil
  }

  /// Ends an invitation of ours before its answer.
  mutating func withdraw(_ command: CommandID, _ ending: Ending, _ turn: Turn) {
    if let association = associations.inviting(by: command) {
      association.negotiate(.withdrawn(ending), turn)
    } else if let id = attempts.withdraw(command, ending, turn), let link = links[id], link.phase != .active {
      end(link, ending, turn)
    }
  }

  mutating func withdrawInvitations(_ ending: Ending, _ turn: Turn) {
    for command in (attempts.commands + associations.inviting).sorted() { withdraw(command, ending, turn) }
  }

  // MARK: Attempts

  /// Goes on with what an attempt has come to.
  private mutating func follow(_ step: InvitationAttempts.Step?, _ turn: Turn) {
    switch step {
    case .raceLost(let command, let node):
      let hasLink = node.map { links.contains(node: $0) } ?? false
      attempts.raceLost(command, hasLink: hasLink, turn)
    case .met(let command, let node): goOn(command, with: node, turn)
    case nil: break
    }
  }

  /// There is an association with the node of an attempt.
  private mutating func goOn(_ command: CommandID, with remote: NodeID, _ turn: Turn) {
    guard let association = associations[remote],
      let invitation = attempts.handOver(command, to: association.peer, turn)
    else { return }
    negotiate(.invited(invitation), association, turn)
  }

  mutating func dialFailed(of command: CommandID, _ kind: TransportKind, _ failure: LinkFailure, _ turn: Turn) {
    // Where a device takes but one connection to a number, as with RFCOMM, a link of ours keeps the address busy.
    let holder = failure.code == .busy ? associations.dialled(kind, at: attempts.addresses(of: command)) : nil
    follow(attempts.dialFailed(command, kind, failure, holder: holder?.node, turn), turn)
  }

  /// A link that we dialled is open.
  /// - Returns: false if nobody waits for it any more, or it leads to somebody else; it is closed then.
  mutating func claim(_ link: Link, for command: CommandID, _ kind: TransportKind, _ turn: Turn) -> Bool {
    switch attempts.linkOpened(link, for: command, kind, turn) {
    case .wanted: return true
    case .unwanted(let step):
      follow(step, turn)
      return false
    }
  }

  /// It is known to whom a link leads that we dialled: where both sides have an association by another link, we go on
  /// with that, before the peer's own invitation is answered.
  mutating func answered(by remote: NodeID, _ hello: Hello, on link: Link, _ turn: Turn) {
    let commands = attempts.answered(link.id, by: remote, name: hello.name, turn)
    guard let association = associations[remote], hello.held?.id == association.id, association.activeLink != nil
    else { return }
    for command in commands { goOn(command, with: remote, turn) }
  }

  /// An association has begun: whoever waits for its node goes on with it.
  mutating func associationBegan(_ association: Association, _ turn: Turn) {
    guard let link = association.link?.id,
      let invitation = attempts.associationBegan(association.peer, on: link, turn)
    else { return }
    negotiate(.invited(invitation), association, turn)
    attempts.failOthers(to: association.node, turn)
  }

  /// A link is gone. An attempt that waited for it goes on if something else may still bring the node.
  mutating func linkEnded(_ link: Link, _ ending: Ending, _ turn: Turn) {
    // An association that one side holds is over on the other: lost, whichever of the two has said so.
    let ending = ending.reason == .noSuchAssociation ? Self.lostThere : ending
    for (command, node) in attempts.waiting(for: link.id) {
      let node = link.node ?? node
      let rest = node.map { way(to: $0) } ?? .nothing
      follow(attempts.linkEnded(command, to: node, rest, ending, turn), turn)
    }
    // Attempts that wait for any link of the node fail with the last one.
    guard let remote = link.node, ending.reason != .duplicateLink, way(to: remote) == .nothing else { return }
    attempts.lastLinkEnded(to: remote, ending, turn)
  }

  private func way(to remote: NodeID) -> InvitationAttempts.Rest {
    if associations[remote] != nil { return .association }
    return links.contains(node: remote) ? .link : .nothing
  }

  mutating func invitationDeadlines(_ turn: Turn) {
    for command in attempts.commands {
      if let ending = attempts.ending(of: command, at: turn.now) {
        withdraw(command, ending, turn)
      } else {
        follow(attempts.dial(command, turn), turn)
      }
    }
    for association in associations.invitationsDue(at: turn.now) { association.negotiate(.timedOut, turn) }
  }

  // MARK: Membership

  /// Tells an association of something about invitations, and does what it asks for on the way to membership.
  mutating func negotiate(_ fact: InvitationFact, _ association: Association, _ turn: Turn) {
    switch association.negotiate(fact, turn) {
    case .place(let entry):
      if makeRoomForMember(association.node, turn) {
        negotiate(.placeFound(entry), association, turn)
        if association.isMember { search(.linked, for: association.node, turn) }
      } else {
        negotiate(.noPlaceFound(entry), association, turn)
      }
    case .question(let other):
      // One that waits in the queue has to make room.
      if let other { associations[other]?.negotiate(.displaced, turn) }
      tellQuestions(turn)
    case .breach(let error): if let link = association.link { breach(link, error.reason, error.detail, turn) }
    case nil: break
    }
  }

  /// The same, for a command of the application.
  /// - Parameter failure: what the command gets where there is no association.
  mutating func negotiate(
    _ fact: InvitationFact, with remote: NodeID, for command: CommandID, orElse failure: Ending, _ turn: Turn
  ) {
    guard let association = associations[remote] else { return turn.reply(command, .failed(failure)) }
    negotiate(fact, association, turn)
  }

  /// The same, with whichever has asked the driver for something by this number.
  mutating func negotiate(_ fact: InvitationFact, awaiting id: CodeID, _ turn: Turn) {
    if let association = associations.awaiting(id) { negotiate(fact, association, turn) }
  }

  /// Tells the application of those whose turn it is.
  mutating func tellQuestions(_ turn: Turn) {
    for remote in turn.takeQuestions() { associations[remote]?.negotiate(.asked, turn) }
  }
}
