import PiconetWire

/// Our own invitations that have no association with their peers yet. Each ends with one, or with the failure of every
/// transport.
struct InvitationAttempts: Sendable {
  /// In the order in which they were begun.
  private var attempts: [InvitationAttempt] = []
  /// The transports that are dialled, in order of preference.
  let transports: [TransportKind]
  private let headStart: Duration
  private var proven = ProvenAddresses()

  init(_ configuration: EngineConfiguration) {
    transports = configuration.transports
    headStart = configuration.transportHeadStart
  }

  /// An attempt that has led to an association, on which its invitation continues.
  struct Arrival {
    let invitation: OutgoingInvitation
    let association: Association
  }

  var count: Int { attempts.count }
  var commands: [CommandID] { attempts.map(\.command) }

  func contains(node: NodeID) -> Bool { attempts.contains { $0.node == node } }

  /// Whether an attempt may still lead to any peer: it dials an address, and does not know yet which key answers there.
  var isDiallingAnybody: Bool {
    attempts.contains { $0.node == nil && $0.expectedPeer == nil && $0.phase == .dialling }
  }

  /// Returns whether an attempt by address is meant for this key: the key is the expected one, or has answered on a
  /// link that we dialled.
  func leads(to peer: PeerID, _ links: LinkTable) -> Bool {
    attempts.contains { attempt in
      guard attempt.node == nil else { return false }
      if attempt.expectedPeer == peer { return true }
      guard case .linking(let link?) = attempt.phase else { return false }
      return links[link]?.opening.peer == peer
    }
  }

  /// Returns the command of the engine's own attempt to invite this node; nil if there is no such attempt.
  func own(for node: NodeID) -> CommandID? { attempts.first { $0.node == node && $0.command.isOwn }?.command }

  /// Returns the addresses, over all transports, of the attempt that made this link. They were given for one device.
  /// Without such an attempt, these are the link's own addresses; no address for a link that a search or the peer
  /// has dialled.
  func addressesDialled(for link: Link) -> [TransportAddress] {
    guard link.isDialler else { return [] }
    let attempted = attempts.filter { $0.phase == .linking(link.id) }.flatMap(\.race.addresses)
    return attempted.isEmpty && link.searchedFor == nil
      ? [TransportAddress(kind: link.opening.traits.kind, text: link.opening.traits.remoteAddress)] : attempted
  }

  /// The time at which something is due if nothing happens before.
  var nextDeadline: Instant? { attempts.lazy.map(\.nextDeadline).min() }

  private func index(of command: CommandID) -> Int? { attempts.firstIndex { $0.command == command } }

  private func index(waitingFor link: Link) -> Int? { attempts.firstIndex { $0.phase == .linking(link.id) } }

  // MARK: Beginning

  /// Returns why an attempt to invite this peer can't begin; nil if it can.
  func refusal(
    of destination: InvitationDestination, _ context: [UInt8], _ surroundings: Surroundings, _ turn: Turn
  ) -> Ending? {
    if context.count > WireLimits.context {
      return Ending(.limitExceeded, .us, "the context has \(context.count) bytes; the limit is \(WireLimits.context)")
    }
    if count + surroundings.associations.invitationCount >= InvitationAttempt.limit {
      return Ending(.limitExceeded, .us, "\(InvitationAttempt.limit) invitations are under way")
    }
    if let full = surroundings.admission.full(for: destination.node, surroundings.associations, turn) { return full }
    guard let remote = destination.node else { return destination.unreachable }
    if remote == turn.node { return Ending(.selfConnection, .us) }
    if contains(node: remote) { return Ending(.inProgress, .us) }
    if let association = surroundings.associations[remote] { return association.refusalOfInvitation }
    return destination.unreachable
  }

  /// Begins an attempt, with a race of transports unless there is an association with the node already.
  mutating func begin(
    _ caller: Caller<ResultKind.Connected>, _ destination: InvitationDestination, _ context: [UInt8],
    _ timeout: Duration, _ code: TypedCodeID?, _ surroundings: Surroundings, _ turn: Turn
  ) -> Arrival? {
    attempts.append(
      InvitationAttempt(
        caller: caller, node: destination.node, expectedPeer: destination.expectedPeer, context: context, code: code,
        formerMemberships: turn.membershipCount, deadline: turn.now + timeout, transports: destination.transports,
        takesOthers: destination.takesOthers,
        lookedForUntil: destination.takesOthers && !caller.command.isOwn ? turn.now + InvitationAttempt.lookTime : nil,
        race: ConnectRace(
          addresses: destination.addresses, others: proven.first(destination.others, of: destination.expectedPeer),
          preference: transports, headStart: headStart)))
    if let node = destination.node {
      turn.tell(turn.conditions.attemptBegan(node, name: nil))
      if let association = surroundings.associations[node] { return handOver(caller.command, to: association, turn) }
    }
    dial(caller.command, surroundings, turn)
    return nil
  }

  // MARK: Dialling

  /// Dials the transports whose turn it is.
  private mutating func dial(_ command: CommandID, _ surroundings: Surroundings, _ turn: Turn) {
    guard let index = index(of: command), attempts[index].phase == .dialling else { return }
    while let (kind, addresses) = attempts[index].race.next(at: turn.now) {
      turn.dial(kind, addresses, for: .invitation(command))
    }
    guard attempts[index].isLost(at: turn.now) else { return }
    if let node = attempts[index].node, surroundings.links.contains(node: node) {
      // The peer has dialled us meanwhile, and its link is sufficient.
      attempts[index].phase = .linking(nil)
    } else {
      fail(command, attempts[index].unreachable, turn)
    }
  }

  /// Reacts to a node that has come in sight, or was seen at new addresses. Attempts that dial it, or another node of
  /// its key, may reach the key there.
  mutating func learned(of node: NodeID, _ surroundings: Surroundings, _ turn: Turn) {
    let concerned = attempts.filter { attempt in
      attempt.phase == .dialling && attempt.transports != nil
        && (attempt.node == node || attempt.takesOthers && attempt.node?.peer == node.peer)
    }
    if concerned.isEmpty { return }
    let addresses = surroundings.addresses(of: node)
    for command in concerned.map(\.command) {
      guard let index = index(of: command), let transports = attempts[index].transports else { continue }
      attempts[index].race.learned(
        addresses.filter { transports.contains($0.kind) }, ofOthers: attempts[index].node != node, at: turn.now)
      dial(command, surroundings, turn)
    }
  }

  /// Notes that a link that we dialled has proven this key, and said hello.
  mutating func proved(_ link: Link) {
    if link.isDialler { proven.note(link.opening.peer, at: link.opening.traits) }
  }

  /// Notes that a link has broken whose association goes on.
  mutating func broke(_ link: Link) {
    if link.isDialler { proven.forget(link.opening.peer, at: link.opening.traits) }
  }

  mutating func dialFailed(
    _ command: CommandID, _ dial: DialTable.Dial, _ failure: LinkFailure, at address: String?,
    _ surroundings: Surroundings,
    _ turn: Turn
  ) -> Arrival? {
    guard let index = index(of: command) else { return nil }
    let kind = dial.kind
    attempts[index].race.failed(kind, dial.addresses, failure, at: address)
    // If a device takes only one connection per channel, as with RFCOMM, our own link keeps the address busy.
    if failure.code == .busy, attempts[index].phase == .dialling,
      let holder = surroundings.associations.dialled(kind, at: attempts[index].race.addresses)
    {
      let wrongKey = attempts[index].wrongKey(holder.node.peer)
      if wrongKey == nil { return handOver(command, to: holder, turn) }
      attempts[index].wrongKey = wrongKey
    }
    self.dial(command, surroundings, turn)
    return nil
  }

  /// Takes over a link that a dial has opened.
  /// - Returns: false if nothing waits for the link any more, or if it leads to another peer. It is then closed.
  mutating func linkOpened(
    _ link: Link, for command: CommandID, _ dial: DialTable.Dial, _ surroundings: Surroundings, _ turn: Turn
  ) -> Bool {
    guard let index = index(of: command) else {
      turn.add(.closeLink(link.id, flush: false))
      return false
    }
    if let wrongKey = attempts[index].wrongKey(link.opening.peer) {
      turn.add(.closeLink(link.id, flush: false))
      attempts[index].wrongKey = wrongKey
      let address = link.opening.traits.remoteAddress
      attempts[index].race.answeredByStranger(
        dial.kind, dial.addresses, at: address, LinkFailure(.authentication, "\(address): \(wrongKey.detail)"))
      self.dial(command, surroundings, turn)
      return false
    }
    turn.cancelDials(for: .invitation(command))
    if attempts[index].phase == .dialling { attempts[index].phase = .linking(link.id) }
    return true
  }

  // MARK: Links

  /// Handles the end of a link. An attempt that waited for it continues if something else may still lead to the node.
  mutating func linkEnded(_ link: Link, _ ending: Ending, _ surroundings: Surroundings, _ turn: Turn) -> Arrival? {
    guard let index = index(waitingFor: link) else { return nil }
    let node = link.node ?? attempts[index].node
    if let association = node.flatMap({ surroundings.associations[$0] }) {
      return handOver(attempts[index].command, to: association, turn)
    }
    if ending.reason == .duplicateLink || node.map({ surroundings.links.contains(node: $0) }) ?? false {
      if let node { meet(index, node, name: nil, turn) }
      attempts[index].phase = .linking(nil)
    } else {
      dialAgain(attempts[index].command, after: link, ending, surroundings, turn)
    }
    return nil
  }

  /// Dials again after an attempt's last link is gone. If that link broke, the addresses that the attempt has not tried
  /// yet are dialled.
  private mutating func dialAgain(
    _ command: CommandID, after link: Link, _ ending: Ending, _ surroundings: Surroundings, _ turn: Turn
  ) {
    guard let index = index(of: command) else { return }
    guard ending.reason == .linkFailed, ending.blame == .link else { return fail(command, ending, turn) }
    let traits = link.opening.traits
    attempts[index].race.winnerBroke(traits.kind, at: traits.remoteAddress, ending.detail)
    if attempts[index].race.isLost { return fail(command, ending, turn) }
    attempts[index].phase = .dialling
    dial(command, surroundings, turn)
  }

  /// Handles the loss of a node's last link for attempts that wait for any link of it.
  mutating func lastEnded(_ link: Link, _ ending: Ending, _ surroundings: Surroundings, _ turn: Turn) {
    guard let node = link.node, ending.reason != .duplicateLink, surroundings.associations[node] == nil,
      !surroundings.links.contains(node: node)
    else { return }
    for attempt in attempts where attempt.phase == .linking(nil) && attempt.node == node {
      dialAgain(attempt.command, after: link, ending, surroundings, turn)
    }
  }

  /// Handles a hello that shows which node is at the other end of a link that we dialled. If both sides have an
  /// association over another link, an attempt by address continues with it, before the peer's own invitation is
  /// answered.
  mutating func answered(_ link: Link, _ surroundings: Surroundings, _ turn: Turn) -> Arrival? {
    guard let node = link.node, let hello = link.hello, let index = index(waitingFor: link),
      attempts[index].node == nil
    else { return nil }
    meet(index, node, name: hello.name, turn)
    guard let association = surroundings.associations[node], hello.held?.id == association.id,
      association.activeLink != nil
    else { return nil }
    return handOver(attempts[index].command, to: association, turn)
  }

  /// Notes the node that an attempt by address leads to.
  private mutating func meet(_ index: Int, _ node: NodeID, name: String?, _ turn: Turn) {
    let former = attempts[index].node
    attempts[index].node = node
    guard former != node else { return }
    if let former { turn.tell(turn.conditions.attemptEnded(former, Ending(.restarted, .peer))) }
    turn.tell(turn.conditions.attemptBegan(node, name: name))
  }

  // MARK: End

  /// Hands an association that has begun or resumed to an attempt that waits for its link or its node.
  mutating func associationBegan(_ association: Association, _ turn: Turn) -> Arrival? {
    guard let link = association.link else { return nil }
    if let index = index(waitingFor: link) { meet(index, association.node, name: association.peer.name, turn) }
    let waiting = attempts.filter { $0.node == association.node }
    // The application's attempt takes precedence over the engine's own.
    let first = waiting.first { !$0.command.isOwn } ?? waiting.first
    return first.flatMap { handOver($0.command, to: association, turn) }
  }

  private mutating func handOver(_ command: CommandID, to association: Association, _ turn: Turn) -> Arrival? {
    guard let index = index(of: command) else { return nil }
    meet(index, association.node, name: association.peer.name, turn)
    turn.cancelDials(for: .invitation(command))
    return Arrival(invitation: OutgoingInvitation(attempts.remove(at: index)), association: association)
  }

  /// Fails the remaining attempts by address if several have led to one node.
  mutating func failOthers(to node: NodeID, _ turn: Turn) {
    for attempt in attempts where attempt.node == node { fail(attempt.command, Ending(.inProgress, .us), turn) }
  }

  /// Ends an attempt because the caller wants it or its time is up.
  /// - Returns: the link that served only this attempt, which must be ended.
  mutating func withdraw(_ command: CommandID, _ ending: Ending, _ surroundings: Surroundings, _ turn: Turn) -> Link? {
    guard let index = index(of: command) else { return nil }
    let phase = attempts[index].phase
    fail(command, ending, turn)
    guard case .linking(let id?) = phase, let link = surroundings.links[id], link.phase != .active else { return nil }
    return link
  }

  /// Handles the passing of time for an attempt: dials the next transports, or ends the attempt.
  /// - Returns: the link that served only this attempt, which must be ended, and why.
  mutating func timePassed(_ command: CommandID, _ surroundings: Surroundings, _ turn: Turn) -> (
    link: Link, ending: Ending
  )? {
    guard let index = index(of: command) else { return nil }
    guard attempts[index].deadline <= turn.now else {
      dial(command, surroundings, turn)
      return nil
    }
    let ending = attempts[index].timedOut
    return withdraw(command, ending, surroundings, turn).map { ($0, ending) }
  }

  private mutating func fail(_ command: CommandID, _ ending: Ending, _ turn: Turn) {
    guard let index = index(of: command) else { return }
    let attempt = attempts.remove(at: index)
    turn.cancelDials(for: .invitation(command))
    turn.invitationFailed(attempt.caller, to: attempt.node, ending, attempt.race.failures)
  }
}
