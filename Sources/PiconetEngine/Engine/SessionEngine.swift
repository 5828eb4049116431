import PiconetWire

/// The protocol as a value: facts in, effects out. It opens nothing, reads no clock, draws nothing but from its seed.
///
/// The same seed and the same facts give the same effects. Whoever drives it hands over one fact after the other, calls
/// `flush` after each batch, does what the effects say in their order, and calls back with `deadlineReached` when
/// `nextDeadline` has come.
public struct SessionEngine: ~Copyable, @unchecked Sendable {
  // Sendable is right: links, associations and the turn are objects that no copy and nobody else can reach.
  let node: NodeID
  var configuration: EngineConfiguration { didSet { watch.changed() } }
  let seed: UInt64
  /// Writes a trace; nil unless it was asked for.
  var recorder: TraceRecorder?

  var discovery: DiscoveryTable { didSet { watch.changed() } }
  /// Invitations of ours without an association.
  var attempts = InvitationAttempts() { didSet { watch.changed() } }
  var links = LinkTable() { didSet { watch.changed() } }
  var associations = AssociationTable() { didSet { watch.changed() } }
  var farewells = Farewells()
  /// Associations begun per peer.
  var begun = BegunCounts()
  var shutdown: Shutdown?
  var refusals = RefusalBudget()
  /// Strangers may come in by links of theirs.
  var isOpen = true
  /// When `deadlineReached` is due if nothing happens before; nil if nothing waits for time. It may come too early:
  /// traffic puts off when a link is looked at, and nobody is asked for that after each message.
  public private(set) var nextDeadline: Instant?
  let turn: Turn
  let watch = DeadlineWatch()

  /// - Parameters:
  ///   - configuration: validated by its maker.
  ///   - seed: of all that the engine draws: association ids.
  public init(identity: LocalIdentity, configuration: EngineConfiguration, seed: UInt64) {
    node = identity.node
    self.configuration = configuration
    self.seed = seed
    let budgets = InvitationBudgets(openQuestions: configuration.openInvitations)
    turn = Turn(identity.node, seed: seed, budgets, watch)
    discovery = DiscoveryTable(
      ownNode: identity.node, limit: configuration.sightingLimit, preference: configuration.transports)
  }

  /// Takes one fact; effects are appended in order.
  public mutating func handle(_ fact: Fact, at now: Instant, into effects: inout [Effect]) {
    let start = effects.count
    turn.begin(at: now, &effects)
    take(fact, turn)
    turn.end(&effects)
    if recorder != nil { recorder?.record(fact, at: now, effects[start...]) }
  }

  private mutating func take(_ fact: Fact, _ turn: Turn) {
    switch fact {
    case .messageQueued(let node, let message, let mode):
      if associations[node]?.queue(message, mode, turn) == true { break }
      // The association has ended meanwhile, which an event tells; the budget must not shrink by it.
      turn.add(.messagesTaken(node, byteCount: Outbox.cost(of: message)))
    case .received(let id, let bytes): if let link = links[id] { received(bytes, on: link, turn) }
    case .transmitted(let id, let count): links[id]?.transmitted(count, turn)
    case .messagesConsumed(let node, let cost): associations[node]?.messagesConsumed(cost, turn)
    case .streamWritten(let id, let bytes): turn.streamWritten(id, bytes)
    case .streamConsumed(let id, let count): turn.streamConsumed(id, count)
    case .commanded(let id, let command): handle(command, id, turn)
    case .discoveryReported(let source, let report):
      if let change = discovery.report(report, source: source) {
        turn.deliver(change.event)
        // What the table has learned may be what a search waits for.
        if let node = change.learned { search(.sighted, for: node, turn) }
      }
    case .discoveryEnded(let source): for change in discovery.sourceEnded(source) { turn.deliver(change.event) }
    case .dialFailed(let dial, let failure): dialFailed(dial, failure, turn)
    case .linkOpened(let link, let opening): opened(link, opening, turn)
    case .linkPaced(let id, let pace): links[id]?.paced(pace, turn)
    case .linkClosed(let id, let end): if let link = links[id] { closed(link, end, turn) }
    case .trustJudged(let id, let judgement): if let link = links[id] { judged(link, judgement, turn) }
    case .nonceDrawn(let id, let nonce): negotiate(.nonceDrawn(id, nonce, isFull: isFull), awaiting: id, turn)
    case .codeDerived(let id, let code): negotiate(.codeDerived(id, code), awaiting: id, turn)
    case .codeProven(let id, let finding): negotiate(.codeProven(id, finding, isFull: isFull), awaiting: id, turn)
    case .chunksRead(let id, let frames, let count):
      turn.places.association(of: id)?.chunksRead(id, frames, count, turn)
    case .sourceFinished(let id, let digest): turn.places.association(of: id)?.sourceFinished(id, digest, turn)
    case .sourceFailed(let id, let reason, let detail):
      turn.places.association(of: id)?.sourceFailed(id, Ending(reason, .us, detail), turn)
    case .chunkStored(let id, let upTo): turn.places.association(of: id)?.chunkStored(id, upTo: upTo, turn)
    case .committed(let id, let name, let wasThere):
      turn.places.association(of: id)?.committed(id, name: name, wasThere: wasThere, turn)
    case .storeRestarted(let id, let offset):
      turn.places.association(of: id)?.storeRestarted(id, offset: offset, turn)
    case .storeFailed(let id, let reason, let detail):
      turn.places.association(of: id)?.storeFailed(id, Ending(reason, .us, detail), turn)
    case .availabilityChanged(let isOpen): self.isOpen = isOpen
    case .deadlineReached: deadlineReached(turn)
    }
    turn.deliverArrived()
    if !turn.crowded.isEmpty { endCrowded(turn) }
    tellQuestions(turn)
    finishShutdown(turn)
    if watch.take() { nextDeadline = earliestDeadline }
  }

  /// Frames what is queued for links; called once after each batch of facts.
  public mutating func flush(at now: Instant, into effects: inout [Effect]) {
    guard !turn.links.isEmpty else { return }
    let start = effects.count
    turn.begin(at: now, &effects)
    if let link = turn.takeOnlyLink() {
      links[link]?.transmit(turn)
    } else {
      for link in turn.takeLinks() { links[link]?.transmit(turn) }
    }
    finishShutdown(turn)
    turn.end(&effects)
    if recorder != nil { recorder?.recordFlush(at: now, effects[start...]) }
  }

  private mutating func handle(_ command: Command, _ id: CommandID, _ turn: Turn) {
    if shutdown != nil {
      turn.reply(id, .failed(Ending(.shuttingDown, .us)))
      return
    }
    switch command {
    case .invite(let target, let context, let timeout, let code):
      invite(id, target, context, timeout, code, turn)
    case .setCode(let code):
      turn.budgets.set(code)
      turn.reply(id, .done)
    case .cancelInvitation(let attempt):
      withdraw(attempt, Ending(.cancelled, .us), turn)
      turn.reply(id, .done)
    case .answerInvitation(let node, let accept, let reason):
      let answer: InvitationFact = accept ? .accepted(id) : .declined(id, reason)
      negotiate(answer, with: node, for: id, orElse: Invitations.noInvitation, turn)
    case .showCode(let node): negotiate(.showing(id), with: node, for: id, orElse: Invitations.noInvitation, turn)
    case .confirm(let node, let isSame, let reason):
      let comparison = InvitationFact.compared(id, isSame: isSame, reason)
      negotiate(comparison, with: node, for: id, orElse: Invitations.nothingToConfirm, turn)
    case .ping(let node, let timeout):
      guard let association = associations[node] else { return turn.reply(id, .failed(Association.notConnected)) }
      association.ping(by: id, timeout, turn)
    case .cancelPing(let ping):
      for link in links.inOrder { link.cancelPing(ping, turn) }
      turn.reply(id, .done)
    case .leave(let node, let reason): leave(id, node, reason, turn)
    case .remove(let node): remove(id, node, turn)
    case .offer(let transfer, let node, let offer):
      if let association = associations[node] { return association.offer(id, transfer, offer, turn) }
      turn.add(.closeSource(transfer))
      turn.reply(id, .failed(Association.notConnected))
    case .acceptOffer(let transfer, let offset): turn.acceptOffer(id, transfer, offset: offset)
    case .declineOffer(let transfer, let reason, let detail): turn.declineOffer(id, transfer, reason, detail)
    case .cancelTransfer(let transfer, let reason):
      turn.places.association(of: transfer)?.cancelTransfer(transfer, reason, turn)
      turn.reply(id, .done)
    case .setDisconnectTimeout(let timeout): setDisconnectTimeout(id, timeout, turn)
    case .setName(let name): setName(id, name, turn)
    case .tellCompared(let transfer, let count):
      turn.places.association(of: transfer)?.tellCompared(transfer, count, turn)
      turn.reply(id, .done)
    case .pauseTransfer(let transfer, let isPaused):
      turn.places.association(of: transfer)?.pauseTransfer(transfer, isPaused, turn)
      turn.reply(id, .done)
    case .openStream(let stream, let node, let name):
      guard let association = associations[node] else { return turn.reply(id, .failed(Association.notConnected)) }
      association.openStream(id, stream, name: name, turn)
    case .finishStream(let stream): turn.finishStream(id, stream)
    case .cancelStream(let stream, let reason, let detail):
      turn.cancelStream(id, stream, Ending(reason, .us, detail))
    case .shutDown: shutDown(id, turn)
    }
  }
}
