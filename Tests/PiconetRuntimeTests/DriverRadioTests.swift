import PiconetEngine
import PiconetWire
import Testing

@testable import PiconetRuntime

@Suite("What a driver tells discoveries of radio and ports", .timeLimit(.minutes(5)))
struct DriverRadioTests {
  @Test("a dial over Bluetooth stops the scan before it begins, and lets it go on 2 s after its end")
  func dial() async throws {
    let log = try await run(.l2cap) { stage, clock in
      await stage.invite()
      await stage.endDial()
      clock.advance(by: .milliseconds(1999))
      await stage.note("1999 ms")
      clock.advance(by: .milliseconds(1))
    }
    #expect(log == ["busy", "dial", "1999 ms", "free"])
  }

  @Test("a cancelled dial frees the radio too")
  func cancelled() async throws {
    let log = try await run(.rfcomm) { stage, clock in
      await stage.invite()
      await stage.cancel()
      clock.advance(by: .seconds(2))
    }
    #expect(log == ["busy", "dial", "cancelled", "free"])
  }

  @Test("an accepted link in its handshake uses the radio until it is gone")
  func links() async throws {
    let log = try await run(.le) { stage, clock in
      await stage.accept()
      clock.advance(by: .seconds(5))
      await stage.note("5 s")
      await stage.dropLink()
      clock.advance(by: .seconds(2))
    }
    #expect(log == ["busy", "5 s", "dropped", "free"])
  }

  @Test("a dial over TCP is no use of the radio")
  func tcp() async throws {
    let log = try await run(.tcp) { stage, clock in
      await stage.invite()
      await stage.endDial()
      clock.advance(by: .seconds(3))
    }
    #expect(log == ["dial"])
  }

  @Test("ports that change while we listen are advertised anew; what could not listen is tried again")
  func ports() async throws {
    let log = try await run(.l2cap) { stage, _ in
      await stage.advertise()
      await stage.changePort(nil)
      await stage.changePort(0x1005)
      await stage.changePort(0x1005)
      await stage.changePort(0x1007)
      await stage.hide()
      await stage.changePort(0x1009)
    }
    #expect(log == ["ports []", "ports [l2cap 4101]", "ports [l2cap 4103]", "ports none"])
  }

  private func run(
    _ kind: TransportKind, _ body: (Stage, ManualClock) async throws -> Void
  ) async throws -> [String] {
    let clock = ManualClock()
    let loop = try EventLoop(name: "radio", clock: clock)
    defer { loop.stop() }
    let worker = try WorkerThread(name: "radio disk", limit: 4)
    defer { worker.stop() }
    let stage = Stage(loop, worker, kind)
    await loop.perform { stage.make() }
    try await body(stage, clock)
    return await loop.perform {
      defer { stage.end() }
      return stage.log
    }
  }
}

/// A driver among stand-ins that write down what they are told; used on the loop only.
private final class Stage: Transport, Discovery, LinkSecurity, TrustJudge, NodeObserver, DialCancellation,
  @unchecked Sendable
{
  // Sendable is right: what changes is used on the loop only.
  let loop: EventLoop
  let worker: WorkerThread
  let kind: TransportKind
  var log: [String] = []
  private var driver: NodeDriver?
  private var completion: ((Result<any LinkEndpoint, LinkFailure>) -> Void)?
  private var accepted: ((any LinkEndpoint) -> Void)?
  private var changed: (() -> Void)?
  private var port: UInt16?
  private var links: (MemoryLink, MemoryLink)?
  private let invitation = CommandID(rawValue: 1)

  init(_ loop: EventLoop, _ worker: WorkerThread, _ kind: TransportKind) {
    self.loop = loop
    self.worker = worker
    self.kind = kind
  }

  func make() {
    var configuration = EngineConfiguration(scope: "radio", name: "Radio")
    configuration.transports = [kind]
    let id = NodeID(peer: PeerID(bytes: [UInt8](repeating: 1, count: 32))!, incarnation: Incarnation(rawValue: 1))
    driver = NodeDriver(
      loop: loop, worker: worker,
      engine: SessionEngine(identity: LocalIdentity(node: id), configuration: configuration, seed: 1),
      transports: [self], discoveries: [self], security: self, trust: self, observer: self)
  }

  func end() {
    driver?.close()
    driver = nil
  }

  // MARK: What a test does

  func note(_ text: String) async { await loop.perform { self.log.append(text) } }

  func invite() async {
    await loop.perform { [self] in
      driver?.take([
        .fact(
          .commanded(
            invitation,
            .invite(
              .addresses([TransportAddress(kind: kind, text: "somewhere")], expected: nil), context: [],
              timeout: .seconds(30))))
      ])
    }
  }

  func endDial() async { await loop.perform { self.completion?(.failure(LinkFailure(.refused))) } }

  func cancel() async {
    await loop.perform { [self] in
      driver?.take([.fact(.commanded(CommandID(rawValue: 2), .cancelInvitation(invitation)))])
    }
  }

  func accept() async {
    await loop.perform { [self] in
      _ = driver?.listen()
      let links = MemoryLink.pair(loop: loop, kind: kind)
      self.links = links
      accepted?(links.0)
    }
  }

  func dropLink() async {
    await loop.perform { [self] in
      links?.1.close(abort: true)
      log.append("dropped")
    }
  }

  func advertise() async {
    await loop.perform { [self] in
      _ = driver?.listen()
      let id = PeerID(bytes: [UInt8](repeating: 1, count: 32))!
      driver?.take([
        .advertise(
          Advertisement(
            peer: id, incarnation: Incarnation(rawValue: 1), name: "Radio", info: [:], scope: "radio",
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
    log.append("dial")
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
  func advertise(_ advertisement: Advertisement?) {
    let ports = advertisement.map { "\($0.ports.map { "\($0.key) \($0.value)" })" }
    log.append("ports " + (ports?.replacing("\"", with: "") ?? "none"))
  }
  func search(scope: String?) {}
  func setRadioBusy(_ isBusy: Bool) { log.append(isBusy ? "busy" : "free") }
  func setHandler(_ handler: @escaping (DiscoveryReport) -> Void) {}
  func close() {}

  // MARK: The rest

  func makeChannel(isDialler: Bool, over kind: TransportKind) -> any SecureChannel { SilentChannel() }
  func makeNonce() -> [UInt8]? { nil }
  func commitment(to nonce: [UInt8]) -> [UInt8] { [] }
  func code(of channel: any SecureChannel, diallerNonce: [UInt8], acceptorNonce: [UInt8], commitment: [UInt8])
    -> String?
  { nil }
  func judge(_ node: NodeID, name: String) -> TrustJudgement { .new }
  func remember(_ peer: PeerID, name: String) {}
  func happened(_ event: Event) {}
  func replied(_ command: CommandID, _ reply: Reply) {}
  func messagesTaken(_ node: NodeID, cost: Int) {}
  func streamTaken(_ stream: StreamID, count: Int) {}
  func storeProgressed(_ transfer: TransferID, stored: UInt64) {}
  func finished() {}
}

/// A channel whose handshake never ends.
private final class SilentChannel: SecureChannel {
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
