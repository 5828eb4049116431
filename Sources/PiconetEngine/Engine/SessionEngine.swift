import PiconetWire

/// The protocol as a value: facts in, effects out. It opens nothing, reads no clock, draws nothing but from its seed.
///
/// The same seed and the same facts give the same effects. Whoever drives it hands over one fact after the other, calls `flush` after
/// each batch, does what the effects say in their order, and calls back with `deadlineReached` when `nextDeadline` has come.
public struct SessionEngine: ~Copyable, @unchecked Sendable {
  // Sendable is right: links and associations are objects that no copy and nobody else can reach.
  let node: NodeID
  var configuration: EngineConfiguration
  let seed: UInt64
  var random: SeededRandom
  /// Writes a trace; nil unless it was asked for.
  var recorder: TraceRecorder?

  var discovery: DiscoveryTable
  var attempts: [InvitationAttempt] = []
  /// Dials under way, and the attempt that each serves.
  var dials: [DialID: (command: CommandID, kind: TransportKind)] = [:]
  /// Dials under way for an association that looks for another link.
  var searchDials: [DialID: (node: NodeID, kind: TransportKind)] = [:]
  var links: InlineFirstDictionary<LinkID, Link> = [:]
  var associations: InlineFirstDictionary<NodeID, Association> = [:]
  var farewells = Farewells()
  /// Associations begun per peer.
  var begun = BegunCounts()
  var outgoing: [TransferID: OutgoingTransfer] = [:]
  var incoming: [TransferID: IncomingTransfer] = [:]
  var streamPlaces: [StreamID: StreamPlace] = [:]

  var nextDial: UInt64 = 1
  var nextIncoming = TransferID.firstIncoming
  var nextIncomingStream = StreamID.firstIncoming
  var shutdown: Shutdown?
  var refusals = RefusalBudget()
  /// Invitations of others, and how often who is not known may ask.
  var questions = QuestionQueue()
  var tries = CodeTries()
  var nextCode: UInt64 = 1
  /// Codes that are typed: that of ours, and others' that our invitations prove.
  var codeTries = TypedCodeTries()
  var codesGiven = GivenCodeTries()
  /// Strangers may come in by links of theirs.
  var isOpen = true
  /// When `deadlineReached` is due if nothing happens before; nil if nothing waits for time. It may come too early, when
  /// what it was for has moved on: looking at everything after every fact would cost more than a turn for nothing.
  public private(set) var nextDeadline: Instant?
  /// Between two facts: what the next turn begins with.
  private var carried = Turn()

  struct Shutdown: Sendable {
    var command: CommandID
    var isFinished = false
  }

  /// - Parameters:
  ///   - configuration: validated by its maker.
  ///   - seed: of all that the engine draws: association ids.
  public init(identity: LocalIdentity, configuration: EngineConfiguration, seed: UInt64) {
    node = identity.node
    self.configuration = configuration
    self.seed = seed
    random = SeededRandom(seed: seed)
    questions.limits.open = configuration.openInvitations
    discovery = DiscoveryTable(
      ownNode: identity.node, limit: configuration.sightingLimit, preference: configuration.transports)
  }

  /// Takes one fact; effects are appended in order.
  public mutating func handle(_ fact: Fact, at now: Instant, into effects: inout [Effect]) {
    let start = effects.count
    var turn = Turn()
    swap(&turn, &carried)
    turn.begin(at: now, &effects)
    take(fact, &turn)
    turn.end(&effects)
    swap(&turn, &carried)
    if recorder != nil { recorder?.record(fact, at: now, effects[start...]) }
  }

  private mutating func take(_ fact: Fact, _ turn: inout Turn) {
    switch fact {
    case .messageQueued(let node, let message, let mode): queue(message, to: node, mode, &turn)
    case .received(let link, let bytes): received(bytes, on: link, &turn)
    case .transmitted(let link, let count): transmitted(count, on: link, &turn)
    case .messagesConsumed(let node, let cost): consumed(cost, from: node, &turn)
    case .streamWritten(let stream, let bytes): streamWritten(stream, bytes, &turn)
    case .streamConsumed(let stream, let count): streamConsumed(stream, count, &turn)
    case .commanded(let id, let command): handle(command, id, &turn)
    case .discoveryReported(let source, let report):
      if let change = discovery.report(report, source: source) {
        deliver(change, &turn)
        lookAgain(change, &turn)
      }
    case .discoveryEnded(let source): for change in discovery.sourceEnded(source) { deliver(change, &turn) }
    case .dialFailed(let dial, let failure):
      if !searchDialFailed(dial, failure, &turn) { dialFailed(dial, failure, &turn) }
    case .linkOpened(let link, let opening): opened(link, opening, &turn)
    case .linkPaced(let link, let pace): paced(link, pace, &turn)
    case .linkClosed(let link, let end): closed(link, end, &turn)
    case .trustJudged(let link, let judgement): judged(link, judgement, &turn)
    case .nonceDrawn(let id, let nonce): nonceDrawn(id, nonce, &turn)
    case .codeDerived(let id, let code): codeDerived(id, code, &turn)
    case .codeProven(let id, let finding): codeProven(id, finding, &turn)
    case .chunksRead(let id, let frames, let count): chunksRead(id, frames, count, &turn)
    case .sourceFinished(let id, let digest): sourceFinished(id, digest, &turn)
    case .sourceFailed(let id, let reason, let detail): sourceFailed(id, Ending(reason, .us, detail), &turn)
    case .chunkStored(let id, let upTo): stored(id, upTo: upTo, &turn)
    case .committed(let id, let name, let wasThere): committed(id, name: name, wasThere: wasThere, &turn)
    case .storeRestarted(let id, let offset): storeRestarted(id, offset: offset, &turn)
    case .storeFailed(let id, let reason, let detail): storeFailed(id, Ending(reason, .us, detail), &turn)
    case .availabilityChanged(let isOpen): self.isOpen = isOpen
    case .deadlineReached: deadlineReached(&turn)
    }
    turn.deliverArrived()
    if !turn.crowded.isEmpty { endCrowded(&turn) }
    deliverQuestions(&turn)
    finishShutdown(&turn)
    if turn.deadlinesMoved {
      turn.deadlinesMoved = false
      nextDeadline = earliestDeadline
    }
  }

  /// Frames what is queued for links; called once after each batch of facts.
  public mutating func flush(at now: Instant, into effects: inout [Effect]) {
    guard !carried.links.isEmpty else { return }
    let start = effects.count
    var turn = Turn()
    swap(&turn, &carried)
    turn.begin(at: now, &effects)
    if let link = turn.takeOnlyLink() {
      transmit(on: link, &turn)
    } else {
      for link in turn.takeLinks() { transmit(on: link, &turn) }
    }
    finishShutdown(&turn)
    turn.end(&effects)
    swap(&turn, &carried)
    if recorder != nil { recorder?.recordFlush(at: now, effects[start...]) }
  }

  private mutating func handle(_ command: Command, _ id: CommandID, _ turn: inout Turn) {
    if shutdown != nil {
      turn.reply(id, .failed(Ending(.shuttingDown, .us)))
      return
    }
    switch command {
    case .invite(let target, let context, let timeout, let code):
      invite(id, target, context, timeout, code, &turn)
    case .setCode(let code): setCode(id, code, &turn)
    case .cancelInvitation(let attempt):
      withdraw(attempt, Ending(.cancelled, .us), &turn)
      turn.reply(id, .done)
    case .answerInvitation(let node, let accept, let reason):
      answerInvitation(id, node, accept: accept, reason, &turn)
    case .showCode(let node): showCode(id, node, &turn)
    case .confirm(let node, let confirmed, let reason): confirm(id, node, confirmed, reason, &turn)
    case .ping(let node, let timeout): ping(id, node, timeout, &turn)
    case .cancelPing(let ping):
      cancelPing(ping, &turn)
      turn.reply(id, .done)
    case .leave(let node, let reason): leave(id, node, reason, &turn)
    case .remove(let node): remove(id, node, &turn)
    case .offer(let transfer, let node, let offer): self.offer(id, transfer, to: node, offer, &turn)
    case .acceptOffer(let transfer, let offset): acceptOffer(id, transfer, offset: offset, &turn)
    case .declineOffer(let transfer, let reason, let detail): declineOffer(id, transfer, reason, detail, &turn)
    case .cancelTransfer(let transfer, let reason): cancelTransfer(id, transfer, reason, &turn)
    case .setDisconnectTimeout(let timeout): setDisconnectTimeout(id, timeout, &turn)
    case .tellCompared(let transfer, let count): tellCompared(id, transfer, count, &turn)
    case .pauseTransfer(let transfer, let isPaused): pauseTransfer(id, transfer, isPaused, &turn)
    case .openStream(let stream, let node, let name): openStream(id, stream, to: node, name: name, &turn)
    case .finishStream(let stream): finishStream(id, stream, &turn)
    case .cancelStream(let stream, let reason, let detail): cancelStream(id, stream, reason, detail, &turn)
    case .shutDown: shutDown(id, &turn)
    }
  }

  // MARK: What every part uses

  /// The limits that our hello states on a link like this.
  func ownLimits(on traits: LinkTraits) -> PeerLimits {
    PeerLimits(
      message: UInt64(configuration.messageLimit), frame: UInt64(configuration.frameLimit),
      messageWindow: UInt64(messageWindow(on: traits)), transfers: UInt64(configuration.transferLimit),
      silence: min(
        max(UInt64(configuration.silence(isDurable: true).wholeNanoseconds / 1_000_000), WireLimits.silence.lowerBound),
        WireLimits.silence.upperBound),
      streams: UInt64(configuration.streamLimit), streamWindow: UInt64(firstStreamWindow(on: traits)))
  }

  /// What a peer may send ahead of the application: half of what an unread link holds, the other half is for transfers. A whole
  /// message fits in any case, or it could never be sent.
  func messageWindow(on traits: LinkTraits) -> Int {
    guard let limit = traits.unreadLimit else { return configuration.messageWindow }
    return min(configuration.messageWindow, max(limit / 2, configuration.messageLimit + WireLimits.messageCost))
  }

  private mutating func deliver(_ change: DiscoveryTable.Change, _ turn: inout Turn) {
    switch change {
    case .found(let summary): turn.deliver(.peerFound(summary))
    case .changed(let summary): turn.deliver(.peerChanged(summary))
    case .lost(let node): turn.deliver(.peerLost(node))
    }
  }

  /// Queues a control frame on the active link of an association; a sequenced one counts, and is kept until it is acknowledged. While
  /// there is no link the others are dropped: what they say is said again when there is one.
  mutating func send(_ frame: Frame, to node: NodeID, _ turn: inout Turn) {
    guard let association = associations[node] else { return }
    // Words for people are what can be spared first.
    let encoded = FrameEncoder.encode(association.isCrowded ? frame.withoutDetail : frame)
    if frame.isSequenced {
      association.appendSequenced(control: encoded[...])
      if association.keepsTooMuch { turn.crowded.insert(node) }
    }
    association.counts.sent.count(frame)
    guard let link = links[association.link], link.association === association else { return }
    if association.isResending {
      // What is sent again goes first.
      association.behindBacklog.append(contentsOf: encoded)
      if association.behindBacklog.count > association.controlLimit { turn.crowded.insert(node) }
    } else {
      link.control.append(contentsOf: encoded)
    }
    turn.flush(link.id)
  }
}

/// How many associations were begun with each peer, whatever its incarnation, because a dialling side knows the far side's
/// key but not yet its incarnation. Within a limit: the first ones go first.
struct BegunCounts: Sendable {
  private var counts: [PeerID: UInt64] = [:]
  private var order = FirstInFirstOut<PeerID>()
  static let limit = 4096

  subscript(peer: PeerID) -> UInt64 { counts[peer] ?? 0 }

  mutating func increment(_ peer: PeerID) {
    if counts[peer] == nil {
      order.append(peer)
      if order.count > Self.limit, let oldest = order.popFirst() { counts[oldest] = nil }
    }
    counts[peer, default: 0] += 1
  }
}
