import PiconetEngine
import PiconetFiles
import PiconetIP
import PiconetRuntime
import PiconetTLS
import PiconetWire
import Synchronization

/// The real parts of a node, wired together, from start to stop.
final class NodeShell: @unchecked Sendable {
  // Sendable is right: `driver` and `wiring` are made, used and dropped on the loop; the rest is constant or has its
  // own lock.
  let core: NodeCore
  private let host: HostShell
  private let configuration: NodeConfiguration
  private let trace: TraceFile?
  private let currentPresence: Mutex<Presence>
  private var driver: NodeDriver?
  private var wiring: NodeWiring?
  private let isStopping = Atomic<Bool>(false)
  private let hasStopped = Outcome<Void>()

  /// Starts a node on its own host, which ends with it.
  static func startAlone(_ configuration: NodeConfiguration) async throws(PiconetError) -> NodeShell {
    // Checked first, before a key is made and threads are started.
    _ = try Plan(configuration)
    let host = try await HostShell.start(configuration.device.host)
    do throws(PiconetError) {
      let node = try await start(configuration, on: host)
      await host.letGo()
      return node
    } catch {
      await host.letGo()
      throw error
    }
  }

  static func start(
    _ configuration: NodeConfiguration, on host: HostShell
  ) async throws(PiconetError) -> NodeShell {
    var configuration = configuration
    configuration.device = try configuration.device.settled(on: host.configuration)
    let plan = try Plan(configuration)
    try host.join()
    let node: NodeShell
    do throws(PiconetError) {
      node = try await make(plan, on: host)
    } catch {
      await host.failedToJoin()
      throw error
    }
    guard host.joined(node) else {
      await node.stop()
      throw PiconetError(.shuttingDown, blame: .us)
    }
    return node
  }

  /// The settings of a node, as far as they can be checked without one.
  private struct Plan: Sendable {
    let configuration: NodeConfiguration
    let engine: EngineConfiguration
    let listen: HostPort?

    init(_ configuration: NodeConfiguration) throws(PiconetError) {
      self.configuration = configuration
      engine = try configuration.engineConfiguration()
      listen = try listenPlace(configuration.listen)
    }
  }

  private static func make(_ plan: Plan, on host: HostShell) async throws(PiconetError) -> NodeShell {
    let trace = try plan.configuration.trace.map(openTrace)
    let outcome = await host.threads.loop.perform { () -> Result<NodeShell, PiconetError> in
      do throws(PiconetError) {
        return .success(try NodeShell(plan, trace: trace, host: host))
      } catch {
        return .failure(error)
      }
    }
    if case .failure = outcome { trace?.close() }
    return try outcome.get()
  }

  private static func listenPlace(_ text: String?) throws(PiconetError) -> HostPort? {
    guard let text else { return nil }
    do throws(LinkFailure) {
      return try HostPort(text)
    } catch {
      throw PiconetError(.invalidArgument, blame: .us, detail: "'\(text)' is no HOST:PORT to listen on: \(error)")
    }
  }

  /// Runs on the loop. Each part is made of those before it.
  private init(_ plan: Plan, trace: TraceFile?, host: HostShell) throws(PiconetError) {
    let configuration = plan.configuration
    self.configuration = configuration
    self.host = host
    self.trace = trace
    currentPresence = Mutex(
      Presence(mode: configuration.mode, name: configuration.name, info: configuration.discoveryInfo))
    let threads = host.threads
    let peer = host.identity.peer
    let prover = TypedCodeProver(own: peer)
    let security = OpenSSLLinkSecurity(contexts: host.contexts, prover: prover, sessionID: configuration.sessionID)
    let judge = KnownPeersJudge(
      policy: configuration.trust, program: configuration.program, ownPeer: peer,
      visibility: configuration.visibility, table: host.knownPeers)
    let wiring = try NodeWiring(
      host: host, configuration: configuration, listen: plan.listen, veiled: { judge.veiled })
    self.wiring = wiring
    var random = SystemRandomNumberGenerator()
    let id = NodeID(peer: peer, incarnation: Incarnation(rawValue: random.next()))
    let inputs = BatchMailbox<NodeInput>(loop: threads.loop, limit: .max)
    core = NodeCore(
      id: id, configuration: configuration, messageWindow: plan.engine.messageWindow, loop: threads.loop,
      disk: threads.disk, prover: prover, judge: judge, inputs: inputs, security: security)
    wiring.setObstacleHandler { [core] obstacles in core.discoveryObstacles.update { $0 = obstacles } }
    var engine = SessionEngine(identity: LocalIdentity(node: id), configuration: plan.engine, seed: random.next())
    if let settings = configuration.trace {
      engine.startRecording(limit: settings.limit, redacted: settings.isRedacted)
    }
    var limits = LinkLimits()
    limits.securingTimeout = configuration.patience.handshake
    limits.closingTimeout = configuration.patience.leave
    driver = NodeDriver(
      loop: threads.loop, disk: threads.disk, engine: engine, transports: wiring.transports,
      tunnels: wiring.tunnels, discoveries: wiring.discoveries, security: security, trust: judge, observer: core,
      inputs: inputs, buffers: host.buffers, radioPlan: host.radioPlan, limits: limits, trace: trace)
  }

  private static func openTrace(_ settings: TraceSettings) throws(PiconetError) -> TraceFile {
    do throws(SystemError) {
      return try TraceFile(path: settings.path)
    } catch {
      let detail = "can't write the trace \(settings.path): \(error)"
      throw PiconetError(.invalidArgument, blame: .us, detail: detail, underlying: error)
    }
  }

  /// The lines of the known peers that can't be read, as the file is now. Empty if the file itself can't be read, which
  /// each peer's refusal reports.
  var damagedKnownPeers: [DamagedLine] {
    get async {
      guard let knownPeers = host.knownPeersFile else { return [] }
      let lines = try? await core.onDisk { () throws(FileFailure) in try? knownPeers.publicDamagedLines }
      return (lines ?? nil) ?? []
    }
  }

  /// See `Node.remember`.
  func changeTrust(
    _ act: @escaping @Sendable (inout KnownPeers) throws(StateFailure) -> Void
  ) async throws(PiconetError) -> KnownPeers {
    guard let knownPeers = host.knownPeersFile else {
      throw PiconetError(.state, blame: .us, detail: "an identity that is kept nowhere has no known peers")
    }
    let outcome = try await core.onDisk { () throws(FileFailure) -> Result<KnownPeers, StateFailure> in
      do throws(StateFailure) {
        return .success(try knownPeers.change(act))
      } catch {
        return .failure(error)
      }
    }
    do throws(StateFailure) {
      return try outcome.get()
    } catch {
      throw PiconetError(error)
    }
  }

  // MARK: Availability

  /// How the node appears to nodes that are not connected to it.
  struct Presence: Sendable {
    var mode: SessionMode
    var isAvailable = false
    /// Advertised besides the id.
    var name: String
    var info: [String: String]
    var advertises: Bool { isAvailable && mode != .client }
    var searches: Bool { isAvailable && mode != .server }
  }

  var presence: Presence { currentPresence.withLock { $0 } }

  func setPresence(_ change: @escaping @Sendable (inout Presence) -> Void) async throws(PiconetError) {
    let failures = await host.threads.loop.perform { [self] () -> [TransportKind: LinkFailure]? in
      guard driver != nil else { return nil }
      let (before, after) = currentPresence.withLock { presence in
        let before = presence
        change(&presence)
        return (before, presence)
      }
      return apply(after, after: before)
    }
    try check(failures)
  }

  /// Listens for an expected peer.
  func listenForExpected() async throws(PiconetError) {
    try check(await host.threads.loop.perform { [self] in driver?.listenForExpected() })
  }

  /// - Parameter failures: why transports can't listen; nil where the node has stopped.
  private func check(_ failures: [TransportKind: LinkFailure]?) throws(PiconetError) {
    guard let failures else { throw PiconetError(.shuttingDown, blame: .us) }
    if let failure = failures[.tcp] {
      throw PiconetError(
        .internalError, blame: .us, detail: "can't listen on \(configuration.listen ?? "any address"): \(failure)",
        underlying: failure)
    }
    if !failures.isEmpty, failures.count == configuration.transports.count(where: { $0 != .relay }) {
      // No transport is left over which others could reach this node.
      let reasons = configuration.transports.compactMap { kind in failures[kind].map { "\(kind): \($0)" } }
      throw PiconetError(.unreachable, blame: .us, detail: "can't listen: \(reasons.joined(separator: "; "))")
    }
  }

  /// - Returns: the transports that can't listen. If Bluetooth is missing, the others go on without it.
  private func apply(_ presence: Presence, after before: Presence) -> [TransportKind: LinkFailure] {
    guard let driver else { return [:] }
    var failures: [TransportKind: LinkFailure] = [:]
    if presence.advertises {
      failures = driver.listen()
      advertise(presence)
    } else if before.advertises {
      driver.hide()
      driver.take([.advertise(nil)])
    }
    if presence.searches {
      driver.take([.search(sessionID: configuration.sessionID)])
    } else if before.searches {
      driver.take([.search(sessionID: nil)])
    }
    return failures
  }

  /// Runs on the loop.
  private func advertise(_ presence: Presence) {
    guard let driver else { return }
    driver.take([
      .advertise(
        NodeAdvertisement(
          peer: core.id.peer, incarnation: core.id.incarnation, name: presence.name, info: presence.info,
          sessionID: configuration.sessionID, ports: driver.listeningPorts))
    ])
  }

  /// Changes what is advertised; if nothing is advertised at the moment, the change applies from the next time on.
  func setAdvertised(_ change: @escaping @Sendable (inout Presence) -> Void) async throws(PiconetError) {
    let isRunning = await host.threads.loop.perform { [self] () -> Bool in
      guard driver != nil else { return false }
      let presence = currentPresence.withLock { presence in
        change(&presence)
        return presence
      }
      if presence.advertises { advertise(presence) }
      return true
    }
    if !isRunning { throw PiconetError(.shuttingDown, blame: .us) }
  }

  var listeningAddresses: [TransportAddress] {
    get async { await host.threads.loop.perform { [self] in driver?.listeningAddresses ?? [] } }
  }

  // MARK: The end

  /// Leaves everybody in good order, and ends everything. A second call waits for the first.
  /// - Parameter diskTime: how long it waits for calls to disks at the end; nil: as long as they take.
  /// - Returns: false if a disk has not answered in time: then the host and its threads are still there.
  @discardableResult
  func stop(diskTime: Duration? = nil) async -> Bool {
    guard !isStopping.exchange(true, ordering: .acquiringAndReleasing) else {
      await hasStopped.wait()
      return true
    }
    core.endSending()
    _ = await core.answer(to: .shutDown())
    await core.waitUntilFinished()
    await closeWiring()
    core.end()
    trace?.close()
    let isDone = await finishDisks(within: diskTime)
    if isDone { await host.left(self) }
    hasStopped.end(())
    return isDone
  }

  private func finishDisks(within time: Duration?) async -> Bool {
    let disk = host.threads.disk
    guard let time else {
      await disk.finishSubmitted()
      return true
    }
    let isDone = Outcome<Bool>()
    Task {
      await disk.finishSubmitted()
      isDone.end(true)
    }
    let limit = Task {
      try? await ContinuousClock().sleep(for: time)
      isDone.end(false)
    }
    defer { limit.cancel() }
    return await isDone.wait()
  }

  /// Stops a node that was dropped, unless it is stopping already.
  func beginStopping() {
    if !isStopping.load(ordering: .acquiring) { Task { [self] in await stop() } }
  }

  /// Closes the wiring. Orderly closes may take a moment; the wiring is kept until then.
  private func closeWiring() async {
    await withCheckedContinuation { continuation in
      host.threads.loop.execute { [self] in
        driver?.close()
        driver = nil
        guard let wiring else { return continuation.resume() }
        wiring.shutDown { [self] in
          self.wiring = nil
          continuation.resume()
        }
      }
    }
  }
}
