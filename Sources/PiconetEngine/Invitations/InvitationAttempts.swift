import PiconetWire

/// Invitations of ours that have no association with their peers yet: each ends with one, or with the failure of every
/// transport.
struct InvitationAttempts: Sendable {
  /// In the order in which they were begun.
  private var attempts: [InvitationAttempt] = []

  /// What the engine has to go on with, which knows links and associations.
  enum Step: Equatable, Sendable {
    /// No transport leads to the peer. Where its node is known, a link that it has dialled may.
    case raceLost(CommandID, NodeID?)
    /// There is an association with the node: the attempt goes on there.
    case met(CommandID, NodeID)
  }

  var count: Int { attempts.count }
  var commands: [CommandID] { attempts.map(\.command) }

  func contains(node: NodeID) -> Bool { attempts.contains { $0.node == node } }

  /// Where the transports of an attempt lead.
  func addresses(of command: CommandID) -> [TransportAddress] { self[command]?.race.addresses ?? [] }

  /// Where the attempt leads that waits for this link, and by which transports.
  func addresses(dialledFor link: LinkID) -> [TransportAddress] {
    attempts.filter { $0.phase == .linking(link) }.flatMap(\.race.addresses)
  }

  /// When something is due if nothing happens before.
  var nextDeadline: Instant? {
    attempts.lazy.map { attempt in
      guard attempt.phase == .dialling, let next = attempt.race.nextDeadline else { return attempt.deadline }
      return min(next, attempt.deadline)
    }.min()
  }

  private subscript(command: CommandID) -> InvitationAttempt? { attempts.first { $0.command == command } }

  private func index(of command: CommandID) -> Int? { attempts.firstIndex { $0.command == command } }

  // MARK: Dialling

  mutating func begin(_ attempt: InvitationAttempt, _ turn: Turn) {
    attempts.append(attempt)
    if let node = attempt.node { turn.tell(turn.conditions.attemptBegan(node, name: nil)) }
  }

  /// Dials what has its turn now.
  mutating func dial(_ command: CommandID, _ turn: Turn) -> Step? {
    guard let index = index(of: command), attempts[index].phase == .dialling else { return nil }
    while let (kind, addresses) = attempts[index].race.next(at: turn.now) {
      turn.dial(kind, addresses, for: .invitation(command))
    }
    return attempts[index].race.isLost ? .raceLost(command, attempts[index].node) : nil
  }

  /// The answer to `raceLost`.
  /// - Parameter hasLink: the peer has dialled us meanwhile; its link may do.
  mutating func raceLost(_ command: CommandID, hasLink: Bool, _ turn: Turn) {
    guard let index = index(of: command) else { return }
    if hasLink {
      attempts[index].phase = .linking(nil)
    } else {
      fail(command, attempts[index].unreachable, turn)
    }
  }

  /// - Parameter holder: the node to which a link of ours keeps the address busy.
  mutating func dialFailed(
    _ command: CommandID, _ kind: TransportKind, _ failure: LinkFailure, holder: NodeID?, _ turn: Turn
  ) -> Step? {
    guard let index = index(of: command) else { return nil }
    attempts[index].race.failed(kind, failure)
    if let holder, attempts[index].phase == .dialling {
      guard let wrongKey = attempts[index].wrongKey(holder.peer) else { return .met(command, holder) }
      attempts[index].wrongKey = wrongKey
    }
    return dial(command, turn)
  }

  /// What becomes of a link that a dial has opened.
  enum Claim: Equatable, Sendable {
    case wanted
    /// It is closed: nobody waits for it any more, or it leads to somebody else.
    case unwanted(Step?)
  }

  mutating func linkOpened(_ link: Link, for command: CommandID, _ kind: TransportKind, _ turn: Turn) -> Claim {
    guard let index = index(of: command) else {
      turn.add(.closeLink(link.id, flush: false))
      return .unwanted(nil)
    }
    if let wrongKey = attempts[index].wrongKey(link.opening.peer) {
      turn.add(.closeLink(link.id, flush: false))
      attempts[index].wrongKey = wrongKey
      let address = link.opening.traits.remoteAddress
      attempts[index].race.answeredByStranger(
        kind, at: address, LinkFailure(.authentication, "\(address): \(wrongKey.detail)"))
      return .unwanted(dial(command, turn))
    }
    turn.cancelDials(for: .invitation(command))
    if attempts[index].phase == .dialling { attempts[index].phase = .linking(link.id) }
    return .wanted
  }

  // MARK: Linking

  /// What may lead to a node beside a link that has ended.
  enum Rest: Sendable {
    case association, link, nothing
  }

  /// Attempts that wait for this link, and where they lead.
  func waiting(for link: LinkID) -> [(command: CommandID, node: NodeID?)] {
    attempts.filter { $0.phase == .linking(link) }.map { ($0.command, $0.node) }
  }

  /// The link is gone that an attempt waited for.
  mutating func linkEnded(
    _ command: CommandID, to node: NodeID?, _ rest: Rest, _ ending: Ending, _ turn: Turn
  ) -> Step? {
    guard let index = index(of: command) else { return nil }
    if rest == .association, let node { return .met(command, node) }
    if rest == .link || ending.reason == .duplicateLink {
      if let node { meet(index, node, name: nil, turn) }
      attempts[index].phase = .linking(nil)
    } else {
      fail(command, ending, turn)
    }
    return nil
  }

  /// The last link of a node is gone, which attempts waited for.
  mutating func lastLinkEnded(to node: NodeID, _ ending: Ending, _ turn: Turn) {
    for attempt in attempts where attempt.phase == .linking(nil) && attempt.node == node {
      fail(attempt.command, ending, turn)
    }
  }

  /// The remote side of a link is known, and may be the node of an association by another link.
  /// - Returns: attempts by address that wait for the link.
  mutating func answered(_ link: LinkID, by node: NodeID, name: String, _ turn: Turn) -> [CommandID] {
    let indices = attempts.indices.filter { attempts[$0].phase == .linking(link) && attempts[$0].node == nil }
    for index in indices { meet(index, node, name: name, turn) }
    return indices.map { attempts[$0].command }
  }

  /// The node that an attempt by address leads to is known.
  private mutating func meet(_ index: Int, _ node: NodeID, name: String?, _ turn: Turn) {
    let former = attempts[index].node
    attempts[index].node = node
    guard former != node else { return }
    if let former { turn.tell(turn.conditions.attemptEnded(former, Ending(.restarted, .peer))) }
    turn.tell(turn.conditions.attemptBegan(node, name: name))
  }

  // MARK: The end

  /// An association with the peer has begun, on this link.
  /// - Returns: the invitation that goes on with it.
  mutating func associationBegan(_ peer: ProvenPeer, on link: LinkID, _ turn: Turn) -> OutgoingInvitation? {
    for index in attempts.indices where attempts[index].phase == .linking(link) {
      meet(index, peer.node, name: peer.name, turn)
    }
    return attempts.first { $0.node == peer.node }.flatMap { handOver($0.command, to: peer, turn) }
  }

  /// The attempt goes on with an association.
  mutating func handOver(_ command: CommandID, to peer: ProvenPeer, _ turn: Turn) -> OutgoingInvitation? {
    guard let index = index(of: command) else { return nil }
    meet(index, peer.node, name: peer.name, turn)
    turn.cancelDials(for: .invitation(command))
    return OutgoingInvitation(attempts.remove(at: index))
  }

  /// Two attempts by address have met at one node: those that did not go on are answered.
  mutating func failOthers(to node: NodeID, _ turn: Turn) {
    for attempt in attempts where attempt.node == node { fail(attempt.command, Ending(.inProgress, .us), turn) }
  }

  /// Ends an attempt: by the caller, or by time.
  /// - Returns: the link whose handshake it waited for.
  mutating func withdraw(_ command: CommandID, _ ending: Ending, _ turn: Turn) -> LinkID? {
    let phase = self[command]?.phase
    fail(command, ending, turn)
    return if case .linking(let link?) = phase { link } else { nil }
  }

  /// How an attempt ends whose time is up; nil where it is not.
  func ending(of command: CommandID, at now: Instant) -> Ending? {
    guard let attempt = self[command], attempt.deadline <= now else { return nil }
    let failures = attempt.phase == .dialling ? attempt.race.failuresInTime : attempt.race.failures
    return Ending(.timedOut, .peer, ConnectRace.describe(failures), failures: failures)
  }

  private mutating func fail(_ command: CommandID, _ ending: Ending, _ turn: Turn) {
    guard let index = index(of: command) else { return }
    let attempt = attempts.remove(at: index)
    turn.cancelDials(for: .invitation(command))
    turn.invitationFailed(command, to: attempt.node, ending, attempt.race.failures)
  }
}
