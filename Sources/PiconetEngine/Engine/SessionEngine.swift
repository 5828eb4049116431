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
  var conditions = PeerConditions()
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
  /// Links with something to transmit, looked at by the next `flush`.
  var dirty = LinksToFlush()
  /// Messages of one association that came in one batch and are delivered at once.
  var arrived: (node: NodeID, messages: [Bytes])?
  /// Bytes of the read that they are slices of.
  var readCount = 0
  var shutdown: Shutdown?
  var refusals = RefusalBudget()
  /// Peers for which more is kept than may be: their associations end with the fact that made it so.
  var crowded: Set<NodeID> = []
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
  /// Something may be due earlier than `nextDeadline` says.
  var timesChanged = false

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
    defer { if recorder != nil { recorder?.record(fact, at: now, effects[start...]) } }
    switch fact {
    case .messageQueued(let node, let message, let mode): queue(message, to: node, mode, now, &effects)
    case .received(let link, let bytes): received(bytes, on: link, now, &effects)
    case .transmitted(let link, let count): transmitted(count, on: link)
    case .messagesConsumed(let node, let cost): consumed(cost, from: node)
    case .streamWritten(let stream, let bytes): streamWritten(stream, bytes, &effects)
    case .streamConsumed(let stream, let count): streamConsumed(stream, count)
    case .commanded(let id, let command): handle(command, id, now, &effects)
    case .discoveryReported(let source, let report):
      if let change = discovery.report(report, source: source) {
        deliver(change, &effects)
        lookAgain(change, now)
      }
    case .discoveryEnded(let source): for change in discovery.sourceEnded(source) { deliver(change, &effects) }
    case .dialFailed(let dial, let failure):
      if !searchDialFailed(dial, failure, now, &effects) { dialFailed(dial, failure, now, &effects) }
    case .linkOpened(let link, let opening): opened(link, opening, now, &effects)
    case .linkPaced(let link, let pace): paced(link, pace)
    case .linkClosed(let link, let end): closed(link, end, now, &effects)
    case .trustJudged(let link, let judgement): judged(link, judgement, now, &effects)
    case .nonceDrawn(let id, let nonce): nonceDrawn(id, nonce, now, &effects)
    case .codeDerived(let id, let code): codeDerived(id, code, now, &effects)
    case .codeProven(let id, let finding): codeProven(id, finding, now, &effects)
    case .chunksRead(let id, let frames, let count): chunksRead(id, frames, count, &effects)
    case .sourceFinished(let id, let digest): sourceFinished(id, digest)
    case .sourceFailed(let id, let reason, let detail): sourceFailed(id, Ending(reason, .us, detail), &effects)
    case .chunkStored(let id, let upTo): stored(id, upTo: upTo)
    case .committed(let id, let name, let wasThere): committed(id, name: name, wasThere: wasThere, &effects)
    case .storeRestarted(let id, let offset): storeRestarted(id, offset: offset)
    case .storeFailed(let id, let reason, let detail): storeFailed(id, Ending(reason, .us, detail), &effects)
    case .availabilityChanged(let isOpen): self.isOpen = isOpen
    case .deadlineReached: deadlineReached(now, &effects)
    }
    flushArrived(&effects)
    if !crowded.isEmpty { endCrowded(now, &effects) }
    deliverQuestions(now, &effects)
    finishShutdown(&effects)
    if timesChanged {
      timesChanged = false
      nextDeadline = earliestDeadline
    }
  }

  /// Frames what is queued for links; called once after each batch of facts.
  public mutating func flush(at now: Instant, into effects: inout [Effect]) {
    guard !dirty.isEmpty else { return }
    let start = effects.count
    defer { if recorder != nil { recorder?.recordFlush(at: now, effects[start...]) } }
    if let link = dirty.takeOnly() {
      transmit(on: link, now, &effects)
    } else {
      for link in dirty.takeAll() { transmit(on: link, now, &effects) }
    }
    finishShutdown(&effects)
  }

  private mutating func handle(_ command: Command, _ id: CommandID, _ now: Instant, _ effects: inout [Effect]) {
    if shutdown != nil {
      reply(id, .failed(Ending(.shuttingDown, .us)), &effects)
      return
    }
    switch command {
    case .invite(let target, let context, let timeout, let code):
      invite(id, target, context, timeout, code, now, &effects)
    case .setCode(let code): setCode(id, code, &effects)
    case .cancelInvitation(let attempt):
      withdraw(attempt, Ending(.cancelled, .us), now, &effects)
      reply(id, .done, &effects)
    case .answerInvitation(let node, let accept, let reason):
      answerInvitation(id, node, accept: accept, reason, now, &effects)
    case .showCode(let node): showCode(id, node, &effects)
    case .confirm(let node, let confirmed, let reason): confirm(id, node, confirmed, reason, now, &effects)
    case .ping(let node, let timeout): ping(id, node, timeout, now, &effects)
    case .cancelPing(let ping):
      cancelPing(ping, &effects)
      reply(id, .done, &effects)
    case .leave(let node, let reason): leave(id, node, reason, now, &effects)
    case .remove(let node): remove(id, node, now, &effects)
    case .offer(let transfer, let node, let offer): self.offer(id, transfer, to: node, offer, &effects)
    case .acceptOffer(let transfer, let offset): acceptOffer(id, transfer, offset: offset, &effects)
    case .declineOffer(let transfer, let reason, let detail): declineOffer(id, transfer, reason, detail, &effects)
    case .cancelTransfer(let transfer, let reason): cancelTransfer(id, transfer, reason, &effects)
    case .setDisconnectTimeout(let timeout): setDisconnectTimeout(id, timeout, now, &effects)
    case .tellCompared(let transfer, let count): tellCompared(id, transfer, count, &effects)
    case .pauseTransfer(let transfer, let isPaused): pauseTransfer(id, transfer, isPaused, &effects)
    case .openStream(let stream, let node, let name): openStream(id, stream, to: node, name: name, &effects)
    case .finishStream(let stream): finishStream(id, stream, &effects)
    case .cancelStream(let stream, let reason, let detail): cancelStream(id, stream, reason, detail, &effects)
    case .shutDown: shutDown(id, now, &effects)
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

  /// Delivers an event, after the messages that came before it.
  mutating func deliver(_ event: Event, _ effects: inout [Effect]) {
    flushArrived(&effects)
    effects.append(.deliver(event))
    tell(conditions.fold(event), &effects)
  }

  /// Changes of peers' states, after what brought them about.
  mutating func tell(_ changes: [Event], _ effects: inout [Effect]) {
    for change in changes { effects.append(.deliver(change)) }
  }

  mutating func reply(_ command: CommandID, _ reply: Reply, _ effects: inout [Effect]) {
    flushArrived(&effects)
    effects.append(.reply(command, reply))
  }

  mutating func flushArrived(_ effects: inout [Effect]) {
    guard case (let node, var messages)? = arrived else { return }
    arrived = nil
    // They are slices of what was read, and may wait for the application: a few short ones among frames that are skipped would keep all
    // of it alive for the credit of a few bytes.
    if messages.count * 64 < readCount, messages.reduce(1_024, { $0 + 4 * $1.count }) < readCount {
      messages = messages.map { Array($0)[...] }
    }
    effects.append(.deliver(.messagesReceived(node, messages, .reliable)))
  }

  private mutating func deliver(_ change: DiscoveryTable.Change, _ effects: inout [Effect]) {
    switch change {
    case .found(let summary): deliver(.peerFound(summary), &effects)
    case .changed(let summary): deliver(.peerChanged(summary), &effects)
    case .lost(let node): deliver(.peerLost(node), &effects)
    }
  }

  /// Queues a control frame on the active link of an association; a sequenced one counts, and is kept until it is acknowledged. While
  /// there is no link the others are dropped: what they say is said again when there is one.
  mutating func send(_ frame: Frame, to node: NodeID) {
    guard let association = associations[node] else { return }
    // Words for people are what can be spared first.
    let encoded = FrameEncoder.encode(association.isCrowded ? frame.withoutDetail : frame)
    if frame.isSequenced {
      association.appendSequenced(control: encoded[...])
      if association.keepsTooMuch { crowded.insert(node) }
    }
    association.counts.sent.count(frame)
    guard let link = links[association.link], link.association === association else { return }
    if association.isResending {
      // What is sent again goes first.
      association.behindBacklog.append(contentsOf: encoded)
      if association.behindBacklog.count > association.controlLimit { crowded.insert(node) }
    } else {
      link.control.append(contentsOf: encoded)
    }
    dirty.insert(link.id)
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
