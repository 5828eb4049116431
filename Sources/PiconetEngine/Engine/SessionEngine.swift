import PiconetWire

/// The protocol as a value: facts in, effects out. It opens nothing, reads no clock, and draws random numbers only from
/// its seed.
///
/// The same seed and the same facts give the same effects. The driver passes on one fact after the other, calls `flush`
/// after each batch, and carries out the effects in their order. It calls `deadlineReached` when `nextDeadline` has
/// come.
public struct SessionEngine: ~Copyable, @unchecked Sendable {
  // `Sendable` is right: only the engine reaches its links, associations and turn, which are objects, and it is never
  // copied.
  let node: NodeID
  var configuration: EngineConfiguration { didSet { watch.changed() } }
  let seed: UInt64
  /// Writes a trace; nil unless requested.
  var recorder: TraceRecorder?

  var discovery: DiscoveryTable { didSet { watch.changed() } }
  /// Our own invitations to peers that have no association with us yet.
  var attempts: InvitationAttempts { didSet { watch.changed() } }
  var links = LinkTable() { didSet { watch.changed() } }
  var associations: AssociationTable { didSet { watch.changed() } }
  var shutdown: Shutdown?
  /// Decides which nodes may connect, and whether there is room for them.
  var admission: Admission
  var introducer: Introducer
  var removals: Removals
  /// Tunnels between our members through this node.
  var relayed: RelayedTunnels
  /// When `deadlineReached` is due if nothing happens before; nil if nothing waits for time. It may be too early:
  /// traffic delays deadlines, and the owners are not asked again after each message.
  public private(set) var nextDeadline: Instant?
  /// Whether any peer may dial us. While one may, the driver listens. A driver asks each round, so the value is
  /// computed together with `nextDeadline`.
  public private(set) var expectsAnybody = false
  let turn: Turn
  let watch = DeadlineWatch()
  /// Leaves out the time in which the process did not run.
  private(set) var time = AwakeTime()

  /// - Parameters:
  ///   - configuration: already validated.
  ///   - seed: for everything that the engine draws, such as association ids.
  public init(identity: LocalIdentity, configuration: EngineConfiguration, seed: UInt64) {
    node = identity.node
    self.configuration = configuration
    self.seed = seed
    turn = Turn(identity.node, seed: seed, InvitationBudgets(openQuestions: configuration.openInvitations), watch)
    introducer = Introducer(configuration, watch)
    removals = Removals(configuration, watch)
    relayed = RelayedTunnels(configuration.relaying, watch)
    attempts = InvitationAttempts(configuration)
    admission = Admission(identity.node, configuration, watch)
    associations = AssociationTable(limit: configuration.associationLimit)
    discovery = DiscoveryTable(identity.node, configuration)
  }

  /// Whether a peer may dial us although we are hidden: a peer that is expected by its key, or that a member has
  /// introduced.
  public var expectsPeers: Bool { admission.expectsPeers(turn.introduced) }

  /// Whether a peer may come to resume an association. While one may, a hidden node continues to listen.
  public var expectsMembers: Bool { admission.expectsMembers(associations) }

  /// Whether links in tunnels may begin here, or lead to us.
  var takesTunnels: Bool { configuration.transports.contains(.relay) && shutdown == nil }

  var surroundings: Surroundings {
    Surroundings(
      links: links, associations: associations, discovery: discovery, admission: admission, budgets: turn.budgets)
  }

  /// Takes one fact and appends the effects in order.
  public mutating func handle(_ fact: Fact, at now: Instant, into effects: inout [Effect]) {
    let start = effects.count
    begin(at: now, &effects)
    take(fact, turn)
    turn.end(&effects)
    if recorder != nil { recorder?.record(fact, at: now, effects[start...]) }
  }

  private mutating func begin(at clock: Instant, _ effects: inout [Effect]) {
    let wasAsleep = time.pass(to: clock, due: nextDeadline)
    turn.begin(at: time.time(at: clock), &effects)
    if wasAsleep { awoke(turn) }
  }

  /// Takes a fact. A fact or command about a link, a transfer or a peer that has ended meanwhile does nothing: the
  /// driver could not know yet, and was told of the end.
  private mutating func take(_ fact: Fact, _ turn: Turn) {
    switch fact {
    case .messageQueued(let node, let message, let mode, let channel):
      if associations[node]?.queue(message, mode, in: channel, turn) == true { break }
      // The association has ended meanwhile, which an event has reported. The budget must not shrink because of it.
      turn.add(.messagesTaken(node, byteCount: Outbox.cost(of: message), in: channel))
    case .received(let id, let bytes): if let link = links[id] { received(bytes, on: link, turn) }
    case .transmitted(let id, let count): links[id]?.transmitted(count, turn)
    case .messagesConsumed(let node, let cost, let channel):
      associations[node]?.messagesConsumed(cost, in: channel, turn)
    case .streamWritten(let id, let bytes): turn.streamWritten(id, bytes)
    case .streamConsumed(let id, let count): turn.streamConsumed(id, count)
    case .commanded(let id, let command): handle(command, id, turn)
    case .tunnelWanted(let id, let relay, let remote):
      Association.openTunnel(
        id, over: associations[relay], to: remote, associations, isWanted: takesTunnels, turn)
    case .tunnelWritten(let id, let bytes): turn.tunnelWritten(id, bytes)
    case .tunnelConsumed(let id, let count): turn.tunnelConsumed(id, count)
    case .tunnelClosed(let id, let isAborted): turn.tunnelClosed(id, isAborted: isAborted)
    case .discoveryReported(let source, let report):
      // A search may have been waiting for this news.
      if let node = discovery.report(report, source: source, turn) {
        search(.sighted, for: node, turn)
        attempts.learned(of: node, surroundings, turn)
        follow(turn.introduced.learned(of: node), turn)
      }
    case .discoveryEnded(let source): for change in discovery.sourceEnded(source) { turn.deliver(change.event) }
    case .dialFailed(let dial, let failure, let address): dialFailed(dial, failure, at: address, turn)
    case .linkOpened(let link, let opening): opened(link, opening, turn)
    case .linkPaced(let id, let pace): links[id]?.paced(pace, turn)
    case .linkClosed(let id, let end): if let link = links[id] { forget(link, end.ending, isOnlyLink: true, turn) }
    case .forgiven(let digits): turn.budgets.forgive(digits)
    case .trustJudged(let id, let judgement): if let link = links[id] { judged(link, judgement, turn) }
    case .nonceDrawn(let id, let nonce):
      if compare(.nonceDrawn(id, nonce), awaiting: id, turn) { break }
      negotiate(.nonceDrawn(id, nonce, isFull: admission.isFull(awaiting: id, associations, turn)), awaiting: id, turn)
    case .codeDerived(let id, let code):
      if compare(.codeDerived(id, code), awaiting: id, turn) { break }
      negotiate(.codeDerived(id, code), awaiting: id, turn)
    case .codeProven(let id, let finding):
      negotiate(
        .codeProven(id, finding, isFull: admission.isFull(awaiting: id, associations, turn)), awaiting: id, turn)
    case .chunksRead(let id, let frames, let count):
      turn.handles[id]?.chunksRead(id, frames, count, turn)
    case .sourceFinished(let id, let digest): turn.handles[id]?.sourceFinished(id, digest, turn)
    case .sourceFailed(let id, let reason, let detail):
      turn.handles[id]?.sourceFailed(id, Ending(reason, .us, detail), turn)
    case .chunkStored(let id, let upTo): turn.handles[id]?.chunkStored(id, upTo: upTo, turn)
    case .committed(let id, let name, let wasAlreadyPresent):
      turn.handles[id]?.committed(id, name: name, wasAlreadyPresent: wasAlreadyPresent, turn)
    case .storeRestarted(let id, let offset):
      turn.handles[id]?.storeRestarted(id, offset: offset, turn)
    case .storeFailed(let id, let reason, let detail):
      turn.handles[id]?.storeFailed(id, Ending(reason, .us, detail), turn)
    case .availabilityChanged(let isOpen): admission.setOpen(isOpen)
    case .listeningChanged(let ports):
      if turn.setListening(ports) { for association in associations.inOrder { association.tellListening(turn) } }
    case .deadlineReached: deadlineReached(turn)
    }
    turn.deliverArrived()
    if !admission.undecided.isEmpty { judgeUndecided(turn) }
    while turn.hasToSettle || turn.hasCrowded {
      settleIntroductions(turn)
      relayed.settle(associations, turn)
      admission.settlePlaces(associations, turn)
      endCrowded(turn)
    }
    if turn.budgets.hasQuestions { tellQuestions(turn) }
    shutdown?.finish(links, associations, turn)
    if watch.take() { lookAhead() }
  }

  /// Asks all owners again, since some of the watched state has changed.
  private mutating func lookAhead() {
    nextDeadline = earliestDeadline
    expectsAnybody = expectsPeers || expectsMembers
  }

  private mutating func received(_ bytes: Bytes, on link: Link, _ turn: Turn) {
    link.received(bytes, turn)
    guard let association = link.association else { return decode(link, turn) }
    let moved = association.movedCount
    decode(link, turn)
    if association.movedCount != moved { association.moved(turn.now) }
  }

  /// Decodes frames until no whole frame is left, the link is gone, or the driver has to answer first.
  mutating func decode(_ link: Link, _ turn: Turn) {
    do throws(Breach) {
      while let request = try link.takeReceived(turn) { try answer(request, on: link, turn) }
    } catch {
      breach(link, error, turn)
    }
  }

  private static let relayRounds = 2

  /// Frames the data queued for links; called once after each batch of facts.
  public mutating func flush(at now: Instant, into effects: inout [Effect]) {
    guard !turn.links.isEmpty else { return }
    let start = effects.count
    begin(at: now, &effects)
    if let link = turn.takeOnlyLink() {
      links[link]?.transmit(turn)
    } else {
      for link in turn.takeLinks() { links[link]?.transmit(turn) }
    }
    // Relayed data gives its senders credit, which goes with the same flush if it can.
    for _ in 0..<Self.relayRounds where turn.hasToSettle || turn.hasCrowded {
      relayed.settle(associations, turn)
      admission.settlePlaces(associations, turn)
      endCrowded(turn)
      for link in turn.takeLinks() { links[link]?.transmit(turn) }
    }
    shutdown?.finish(links, associations, turn)
    if watch.take() { lookAhead() }
    turn.end(&effects)
    if recorder != nil { recorder?.recordFlush(at: now, effects[start...]) }
  }

  private mutating func handle(_ command: Command, _ id: CommandID, _ turn: Turn) {
    if shutdown != nil { return turn.reply(id, .failed(Ending(.shuttingDown, .us))) }
    switch command {
    case .answerInvitation(let node, let accept, let reason):
      ask(node, .answerInvitation(accept: accept, reason), id, turn)
    case .showCode(let node): ask(node, .showCode, id, turn)
    case .confirm(let node, let isSame, let reason): ask(node, .confirm(isSame: isSame, reason), id, turn)
    case .compareCodes(let node, let timeout): compare(node, .compare(timeout: timeout), id, turn)
    case .answerComparison(let node, let isSame, let reason):
      compare(node, .answer(isSame: isSame, reason), id, turn)
    case .cancelComparison(let comparison): cancelComparison(id, comparison, turn)
    case .ping(let node, let timeout): ask(node, .ping(timeout: timeout), id, turn)
    case .offer(let transfer, let node, let resource): ask(node, .offer(transfer, resource), id, turn)
    case .openStream(let stream, let node, let name): ask(node, .openStream(stream, name: name), id, turn)
    case .acceptOffer(let transfer, let offset): turn.acceptOffer(id, transfer, offset: offset)
    case .declineOffer(let transfer, let reason, let detail): turn.declineOffer(id, transfer, reason, detail)
    case .cancelTransfer(let transfer, let reason): turn.cancelTransfer(id, transfer, reason)
    case .tellCompared(let transfer, let count): turn.tellCompared(id, transfer, count)
    case .pauseTransfer(let transfer, let isPaused): turn.pauseTransfer(id, transfer, isPaused)
    case .finishStream(let stream): turn.finishStream(id, stream)
    case .cancelStream(let stream, let reason, let detail):
      turn.cancelStream(id, stream, Ending(reason, .us, detail))
    case .invite(let target, let context, let timeout, let code):
      invite(Caller(id), target, context, timeout, code, turn)
    case .cancelInvitation(let attempt): cancelInvitation(id, attempt, turn)
    case .setCode(let code):
      turn.budgets.set(code)
      turn.reply(id, .done)
    case .cancelPing(let ping):
      for link in links.inOrder { link.cancelPing(ping, turn) }
      turn.reply(id, .done)
    case .leave(let node, let reason): leave(id, node, reason, turn)
    case .remove(let node): follow(removals.remove(id, node, associations, turn), turn)
    case .setDisconnectTimeout(let timeout):
      guard configuration.setDisconnectTimeout(id, timeout, turn) else { break }
      for link in links.values { link.setDisconnectTimeout(timeout) }
      for association in associations.values { association.setDisconnectTimeout(timeout) }
      for association in associations.inOrder { search(.timePassed, for: association.node, turn) }
      turn.reply(id, .done)
    case .setName(let name): configuration.setName(id, name, turn)
    case .expect(let peer, let duration): admission.expect(id, peer, for: duration, turn)
    case .stopExpecting(let peer): admission.stopExpecting(id, peer, turn)
    case .introduce(let first, let second, let timeout):
      introducer.introduce(id, first, to: second, within: timeout, surroundings, turn)
    case .cancelIntroduction(let introduction): introducer.cancel(id, introduction, associations, turn)
    case .answerIntroduction(let node, let accept, let reason):
      follow(turn.introduced.answer(id, node, accept: accept, reason, associations, turn), turn)
    case .shutDown: shutDown(id, turn)
    }
  }

  private mutating func ask(_ node: NodeID, _ command: PeerCommand, _ id: CommandID, _ turn: Turn) {
    guard let association = associations[node] else { return Association.refuse(command, id, turn) }
    follow(association.take(command, id, admission.groupView(associations), turn), of: association, turn)
  }
}
