import PiconetEngine
import PiconetWire

/// Owns the engine on its loop: feeds it facts, and carries out its effects in their order, without suspending.
///
/// Confined to the loop. Other threads hand over `NodeInput` through a mailbox. The owner of a driver must close it:
/// its timers, transports and discoveries hold it until then.
public final class NodeDriver: RoundHandler {
  let loop: EventLoop
  let disk: DiskThreads
  // The state that each message passes through is not checked for overlapping accesses. Only the loop's thread uses it,
  // and the engine and the arrays below call nothing. Links and the observer, which are called in between, come back
  // here through `process`, outside any access. For that very reason it can't be one struct that a round borrows.
  @exclusivity(unchecked) var engine: SessionEngine
  let transports: [any Transport]
  let discoveries: [any Discovery]
  /// Nil if no node is reached over relays.
  private let tunnels: TunnelTransport?
  private let security: any LinkSecurity
  private let trust: any TrustJudge
  private let observer: any NodeObserver
  private let inputs: BatchMailbox<NodeInput>
  private var timer: LoopTimer?
  @exclusivity(unchecked) private var armed: Instant?
  /// When all links were last checked for ones at rest.
  private var lookedForRest: Instant?

  private var nextLink: UInt64 = 1
  @exclusivity(unchecked) private var runners: InlineFirstDictionary<LinkID, LinkRunner> = [:]
  /// Links whose TLS handshake is under way, oldest first.
  private var securing: [LinkRunner] = []
  private var securingTimer: LoopTimer?
  /// Links that the engine has released and that still write.
  private var closing: [(runner: LinkRunner, deadline: Instant)] = []
  private var closingTimer: LoopTimer?
  @exclusivity(unchecked) private var writers: [LinkRunner] = []
  private struct Dial {
    let cancellation: any DialCancellation
    /// Whether several addresses were dialled, not over Bluetooth: the next is tried if nothing speaks at one.
    let hasSeveral: Bool
  }
  private var dials: [DialID: Dial] = [:]
  private var sources: [TransferID: any ResourceSource] = [:]
  private var arriving: [TransferID: ArrivingReads] = [:]
  private var stores: [TransferID: StoreRunner] = [:]
  @exclusivity(unchecked) private var busyStores: Set<TransferID> = []

  /// Facts that came while effects were carried out.
  @exclusivity(unchecked) private var facts: [Fact] = []
  @exclusivity(unchecked) private var effects: [Effect] = []
  @exclusivity(unchecked) private var isWorking = false
  /// The time of this round, read once.
  @exclusivity(unchecked) private var roundTime: Instant?
  @exclusivity(unchecked) private(set) var isEnding = false
  private var isFinished = false
  /// Nil if no transport shares its radio with a discovery.
  let radio: RadioWatch?
  @exclusivity(unchecked) var listening = Listening.nobody
  /// The number of memberships at the last check whether to listen for members.
  @exclusivity(unchecked) var seenMemberships: UInt64 = 0
  var advertisement: NodeAdvertisement?
  /// Whether a peer has dialled us over Bluetooth since we listen, and may have to again: peers that we have dialled we
  /// dial again ourselves.
  var wasReachedByRadio = false
  /// The last value told to discoveries: whether a peer may dial us although nothing is advertised.
  var toldExpecting = false

  let buffers: LinkBuffers

  private let limits: LinkLimits
  /// The file of the engine's trace, if one was requested.
  private let trace: TraceFile?
  /// Rounds of sealing and writing before other work has its turn.
  private static let flushesPerRound = 16

  /// - Parameters:
  ///   - tunnels: a further transport, to nodes behind members that relay; nil: no node is reached over relays.
  ///   - inputs: the mailbox from which it takes inputs; `close` closes it.
  public init(
    loop: EventLoop, disk: DiskThreads, engine: consuming SessionEngine, transports: [any Transport],
    tunnels: TunnelTransport? = nil, discoveries: [any Discovery], security: any LinkSecurity,
    trust: any TrustJudge, observer: any NodeObserver, inputs: BatchMailbox<NodeInput>, buffers: LinkBuffers,
    radioPlan: RadioPlan, limits: LinkLimits = LinkLimits(), trace: TraceFile? = nil
  ) {
    self.inputs = inputs
    self.buffers = buffers
    self.limits = limits
    self.trace = trace
    self.loop = loop
    self.disk = disk
    self.engine = engine
    assert(!transports.contains { $0.kind == .relay }, "tunnels are handed over on their own")
    self.transports = if let tunnels { transports + [tunnels] } else { transports }
    self.tunnels = tunnels
    self.discoveries = discoveries
    self.security = security
    self.trust = trust
    self.observer = observer
    radio =
      transports.contains { $0.kind.usesBluetooth } ? RadioWatch(plan: radioPlan, discoveries: discoveries) : nil
    timer = LoopTimer(loop: loop) { [self] in
      armed = nil
      process(.deadlineReached)
      lookForRestingLinks()
    }
    securingTimer = LoopTimer(loop: loop) { [self] in securingDeadline() }
    closingTimer = LoopTimer(loop: loop) { [self] in closingDeadline() }
    for discovery in discoveries {
      let source = discovery.sourceName
      discovery.setHandler { [self] report in process(.discoveryReported(source: source, report)) }
    }
    for transport in self.transports {
      transport.setListeningHandler { [self] in listeningChanged() }
    }
    tunnels?.start(TunnelTransport.Handler(hand: { [self] in note($0) }, accepted: { [self] in accepted($0) }))
    inputs.receive { [self] in take(emptying: &$0) }
    loop.addRoundHandler(self)
  }

  /// With many peers there is a deadline every few milliseconds, and examining each link would be most of its cost.
  private func lookForRestingLinks() {
    let now = now
    guard lookedForRest.map({ $0 + BufferUse.interval <= now }) ?? true else { return }
    lookedForRest = now
    for runner in runners.values { runner.lookIfResting() }
  }

  // MARK: Inputs

  public func take(_ inputs: [NodeInput]) {
    var inputs = inputs
    take(emptying: &inputs)
  }

  /// - Parameter inputs: its elements are moved out, not copied; it must not be used afterwards.
  public func take(emptying inputs: inout [NodeInput]) {
    if isEnding { return }
    let now = now
    inputs.drain { take($0, at: now) }
    work()
  }

  private func take(_ input: consuming NodeInput, at now: Instant) {
    switch consume input {
    // The engine takes a whole batch before its effects are carried out: one flush, one record, one write.
    case .fact(let fact): engine.handle(fact, at: now, into: &effects)
    case .facts(let facts): for fact in facts { engine.handle(fact, at: now, into: &effects) }
    case .offer(let command, let transfer, let node, let offer, let source):
      sources[transfer] = source
      engine.handle(.commanded(command, .offer(transfer, to: node, offer)), at: now, into: &effects)
    case .acceptOffer(let command, let transfer, let store, let offset):
      stores[transfer] = StoreRunner(id: transfer, store: store, offset: offset)
      engine.handle(.commanded(command, .acceptOffer(transfer, offset: offset)), at: now, into: &effects)
    case .advertise(let advertisement): advertise(advertisement)
    case .inspect(let node, let answer): answer(engine.statistics(of: node, at: now))
    case .conditional(let inner, let isWanted, let refused): if isWanted() { take(inner, at: now) } else { refused() }
    case .search(let sessionID):
      radio?.searches(sessionID != nil)
      for discovery in discoveries {
        discovery.search(sessionID: sessionID)
        if sessionID == nil {
          engine.handle(.discoveryEnded(source: discovery.sourceName), at: now, into: &effects)
        }
      }
    }
  }

  // MARK: The end

  /// Ends everything that is left: links, discoveries, timers. Later inputs are dropped.
  public func close() {
    isEnding = true
    inputs.close()
    engine.endRecording(.complete)
    passTraceOn()
    radio?.close()
    for discovery in discoveries {
      discovery.setHandler { _ in }
      discovery.close()
    }
    for transport in transports { transport.setListeningHandler {} }
    stopListening()
    tunnels?.stop()
    for runner in runners.values.sorted(by: { $0.id < $1.id }) { runner.abort() }
    for (runner, _) in closing { runner.abort() }
    for store in stores.values { store.discard(on: disk) }
    stores = [:]
    for source in sources.values { close(source) }
    sources = [:]
    for timer in [timer, securingTimer, closingTimer] { timer?.set(nil) }
    (timer, securingTimer, closingTimer) = (nil, nil, nil)
    loop.removeRoundHandler(self)
    writers = []
  }

  // MARK: The engine

  private var now: Instant {
    if let roundTime { return roundTime }
    let now = loop.now
    roundTime = now
    return now
  }

  func process(_ fact: Fact) {
    note(fact)
    work()
  }

  /// Notes a fact as `process` does, for when `work` follows anyway.
  private func note(_ fact: Fact) {
    if isEnding { return }
    if isWorking || !facts.isEmpty || !effects.isEmpty {
      facts.append(fact)
    } else {
      // No fact is before it, so it need not be queued.
      engine.handle(fact, at: now, into: &effects)
    }
  }

  private func work() {
    guard !isWorking else { return }
    isWorking = true
    while true {
      if !facts.isEmpty { handleFacts() }
      if effects.isEmpty { break }
      performAll()
    }
    isWorking = false
  }

  private func handleFacts() {
    let now = now
    var batch: [Fact] = []
    swap(&batch, &facts)
    batch.drain { engine.handle($0, at: now, into: &effects) }
    // Swapped back, so that the array keeps its room.
    if facts.isEmpty { swap(&batch, &facts) }
  }

  private func performAll() {
    // Effects may add facts, never effects: those come from the next turn.
    var batch: [Effect] = []
    swap(&batch, &effects)
    batch.drain { perform($0) }
    if effects.isEmpty { swap(&batch, &effects) }
  }

  /// Runs once a round: everything that the round's facts want sent goes out in as few records and writes as possible.
  public func roundHasEnded() {
    guard !isEnding else { return }
    // The job that takes inputs is behind others, and its inputs should leave now.
    if loop.hasJobs { inputs.takeWaiting() }
    listenForMembers()
    var turns = Self.flushesPerRound
    repeat {
      tunnels?.readReady()
      engine.flush(at: now, into: &effects)
      work()
      proceedStores()
      if writers.isEmpty, tunnels?.hasReady != true { break }
      var batch: [LinkRunner] = []
      swap(&batch, &writers)
      // The bytes of links in tunnels go together with those that their relays' links have to write anyway.
      if tunnels != nil, batch.contains(where: \.isTunnelled) {
        batch.drain { if $0.isTunnelled { write($0) } else { writers.append($0) } }
      } else {
        batch.drain { write($0) }
      }
      if writers.isEmpty { swap(&batch, &writers) }
      turns -= 1
    } while turns > 0
    if turns == 0 { loop.executeLater {} }
    followExpectations()
    armTimer()
    if trace != nil { passTraceOn() }
    roundTime = nil
  }

  private func write(_ runner: LinkRunner) {
    runner.mustWrite = false
    let count = runner.writeOut()
    // Both together, or what has just gone to the kernel would count twice.
    if let pace = runner.newPace() { note(.linkPaced(runner.id, pace)) }
    if count > 0, runner.phase == .open { note(.transmitted(runner.id, byteCount: count)) }
    work()
  }

  /// Writes what was recorded in this round to the file: a crash loses only the last round.
  private func passTraceOn() {
    guard let trace, engine.recordedCount > 0 else { return }
    if !trace.append(engine.takeRecording()) { engine.endRecording(.tooFast) }
  }

  private func armTimer() {
    let next = engine.nextDeadline
    guard next != armed else { return }
    armed = next
    timer?.set(next)
  }

  // MARK: Effects

  private func perform(_ effect: consuming Effect) {
    switch consume effect {
    case .transmit(let link, let bytes): runners[link]?.seal(bytes)
    case .deliver(let event): observer.delivered(event)
    case .messagesTaken(let node, let cost, let channel): observer.messagesTaken(node, cost: cost, in: channel)
    case .streamTaken(let stream, let count): observer.streamTaken(stream, count: count)
    case .storeChunk(let transfer, let bytes):
      stores[transfer]?.append(bytes)
      busyStores.insert(transfer)
      observer.received(transfer, byteCount: bytes.count)
    case .chunkRepeated(let transfer, let count): observer.receivedAgain(transfer, byteCount: count)
    case .readChunks(let transfer, let number, let offset, let count, let frameCount):
      read(transfer, number: number, offset: offset, payloadCount: count, frameCount: frameCount)
    case .reply(let command, let reply): observer.replied(command, reply)
    case .dial(let dial, let kind, let addresses): self.dial(dial, kind, addresses)
    case .cancelDial(let dial): cancel(dial)
    case .closeLink(let link, let flush): close(link, flush: flush)
    case .judgeTrust(let link, let node, let name, let isDialled):
      for digits in trust.takeForgiven() { facts.append(.forgiven(digits)) }
      facts.append(.trustJudged(link, trust.judge(node, name: name, isDialled: isDialled)))
    case .drawNonce(let id): facts.append(.nonceDrawn(id, security.makeNonce()))
    case .deriveCode(let id, let link, let inputs):
      facts.append(.codeDerived(id, runners[link].flatMap { security.code(of: $0.channel, inputs) }))
    case .proveCode(let id, let step):
      let channel = step.link.flatMap { runners[$0]?.channel }
      if let finding = security.prove(id, step, over: channel) { facts.append(.codeProven(id, finding)) }
    case .tunnelOpened(let tunnel, let route): tunnels?.opened(tunnel, route)
    case .tunnelOffered(let tunnel, let route): tunnels?.offered(tunnel, route)
    case .tunnelReceived(let tunnel, let bytes): tunnels?.received(tunnel, bytes)
    case .tunnelTaken(let tunnel, let count): tunnels?.taken(tunnel, count)
    case .tunnelPassedOn(let tunnel, let count): tunnels?.passedOn(tunnel, count)
    case .tunnelEnded(let tunnel, let failure): tunnels?.ended(tunnel, failure)
    case .finishSource(let transfer): finish(transfer)
    case .closeSource(let transfer):
      arriving[transfer] = nil
      sources.removeValue(forKey: transfer).map { close($0) }
    case .commitStore(let transfer, let size, let digest):
      stores[transfer]?.commit(size: size, digest)
      busyStores.insert(transfer)
    case .discardStore(let transfer): stores.removeValue(forKey: transfer)?.discard(on: disk)
    case .keepStore(let transfer): stores.removeValue(forKey: transfer)?.keep(on: disk)
    case .finished:
      isFinished = true
      tellIfFinished()
    }
  }

  private func tellIfFinished() {
    guard isFinished, closing.isEmpty, !isEnding else { return }
    isFinished = false
    observer.finished()
  }

  // MARK: Sources and stores

  private func read(
    _ transfer: TransferID, number: UInt64, offset: UInt64, payloadCount: Int, frameCount: Int
  ) {
    guard let source = sources[transfer] else { return }
    guard source.arrives else {
      return readNow(transfer, source, number: number, offset: offset, payloadCount, frameCount: frameCount)
    }
    let asked = ArrivingReads.Read(number: number, offset: offset, payloadCount: payloadCount, frameCount: frameCount)
    let ticket = arriving[transfer, default: ArrivingReads()].ask(for: asked)
    let read = LoopConfined { [self] in
      guard !isEnding, sources[transfer] === source else { return }
      for read in arriving[transfer]?.arrived(ticket) ?? [] {
        readNow(
          transfer, source, number: read.number, offset: read.offset, read.payloadCount, frameCount: read.frameCount)
      }
    }
    source.whenReadable(upTo: asked.end) { [loop] in loop.execute { read.value() } }
  }

  private func close(_ source: any ResourceSource) {
    if source.arrives { _ = disk.worker.submit { source.close() } }
  }

  private func readNow(
    _ transfer: TransferID, _ source: any ResourceSource, number: UInt64, offset: UInt64, _ payloadCount: Int,
    frameCount: Int
  ) {
    let layout = ChunkLayout(transfer: number, frameCount: frameCount)
    submit(transfer, source) { () throws(ResourceFailure) in
      let frames = try layout.frames(ofPayload: payloadCount) { (buffer, start) throws(ResourceFailure) in
        try source.read(into: buffer, at: offset + UInt64(start))
      }
      return .chunksRead(transfer, frames: frames, payloadCount: payloadCount)
    }
  }

  private func finish(_ transfer: TransferID) {
    guard let source = sources[transfer] else { return }
    submit(transfer, source) { () throws(ResourceFailure) in
      try source.readOn() ? .sourceFinished(transfer, try source.finish()) : nil
    }
  }

  /// - Parameter work: gives nil if there is more to do; it then waits for another turn.
  private func submit(
    _ transfer: TransferID, _ source: any ResourceSource,
    _ work: @escaping @Sendable () throws(ResourceFailure) -> Fact?
  ) {
    let threads: any BlockingThreads = source.lane.map { disk.readers.lane(of: $0) } ?? disk.worker
    let isTaken = threads.submit(answering: loop) { () -> Fact? in
      do throws(ResourceFailure) {
        return try work()
      } catch {
        return .sourceFailed(transfer, error.reason, detail: error.detail)
      }
    } then: { [self] fact in
      if let fact { process(fact) } else { finish(transfer) }
    }
    if !isTaken { facts.append(.sourceFailed(transfer, .internalError, detail: "too much waits for the disk")) }
  }

  private func proceedStores() {
    guard !busyStores.isEmpty else { return }
    for transfer in busyStores.sorted() { proceed(transfer) }
    busyStores.removeAll(keepingCapacity: true)
  }

  private func proceed(_ transfer: TransferID) {
    stores[transfer]?.proceed(on: disk, loop: loop) { [self] runner, fact in
      if isEnding { return }
      switch fact {
      case .chunkStored(_, let upTo): observer.storeProgressed(transfer, stored: upTo)
      case .committed: stores[transfer] = nil
      case .storeRestarted(_, let offset):
        runner.restart(offset: offset)
        observer.storeRestarted(transfer, offset: offset)
      case .commanded, .messageQueued, .messagesConsumed, .streamWritten, .streamConsumed, .tunnelWanted,
        .tunnelWritten, .tunnelConsumed, .tunnelClosed, .discoveryReported, .discoveryEnded, .dialFailed, .linkOpened,
        .received, .transmitted, .linkPaced, .linkClosed, .trustJudged, .nonceDrawn, .codeDerived, .codeProven,
        .chunksRead, .sourceFinished, .sourceFailed, .storeFailed, .availabilityChanged, .listeningChanged,
        .forgiven, .deadlineReached:
        break
      }
      process(fact)
      if stores[transfer] === runner { busyStores.insert(transfer) }
    }
  }

  // MARK: Links

  private func dial(_ dial: DialID, _ kind: TransportKind, _ addresses: [TransportAddress]) {
    guard let transport = transports.first(where: { $0.kind == kind }) else {
      facts.append(.dialFailed(dial, LinkFailure(.notAvailable, "no transport of this kind")))
      return
    }
    if kind.usesBluetooth { radio?.dialBegins(dial) }
    let cancellation = transport.dial(addresses) { [self] result in dialled(dial, result) }
    dials[dial] = Dial(cancellation: cancellation, hasSeveral: addresses.count > 1 && !kind.usesBluetooth)
  }

  private func dialled(_ dial: DialID, _ result: Result<any LinkEndpoint, LinkFailure>) {
    let wanted = dials.removeValue(forKey: dial)
    // After the end the discoveries are closed, too.
    defer { if !isEnding { radio?.dialEnded(dial) } }
    switch result {
    case .success(let endpoint):
      guard let wanted, !isEnding else { return endpoint.close(abort: true) }
      let time = wanted.hasSeveral ? min(limits.securingTimeoutOfSeveral, limits.securingTimeout) : nil
      secure(endpoint, dial: dial, within: time)
    case .failure(let failure): if wanted != nil { process(.dialFailed(dial, failure)) }
    }
  }

  private func cancel(_ dial: DialID) {
    // A link may be in its TLS handshake already.
    if let runner = securing.first(where: { $0.dial == dial }) { runner.abort() }
    dials.removeValue(forKey: dial)?.cancellation.cancel()
    radio?.dialEnded(dial)
  }

  func accepted(_ endpoint: any LinkEndpoint) {
    guard !isEnding else { return endpoint.close(abort: true) }
    if endpoint.traits.kind.usesBluetooth { wasReachedByRadio = true }
    // Connections that never speak must not keep others out: the oldest one of the host with the most is closed. They
    // must not push out our own dials.
    let waiting = securing.filter { $0.dial == nil }
    if waiting.count >= limits.securing {
      let counts = Dictionary(grouping: waiting, by: \.endpoint.traits.remoteHost).mapValues(\.count)
      let most = counts.values.max()
      waiting.first { counts[$0.endpoint.traits.remoteHost] == most }?.abort()
    }
    secure(endpoint, dial: nil)
  }

  private func secure(_ endpoint: any LinkEndpoint, dial: DialID?, within time: Duration? = nil) {
    let runner = LinkRunner(
      id: LinkID(rawValue: nextLink), dial: dial, endpoint: endpoint,
      channel: security.makeChannel(isDialler: dial != nil, over: endpoint.traits.kind), at: loop.awakeTime,
      securingTime: time ?? limits.securingTimeout, driver: self)
    nextLink += 1
    runners[runner.id] = runner
    securing.append(runner)
    if runner.securingDeadline == securing.lazy.map(\.securingDeadline).min() {
      securingTimer?.set(awake: runner.securingDeadline)
    }
    runner.radio?.handshakeBegins(runner.id, isDialler: dial != nil)
    runner.start()
  }

  private func securingDeadline() {
    let now = loop.awakeTime
    while let runner = securing.first(where: { $0.securingDeadline <= now }) {
      runner.abort()
      if let dial = runner.dial {
        let failure = LinkFailure(.timedOut, "the other side did not complete the TLS handshake")
        process(.dialFailed(dial, failure, at: runner.endpoint.traits.remoteAddress))
      }
    }
    if let next = securing.lazy.map(\.securingDeadline).min() { securingTimer?.set(awake: next) }
  }

  func secured(_ runner: LinkRunner, peer: PeerID) {
    securing.removeAll { $0 === runner }
    runner.radio?.handshakeEnds(runner.id)
    let opening = LinkOpening(
      dial: runner.dial, peer: peer, traits: runner.endpoint.traits,
      isAdmitted: runner.dial != nil || trust.admits(peer))
    facts.append(.linkOpened(runner.id, opening))
    if let pace = runner.newPace() { facts.append(.linkPaced(runner.id, pace)) }
    work()
  }

  func received(_ bytes: Bytes, on runner: LinkRunner) { process(.received(runner.id, bytes)) }

  /// Notes that the link has ended for a reason other than our own close.
  func linkEnded(_ runner: LinkRunner, _ end: LinkEnd, wasOpen: Bool) {
    if wasOpen {
      process(.linkClosed(runner.id, end))
    } else if let dial = runner.dial {
      let failure =
        switch end {
        case .ended: LinkFailure(.reset, "the other side closed the connection during the TLS handshake")
        case .failed(let failure): failure
        // Treated like a port without a listener.
        case .insecure(let failure)
        where failure.code == .unrecognizedName && runner.endpoint.traits.kind.sharesListeners:
          LinkFailure(.refused, failure.code.words)
        case .insecure(let failure): LinkFailure(.authentication, "TLS: \(failure)")
        }
      process(.dialFailed(dial, failure, at: runner.endpoint.traits.remoteAddress))
    }
  }

  private func close(_ link: LinkID, flush: Bool) {
    guard let runner = runners.removeValue(forKey: link) else { return }
    if flush {
      // A peer that reads nothing more must not make us keep its unread bytes.
      if closing.count >= limits.closing { closing.first?.runner.abort() }
      closing.append((runner, loop.awakeTime + limits.closingTimeout))
      if closing.count == 1 { closingTimer?.set(after: limits.closingTimeout) }
    }
    runner.close(flush: flush)
  }

  private func closingDeadline() {
    let now = loop.awakeTime
    while let (runner, deadline) = closing.first {
      if deadline > now {
        closingTimer?.set(awake: deadline)
        return
      }
      runner.abort()
    }
  }

  func mustWrite(_ runner: LinkRunner) {
    if runner.mustWrite { return }
    runner.mustWrite = true
    writers.append(runner)
  }

  func runnerClosed(_ runner: LinkRunner) {
    if runners[runner.id] === runner { runners[runner.id] = nil }
    securing.removeAll { $0 === runner }
    closing.removeAll { $0.runner === runner }
    runner.radio?.handshakeEnds(runner.id)
    tellIfFinished()
  }
}
