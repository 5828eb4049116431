import PiconetEngine
import PiconetWire
import TestSupport
import Testing

@testable import PiconetRuntime

/// A driver among stand-ins that note what they are told; used on the loop only.
final class DriverStage: Transport, Discovery, LinkSecurity, TrustJudge, NodeObserver, DialCancellation,
  @unchecked Sendable
{
  // Sendable is right: what changes is used on the loop only.
  let loop: EventLoop
  let worker: WorkerThread
  let kind: TransportKind
  var log: [String] = []
  /// The channel that secures the next link.
  var channel: any SecureChannel = SilentChannel()
  private var driver: NodeDriver?
  private let inputs: BatchMailbox<NodeInput>
  private var completion: ((Result<any LinkEndpoint, LinkFailure>) -> Void)?
  private var accepted: ((any LinkEndpoint) -> Void)?
  private var changed: (() -> Void)?
  private var port: UInt16?
  private var links: (MemoryLink, MemoryLink)?
  private var crowd: [(address: String, link: MemoryLink)] = []
  private let invitation = CommandID(rawValue: 1)
  private let plan: RadioPlan

  init(_ loop: EventLoop, _ worker: WorkerThread, _ kind: TransportKind, plan: RadioPlan? = nil) {
    self.loop = loop
    self.plan = plan ?? RadioPlan(loop: loop)
    inputs = BatchMailbox(loop: loop, limit: .max)
    self.worker = worker
    self.kind = kind
  }

  func make() {
    var configuration = EngineConfiguration(sessionID: "radio", name: "Radio")
    configuration.transports = [kind]
    let id = NodeID(peer: PeerID(bytes: [UInt8](repeating: 1, count: 32))!, incarnation: Incarnation(rawValue: 1))
    driver = NodeDriver(
      loop: loop, disk: DiskThreads(worker: worker, committers: WorkerPool(name: "commits", width: 1)),
      engine: SessionEngine(identity: LocalIdentity(node: id), configuration: configuration, seed: 1),
      transports: [self], discoveries: [self], security: self, trust: self, observer: self,
      inputs: inputs, buffers: LinkBuffers(), radioPlan: plan)
  }

  func end() {
    driver?.close()
    driver = nil
  }

  /// Runs a test on a stage with a clock of its own.
  /// - Returns: the stage's log.
  static func run(
    _ kind: TransportKind, _ body: (DriverStage, ManualClock) async throws -> Void
  ) async throws -> [String] {
    let clock = ManualClock()
    let loop = try EventLoop(name: "stage", clock: clock)
    defer { loop.stop() }
    let worker = try WorkerThread(name: "stage disk", limit: 4)
    defer { worker.stop() }
    let stage = DriverStage(loop, worker, kind)
    await loop.perform { stage.make() }
    try await body(stage, clock)
    return await loop.perform {
      defer { stage.end() }
      return stage.log
    }
  }

  // MARK: What a test does

  func note(_ text: String) async { await loop.perform { self.log.append(text) } }

  func invite(at addresses: [String] = ["somewhere"]) async {
    await loop.perform { [self] in driver?.take([invite(at: addresses)]) }
  }

  private func invite(at addresses: [String]) -> NodeInput {
    let addresses = addresses.map { TransportAddress(kind: kind, text: $0) }
    return .fact(
      .commanded(invitation, .invite(.addresses(addresses, expected: nil), context: [], timeout: .seconds(60))))
  }

  /// So many jobs wait, each of which takes so long, and the first one hands over an invitation.
  func invite(amid count: Int, each time: Duration, by clock: ManualClock) async {
    await loop.perform { [self] in
      for number in 0..<count {
        loop.executeLater { [self] in
          if number == 0 { _ = inputs.push(invite(at: ["somewhere"])) }
          log.append("job \(number)")
          clock.advance(by: time)
        }
      }
    }
    while await loop.perform({ !self.log.contains("job \(count - 1)") }) {}
  }

  /// Answers the dial at this address with a peer that says nothing.
  func answerDial(at address: String) async {
    await loop.perform { [self] in
      let links = MemoryLink.pair(loop: loop, kind: kind, remoteAddress: address)
      self.links = links
      completion?(.success(links.0))
    }
    await loop.perform {}
  }

  /// The driver has closed the link that was made last.
  var isFarClosed: Bool {
    get async {
      await loop.perform {}
      return await loop.perform { self.links?.1.isFarClosed ?? true }
    }
  }

  func endDial() async { await loop.perform { self.completion?(.failure(LinkFailure(.refused))) } }

  func cancel() async {
    await loop.perform { [self] in
      driver?.take([.fact(.commanded(CommandID(rawValue: 2), .cancelInvitation(invitation)))])
    }
  }

  func accept(from address: String = "memory a") async {
    await loop.perform { [self] in
      _ = driver?.listen()
      let links = MemoryLink.pair(loop: loop, kind: kind, remoteAddress: address)
      self.links = links
      accepted?(links.0)
      crowd.append((address, links.1))
    }
  }

  /// From where the links come that it has accepted and not closed.
  func open() async -> [String] {
    await loop.perform {}
    return await loop.perform { self.crowd.filter { !$0.link.isFarClosed }.map(\.address) }
  }

  /// Bytes of the remote side's, all at once.
  func receive(_ count: Int) async {
    await loop.perform { [self] in
      let bytes = [UInt8](repeating: 0, count: count)
      _ = bytes.withUnsafeBytes { links?.1.write($0) }
    }
    // The driver has read them by the time this has its turn.
    await loop.perform {}
  }

  func dropLink() async {
    await loop.perform { [self] in
      links?.1.close(abort: true)
      log.append("dropped")
    }
    // The driver has seen its end by the time this has its turn.
    await loop.perform {}
  }

  func search() async { await loop.perform { self.driver?.take([.search(sessionID: "radio")]) } }

  /// Says that bytes wait for room on one of its links, and that some have moved.
  func fill() async { await loop.perform { self.driver?.radio?.linkWaited() } }

  func advertise() async {
    await loop.perform { [self] in
      _ = driver?.listen()
      let id = PeerID(bytes: [UInt8](repeating: 1, count: 32))!
      driver?.take([
        .advertise(
          NodeAdvertisement(
            peer: id, incarnation: Incarnation(rawValue: 1), name: "Radio", info: [:], sessionID: "radio",
            ports: driver?.listeningPorts ?? [:]))
      ])
    }
  }

  func hide() async {
    await loop.perform { [self] in
      driver?.hide()
      driver?.take([.advertise(nil)])
    }
  }

  /// Expects some peer, as an application does.
  func expect(for duration: Duration) async {
    await loop.perform { [self] in
      let peer = PeerID(bytes: [UInt8](repeating: 2, count: 32))!
      driver?.take([.fact(.commanded(CommandID(rawValue: 3), .expect(peer, for: duration)))])
      _ = driver?.listenForExpected()
    }
    await endRound()
  }

  /// Ends a round. Discoveries are told then whether a peer is expected.
  func endRound() async { for _ in 0..<2 { await loop.perform {} } }

  func changePort(_ port: UInt16?) async {
    await loop.perform { [self] in
      self.port = port
      if accepted != nil { listeningPort = port }
      changed?()
    }
  }

  // MARK: Transport

  func dial(
    _ addresses: [TransportAddress], completion: @escaping (Result<any LinkEndpoint, LinkFailure>) -> Void
  ) -> any DialCancellation {
    log.append(addresses.count > 1 ? "dial \(addresses.map(\.text))" : "dial")
    self.completion = completion
    return self
  }

  func cancel() { log.append("cancelled") }

  func listen(_ accepted: @escaping (any LinkEndpoint) -> Void) throws(LinkFailure) {
    self.accepted = accepted
    guard let port else { throw LinkFailure(.notAvailable, "no adapter") }
    listeningPort = port
  }

  private(set) var listeningPort: UInt16?
  var listeningAddresses: [TransportAddress] { [] }
  func stopListening() {
    listeningPort = nil
    accepted = nil
  }
  func setListeningHandler(_ changed: @escaping () -> Void) { self.changed = changed }

  // MARK: Discovery

  let sourceName = "stage"
  func advertise(_ advertisement: NodeAdvertisement?) {
    let ports = advertisement.map { "\($0.ports.map { "\($0.key) \($0.value)" })" }
    log.append("ports " + (ports?.replacing("\"", with: "") ?? "none"))
  }
  func search(sessionID: String?) {}
  func setRadioTurn(_ hasTurn: Bool) { log.append(hasTurn ? "turn" : "no turn") }
  func setExpecting(_ isExpecting: Bool) { log.append(isExpecting ? "expecting" : "expecting nobody") }
  func setRadioBusy(_ isBusy: Bool) { log.append(isBusy ? "busy" : "free") }
  func setHandler(_ handler: @escaping (DiscoveryReport) -> Void) {}
  func close() {}

  // MARK: The rest

  func makeChannel(isDialler: Bool, over kind: TransportKind) -> any SecureChannel { channel }
  func makeNonce() -> CodeNonce? { nil }
  func code(of channel: any SecureChannel, _ inputs: CodeInputs) -> String? { nil }
  func prove(_ id: CodeID, _ step: TypedCodeStep, over channel: (any SecureChannel)?) -> TypedCodeFinding? { nil }
  func admits(_ peer: PeerID) -> Bool { true }
  func judge(_ node: NodeID, name: String, isDialled: Bool) -> TrustJudgement { .new }
  func takeForgiven() -> [String] { [] }
  func delivered(_ event: Event) {}
  func replied(_ command: CommandID, _ reply: Reply) {}
  func messagesTaken(_ node: NodeID, cost: Int, in channel: MessageChannel) {}
  func streamTaken(_ stream: StreamID, count: Int) {}
  func received(_ transfer: TransferID, byteCount: Int) {}
  func receivedAgain(_ transfer: TransferID, byteCount: Int) {}
  func storeProgressed(_ transfer: TransferID, stored: UInt64) {}
  func storeRestarted(_ transfer: TransferID, offset: UInt64) {}
  func finished() {}
}

/// A channel whose handshake never ends.
final class SilentChannel: SecureChannel {
  let state = SecureChannelState.handshaking
  let outputCount = 0
  func start() {}
  func open(_ ciphertext: UnsafeRawBufferPointer, into plaintext: UnsafeMutableRawBufferPointer)
    -> (taken: Int, produced: Int)
  { (ciphertext.count, 0) }
  func seal(_ plaintext: UnsafeRawBufferPointer) {}
  func drainOutput(_ body: (UnsafeRawBufferPointer) -> Int) {}
  func close() {}
  func exportedKey(label: String) -> [UInt8] { [] }
}
