import PiconetWire

/// Associations that outlive their links: suspended with the loss of one, resumed upon another.
extension SessionEngine {
  static let lostThere = Ending(.linkFailed, .link, "the other side lost the connection")

  /// Whether an association goes on without its link.
  func outlives(_ association: Association, _ ending: Ending) -> Bool {
    guard association.isDurable, configuration.disconnectTimeout > .zero, shutdown == nil else { return false }
    // Whoever has said goodbye waits for the far side to close the link.
    return association.leaving?.isTold != true || ending.blame != .peer
  }

  /// Whether somebody may dial us for an association: as long as it is so, a node that hides goes on listening.
  public var expectsMembers: Bool {
    configuration.disconnectTimeout > .zero && shutdown == nil
      && associations.values.contains { $0.isDurable && !isUnused($0) }
  }

  /// The association's link is gone.
  mutating func suspend(
    _ association: Association, on link: Link, _ cause: Ending, _ turn: Turn
  ) {
    detach(association, turn)
    if association.suspension == nil {
      association.suspension = Suspension(cause: cause, lastHeard: link.lastReceived, since: turn.now)
      if association.isMember { turn.deliver(.suspended(association.node, cause)) }
    }
    // A link that the far side has opened meanwhile may do.
    if node < association.node,
      let other = links.values.filter({ $0.node == association.node && $0.phase == .ready }).min(by: { $0.id < $1.id })
    {
      ready(other, turn)
    }
    if associations[association.node] === association, association.suspension != nil {
      beginSearch(association, isDialler: link.isDialler, turn)
    }
  }

  /// Nothing of what is under way on the link counts any more: it is sent again on the next one.
  private mutating func detach(_ association: Association, _ turn: Turn) {
    exchangeLostLink(association, turn)
    proofsLostLink(association, turn)
    association.dropBacklog()
    turn.deadlinesMoved = true
    association.dropChunksUnderWay()
  }

  /// Why an association that the far side holds is over.
  func reasonGone(_ remote: NodeID, _ held: AssociationID?, _ now: Instant) -> Reason {
    farewells.reason(for: remote, holding: held, at: now) ?? .noSuchAssociation
  }

  /// A member that is left while it has no link can be told only when it comes back; so can one that our goodbye has
  /// not reached.
  mutating func noteFarewell(to association: Association, _ ending: Ending, _ now: Instant) {
    guard association.isDurable, association.isMember, ending.blame != .peer, shutdown == nil else { return }
    let reason: Reason
    switch ReasonClass(ending.reason) {
    case .left: reason = .left
    case .removed: reason = .removed
    case .lost, .broken, .refused: return
    }
    // The silence that its hello told is half of its timeout.
    let patience = Duration.milliseconds(2 * Int64(clamping: min(association.limits.silence, 43_200_000)))
    farewells.note(
      Farewells.Farewell(association: association.id, reason: reason, until: now + patience), to: association.node,
      limit: configuration.associationLimit, at: now)
  }

  // MARK: The smaller node, which decides

  /// Whether the association is to go on upon a link whose handshake is complete.
  func goesOn(_ association: Association, on link: Link, _ hello: Hello) -> Bool {
    guard association.isDurable, hello.capabilities.contains(.resume) else { return false }
    let isHeld = hello.held?.id == association.id
    guard let current = association.link else {
      // A hello that does not even count the association was sent before the far side had it.
      return isHeld || association.remoteBegun.map { hello.associationsBegun < $0 } ?? true
    }
    return isHeld && current.phase == .active && isBetter(link, than: current)
  }

  /// The far side holds the association and has opened another link, perhaps because it has lost the one that we take
  /// for good. That link is asked for a sign of life, and the new one waits for what comes of it.
  /// - Returns: false if the new link has nothing to wait for.
  mutating func waits(_ link: Link, beside association: Association, _ turn: Turn) -> Bool {
    guard association.isDurable, link.hello?.held?.id == association.id, let current = association.link else {
      return false
    }
    if current.phase == .active {
      let token = current.pings.begin(nil, at: turn.now)
      link.probe = Link.Probe(token: token, ends: turn.now + probeTime)
      turn.deadlinesMoved = true
      current.queue(.ping(token))
      turn.flush(current)
    }
    return true
  }

  /// How long a link may take for its sign of life before another takes its place.
  private var probeTime: Duration { min(.seconds(1), configuration.silence(isDurable: true) / 8) }

  /// The active link lives: those that wait for the contrary are not used.
  mutating func probeAnswered(_ token: UInt64, on link: Link, _ turn: Turn) {
    guard link.phase == .active else { return }
    let waiting = links.values.filter { $0.node == link.node && $0.probe?.token == token }
    for other in waiting.sorted(by: { $0.id < $1.id }) {
      refuse(other, .duplicateLink, "", turn)
    }
  }

  /// The active link has given no sign of life.
  mutating func probeEnded(_ link: Link, _ turn: Turn) {
    link.probe = nil
    guard let remote = link.node, let association = associations[remote], association.link?.phase == .active
    else { return }
    resume(association, on: link, turn)
  }

  /// Asks the far side to go on upon this link.
  mutating func resume(
    _ association: Association, on link: Link, _ turn: Turn
  ) {
    leave(linkOf: association, for: link, turn)
    link.probe = nil
    link.phase = .resuming
    link.queue(.associate(association.id, received: association.received))
    turn.flush(link)
  }

  /// The far side has answered that it goes on.
  mutating func receivedAssociated(_ received: UInt64, _ begun: UInt64, on link: Link, _ turn: Turn) {
    guard link.phase == .resuming, let remote = link.node, let association = associations[remote] else { return }
    // With another count it has begun anew with what we take for old.
    guard association.remoteBegun ?? begun == begun, received >= association.acknowledged else {
      return end(association, Self.lostThere, turn)
    }
    guard received <= association.sent else {
      return breach(link, .protocolBroken, "has received frames that were not sent", turn)
    }
    association.remoteBegun = begun
    if received == 0, let limits = link.hello?.limits { association.agree(on: link, limits) }
    activate(association, on: link, received, turn)
    let others = links.values.filter { $0.node == remote && $0.phase == .ready }
    for other in others.sorted(by: { $0.id < $1.id }) { refuse(other, .duplicateLink, "", turn) }
  }

  // MARK: The larger node

  /// The far side wants to go on upon this link with an association that we have.
  mutating func takeOver(
    _ association: Association, _ received: UInt64, on link: Link, _ turn: Turn
  ) {
    guard association.isDurable, received <= association.sent else {
      breach(link, .protocolBroken, "has received frames that were not sent", turn)
      end(association, Ending(.protocolBroken, .peer), turn)
      return
    }
    guard received >= association.acknowledged else {
      end(association, Self.lostThere, turn)
      refuse(link, .noSuchAssociation, "", turn)
      return
    }
    leave(linkOf: association, for: link, turn)
    link.queue(.associated(received: association.received, begun: begun[association.node.peer]))
    activate(association, on: link, received, turn)
  }

  // MARK: Both

  /// The association has another link from now on; what still comes on the former one does not count.
  private mutating func leave(
    linkOf association: Association, for link: Link, _ turn: Turn
  ) {
    let former = association.link
    association.link = link
    if let former, former !== link { end(former, Ending(.duplicateLink, .nobody), turn) }
    detach(association, turn)
  }

  private mutating func activate(
    _ association: Association, on link: Link, _ received: UInt64, _ turn: Turn
  ) {
    link.phase = .active
    link.association = association
    association.suspension = nil
    association.hasResumed = true
    association.judgement = link.judgement
    endSearch(association, turn)
    association.peer.traits = link.opening.traits
    association.dialled = merged(association.dialled, addressesDialled(for: link))
    association.inbox.resize(UInt64(configuration.messageWindow(on: link.opening.traits)))
    association.resumed(remoteHas: received)
    association.restateTransfers(turn)
    turn.flush(link)
    turn.deadlinesMoved = true
    if association.isMember { turn.deliver(.resumed(association.node, link.opening.traits)) }
    lookForBetter(association, turn)
    associationBegan(association, turn)
  }

  // MARK: Time

  mutating func setDisconnectTimeout(
    _ id: CommandID, _ timeout: Duration, _ turn: Turn
  ) {
    guard EngineConfiguration.isDisconnectTimeout(timeout) else {
      turn.reply(id, .failed(Ending(.limitExceeded, .us, EngineConfiguration.disconnectTimeoutRule)))
      return
    }
    configuration.disconnectTimeout = timeout
    turn.deadlinesMoved = true
    for remote in associations.keys.sorted() {
      if let association = associations[remote] { suspensionDeadline(association, turn) }
    }
    turn.reply(id, .done)
  }

  /// When a suspended association ends, or its search goes on.
  func suspensionDeadline(of association: Association) -> Instant? {
    let end = association.suspension.map { $0.lastHeard + configuration.disconnectTimeout }
    guard let search = searchDeadline(of: association) else { return end }
    return end.map { min($0, search) } ?? search
  }

  mutating func suspensionDeadline(_ association: Association, _ turn: Turn) {
    if let suspension = association.suspension, suspension.lastHeard + configuration.disconnectTimeout <= turn.now {
      let timeout = configuration.disconnectTimeout
      let ending =
        timeout == .zero
        ? suspension.cause
        : Ending(
          .timedOut, suspension.cause.blame == .peer ? .peer : .link,
          "no way to the peer for \(timeout.inWords); before, \(suspension.cause)")
      end(association, ending, turn)
      return
    }
    continueSearch(association, turn)
  }
}

extension Association {
  /// The far side has received nothing yet, and perhaps begun with the hellos of this link rather than with those of
  /// the one on which we have: what either of them may mean is taken, and no more is sent than both allow.
  fileprivate func agree(on link: Link, _ limits: PeerLimits) {
    let window = UInt64(configuration.firstStreamWindow(on: link.opening.traits))
    streams.incomingWindow = max(streams.incomingWindow, window)
    streams.outgoingWindow = min(streams.outgoingWindow, limits.streamWindow)
    if !isMember { outbox.limit = min(outbox.limit, limits.messageWindow) }
  }
}
