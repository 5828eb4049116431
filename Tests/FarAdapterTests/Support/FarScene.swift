import FarAdapter
import Glibc
import PiconetEngine
import PiconetIP
import PiconetRuntime
import PiconetWire
import Synchronization
import Testing

@testable import FarAdapter

/// An agent and a node that uses it, over the loopback interface; the agent serves TCP in place of Bluetooth.
final class FarScene: @unchecked Sendable {
  // Sendable is right: what is neither constant nor behind a mutex is used on its loop only.
  struct Failure: Error, CustomStringConvertible { let description: String }

  /// The two machines.
  let there: EventLoop
  let here: EventLoop
  private(set) var place = HostPort(host: "127.0.0.1", port: 0)
  /// Used on the loop `there`.
  private var agent: AdapterAgent?
  private var discoveries: [RecordingDiscovery] = []
  private let ended = Mutex(0)
  private let log = Mutex<[String]>([])
  /// Used on the loop `here`.
  private(set) var far: FarAdapter?
  private let loss = Mutex<String?>(nil)
  private var local: TCPTransport?

  /// Makes a scene for `body`, and ends everything afterwards.
  static func run(
    listenFails: LinkFailure? = nil, _ body: (FarScene) async throws -> Void
  ) async throws {
    let scene = try await FarScene(listenFails: listenFails)
    do {
      try await body(scene)
    } catch {
      await scene.end()
      throw error
    }
    await scene.end()
  }

  private init(listenFails: LinkFailure?) async throws {
    there = try EventLoop(name: "there")
    here = try EventLoop(name: "here")
    let socket = try ControlSocket.listen(place)
    place = HostPort(host: "127.0.0.1", port: socket.port)
    await there.perform { [self] in
      agent = try? AdapterAgent(
        loop: there, listener: socket.descriptor, log: { [self] line in log.withLock { $0.append(line) } },
        make: { [self] loop, opening throws(RelayError) in try parts(loop, opening, listenFails) })
    }
  }

  private func parts(
    _ loop: EventLoop, _ opening: AdapterOpening, _ listenFails: LinkFailure?
  ) throws(RelayError) -> AdapterParts {
    guard opening.kinds == [.tcp] else { throw RelayError("there is only tcp here") }
    var configuration = TCPConfiguration()
    configuration.listen = HostPort(host: "127.0.0.1", port: 0)
    let tcp = TCPTransport(loop: loop, configuration: configuration)
    let discovery = opening.discovers ? RecordingDiscovery() : nil
    if let discovery { discoveries.append(discovery) }
    return AdapterParts(
      transports: [listenFails.map { DeafTransport(tcp, $0) } ?? tcp], discovery: discovery,
      answersPaging: { opening.sessionID == "paged" },
      shutDown: { [self] completion in
        tcp.shutDown { [self] in
          ended.withLock { $0 += 1 }
          completion()
        }
      })
  }

  private func end() async {
    await shutDownFar()
    await withCheckedContinuation { continuation in
      here.execute { [self] in
        guard let local else { return continuation.resume() }
        local.shutDown { continuation.resume() }
      }
    }
    await endAgent()
    here.stop()
    there.stop()
  }

  // MARK: There

  /// The agent ends, as it does when it gets a signal.
  func endAgent() async {
    await withCheckedContinuation { continuation in
      there.execute { [self] in
        guard let agent else { return continuation.resume() }
        self.agent = nil
        agent.shutDown { withExtendedLifetime(agent) { continuation.resume() } }
      }
    }
  }

  var sessionCount: Int { get async { await there.perform { [self] in agent?.sessionCount ?? 0 } } }
  /// How many nodes' parts were shut down.
  var endedCount: Int { ended.withLock { $0 } }
  var lines: [String] { log.withLock { $0 } }

  /// What the discovery of the last node was told.
  var told: [String] { get async { await there.perform { [self] in discoveries.last?.told ?? [] } } }

  func report(_ report: DiscoveryReport) async {
    await there.perform { [self] in discoveries.last?.handler?(report) }
  }

  // MARK: Here

  /// Makes the far adapter of a node.
  func open(sessionID: String = "session", kinds: Set<TransportKind> = [.tcp], discovers: Bool = true) async {
    await here.perform { [self] in
      far = FarAdapter(
        loop: here, agent: place, opening: AdapterOpening(sessionID: sessionID, kinds: kinds, discovers: discovers)
      ) { [self] reason in loss.withLock { $0 = reason.description } }
    }
  }

  func shutDownFar() async {
    await withCheckedContinuation { continuation in
      here.execute { [self] in
        guard let far else { return continuation.resume() }
        self.far = nil
        far.shutDown { withExtendedLifetime(far) { continuation.resume() } }
      }
    }
  }

  /// Why the agent was lost.
  var lost: String? { loss.withLock { $0 } }

  /// A transport of this machine, not a relayed one.
  private func localTransport() -> TCPTransport {
    if let local { return local }
    var configuration = TCPConfiguration()
    configuration.listen = HostPort(host: "127.0.0.1", port: 0)
    let local = TCPTransport(loop: here, configuration: configuration)
    self.local = local
    return local
  }

  /// A link between the far adapter and a transport of this machine, in either direction.
  func connect(dialledThere: Bool) async throws -> (far: Pipe, near: Pipe) {
    let accepted = Accepted()
    let addresses = await here.perform { [self] () -> Result<[TransportAddress], LinkFailure> in
      let listener: (any Transport)? = dialledThere ? localTransport() : far?.transports.first
      do throws(LinkFailure) {
        try listener?.listen { accepted.take($0) }
        return .success(listener?.listeningAddresses ?? [])
      } catch {
        return .failure(error)
      }
    }
    let dialled = try await dial(try addresses.get(), there: dialledThere)
    try await until("it is accepted") { await here.perform { accepted.pipe != nil } }
    await here.perform { [self] in
      let listener: (any Transport)? = dialledThere ? localTransport() : far?.transports.first
      listener?.stopListening()
    }
    guard let pipe = await here.perform({ accepted.pipe }) else { throw Failure(description: "nothing was accepted") }
    return dialledThere ? (dialled, pipe) : (pipe, dialled)
  }

  /// - Parameter cancelling: whether it cancels the dial at once.
  func dial(_ addresses: [TransportAddress], there: Bool, cancelling: Bool = false) async throws(LinkFailure) -> Pipe {
    let result: Result<Pipe, LinkFailure> = await withCheckedContinuation { continuation in
      here.execute { [self] in
        let transport: (any Transport)? = there ? far?.transports.first : localTransport()
        let dial = transport?.dial(addresses) { continuation.resume(returning: $0.map(Pipe.init)) }
        if cancelling { dial?.cancel() }
      }
    }
    return try result.get()
  }

  /// A count on the loop `here` once it rests: once it is the same a hundred times in a row.
  func rest(_ count: @escaping @Sendable () -> Int) async throws -> Int {
    var (last, looks) = (-1, 0)
    try await until("it comes to rest") {
      let now = await here.perform(count)
      looks = now == last ? looks + 1 : 0
      last = now
      return looks == 100
    }
    return last
  }

  func until(_ what: String, _ holds: () async -> Bool) async throws {
    let clock = ContinuousClock()
    // Not how long it takes: a hundred looks, in a crowd of tests that want the same two processors.
    let deadline = clock.now + .seconds(300)
    while !(await holds()) {
      guard clock.now < deadline else { throw Failure(description: "it is not so: \(what); lost: \(lost ?? "no")") }
      try await Task.sleep(for: .milliseconds(1))
    }
  }
}

/// The first link that was accepted; used on the loop.
private final class Accepted: @unchecked Sendable {
  // Sendable is right: used on the loop only.
  var pipe: Pipe?
  func take(_ endpoint: any LinkEndpoint) { pipe = Pipe(endpoint) }
}

/// A link whose bytes are kept as they come, as long as it is set to read. Used on the loop.
final class Pipe: LinkEndpointHandler, @unchecked Sendable {
  // Sendable is right: used on the loop only.
  let endpoint: any LinkEndpoint
  private(set) var received: [UInt8] = []
  private(set) var end: LinkRead?
  private var waiting: ArraySlice<UInt8> = []
  private(set) var written = 0
  private(set) var writeFailure: LinkFailure?
  private var reads = true

  init(_ endpoint: any LinkEndpoint) {
    self.endpoint = endpoint
    endpoint.setHandler(self)
    setReadiness()
  }

  private func setReadiness() {
    endpoint.setReadiness(read: reads && end == nil, write: !waiting.isEmpty && writeFailure == nil)
  }

  func setReads(_ reads: Bool) {
    self.reads = reads
    setReadiness()
  }

  func write(_ bytes: [UInt8]) {
    waiting += bytes
    writeOut()
  }

  private func writeOut() {
    while !waiting.isEmpty, writeFailure == nil {
      switch waiting.withUnsafeBytes({ endpoint.write($0) }) {
      case .bytes(let count):
        waiting = waiting.dropFirst(count)
        written += count
      case .wouldBlock: return setReadiness()
      case .failed(let failure): writeFailure = failure
      }
    }
    setReadiness()
  }

  func linkIsReady(read: Bool, write: Bool) {
    if write { writeOut() }
    guard read else { return }
    withUnsafeTemporaryAllocation(byteCount: 10_000, alignment: 1) { buffer in
      switch endpoint.read(into: buffer) {
      case .bytes(let count): received += buffer[..<count]
      case .wouldBlock: break
      case let other:
        end = other
        setReadiness()
      }
    }
  }
}

/// Remembers what it was told. Used on the loop.
final class RecordingDiscovery: Discovery {
  let sourceName = "recording"
  private(set) var told: [String] = []
  private(set) var handler: ((DiscoveryReport) -> Void)?

  func advertise(_ advertisement: NodeAdvertisement?) { told.append("advertise \(advertisement?.name ?? "nothing")") }
  func search(sessionID: String?) { told.append("search \(sessionID ?? "nothing")") }
  func setRadioBusy(_ isBusy: Bool) { told.append("busy \(isBusy)") }
  func setHandler(_ handler: @escaping (DiscoveryReport) -> Void) { self.handler = handler }
  func close() {}
}

/// A transport that can't listen.
private final class DeafTransport: Transport {
  private let real: TCPTransport
  private let failure: LinkFailure

  init(_ real: TCPTransport, _ failure: LinkFailure) {
    self.real = real
    self.failure = failure
  }

  var kind: TransportKind { .tcp }
  func dial(
    _ addresses: [TransportAddress], completion: @escaping (Result<any LinkEndpoint, LinkFailure>) -> Void
  ) -> any DialCancellation { real.dial(addresses, completion: completion) }
  func listen(_ accepted: @escaping (any LinkEndpoint) -> Void) throws(LinkFailure) { throw failure }
  var listeningPort: UInt16? { nil }
  var listeningAddresses: [TransportAddress] { [] }
  func stopListening() {}
}
