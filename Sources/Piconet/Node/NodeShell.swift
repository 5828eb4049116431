import PiconetEngine
import PiconetFiles
import PiconetIP
import PiconetRuntime
import PiconetTLS
import PiconetWire
import Synchronization

/// The real parts of a node, wired together, from start to stop.
final class NodeShell: @unchecked Sendable {
  // Sendable is right: `driver` and `wiring` are made, used and dropped on the loop; the rest is constant or behind the
  // mutex; `trace` is set on the loop before anything else and dropped when the loop is done with it.
  let core: NodeCore
  private let loop: EventLoop
  private let worker: WorkerThread
  private let resolver: WorkerThread
  private let configuration: NodeConfiguration
  private var driver: NodeDriver?
  private let take: Forward
  private var wiring: NodeWiring?
  private var trace: TraceFile?
  private let knownPeers: KnownPeersFile?
  private let currentPresence: Mutex<Presence>

  private enum Life { case running, stopping, stopped }
  private let life = Mutex((phase: Life.running, waiters: [CheckedContinuation<Void, Never>]()))

  static func start(_ configuration: NodeConfiguration) async throws(PiconetError) -> NodeShell {
    let engineConfiguration = try configuration.engineConfiguration()
    let listen = try listenPlace(configuration.listen)
    let (identity, knownPeers) = try loadIdentity(configuration.identity)
    let shell: NodeShell
    do throws(SystemError) {
      shell = try NodeShell(configuration, engineConfiguration, identity: identity, knownPeers: knownPeers)
    } catch {
      throw PiconetError(.internalError, blame: .us, detail: "\(error)", underlying: error)
    }
    let failure = await shell.loop.perform { () -> PiconetError? in
      do throws(PiconetError) {
        try shell.build(engineConfiguration, identity: identity, listen: listen)
        return nil
      } catch {
        return error
      }
    }
    if let failure {
      await shell.stop()
      throw failure
    }
    return shell
  }

  private static func listenPlace(_ text: String?) throws(PiconetError) -> HostPort? {
    guard let text else { return nil }
    do throws(LinkFailure) {
      return try HostPort(text)
    } catch {
      throw PiconetError(.invalidArgument, blame: .us, detail: "'\(text)' is no HOST:PORT to listen on: \(error)")
    }
  }

  private static func loadIdentity(
    _ storage: IdentityStorage
  ) throws(PiconetError) -> (DeviceIdentity, KnownPeersFile?) {
    switch storage {
    case .ephemeral:
      do throws(SecureChannelFailure) {
        return (try DeviceIdentity.generate(), nil)
      } catch {
        throw PiconetError(.internalError, blame: .us, detail: "\(error)", underlying: error)
      }
    case .directory(let path):
      do throws(StateFailure) {
        let directory = StateDirectory(path: path)
        return (try FileIdentityStore(directory: directory).identity(), KnownPeersFile(directory: directory))
      } catch {
        throw PiconetError(.state, blame: .us, detail: "\(error)", underlying: error)
      }
    }
  }

  private init(
    _ configuration: NodeConfiguration, _ engineConfiguration: EngineConfiguration, identity: DeviceIdentity,
    knownPeers: KnownPeersFile?
  ) throws(SystemError) {
    self.configuration = configuration
    self.knownPeers = knownPeers
    currentPresence = Mutex(Presence(mode: configuration.mode))
    loop = try EventLoop(name: "piconet")
    do throws(SystemError) {
      worker = try WorkerThread(name: "piconet-disk", limit: 16_384)
    } catch {
      loop.stop()
      throw error
    }
    do throws(SystemError) {
      resolver = try WorkerThread(name: "piconet-names", limit: 64)
    } catch {
      worker.stop()
      loop.stop()
      throw error
    }
    var random = SystemRandomNumberGenerator()
    let id = NodeID(peer: identity.peer, incarnation: Incarnation(rawValue: random.next()))
    let take = Forward()
    core = NodeCore(
      id: id, configuration: configuration, messageWindow: engineConfiguration.messageWindow, loop: loop,
      worker: worker,
      prover: TypedCodeProver(own: identity.peer)
    ) { take.driver?.take(emptying: &$0) }
    self.take = take
  }

  /// On the loop.
  private func build(
    _ engineConfiguration: EngineConfiguration, identity: DeviceIdentity, listen: HostPort?
  ) throws(PiconetError) {
    let security: OpenSSLLinkSecurity
    do throws(SecureChannelFailure) {
      security = try OpenSSLLinkSecurity(identity: identity, prover: core.prover)
    } catch {
      throw PiconetError(.internalError, blame: .us, detail: "\(error)", underlying: error)
    }
    var random = SystemRandomNumberGenerator()
    var engine = SessionEngine(
      identity: LocalIdentity(node: core.id), configuration: engineConfiguration, seed: random.next())
    if let settings = configuration.trace {
      trace = try Self.openTrace(settings)
      engine.startRecording(limit: settings.limit, redacted: settings.isRedacted)
    }
    let judge = KnownPeersJudge(
      policy: configuration.trust, program: configuration.program, ownPeer: identity.peer,
      visibility: configuration.visibility,
      file: knownPeers,
      advertisedNames: { [unowned core] peer in core.advertised.names(of: peer, at: .now) })
    core.standing = { judge.standing(of: $0) }
    let wiring = try NodeWiring(
      loop: loop, configuration: configuration, listen: listen, resolver: resolver, veiled: { judge.veiled })
    self.wiring = wiring
    var limits = LinkLimits()
    limits.securingTimeout = configuration.patience.handshake
    limits.closingTimeout = configuration.patience.leave
    driver = NodeDriver(
      loop: loop, worker: worker, engine: engine,
      transports: wiring.transports, discoveries: wiring.discoveries, security: security,
      trust: judge,
      observer: core, limits: limits, trace: trace)
    take.driver = driver
    core.look = { [take] node in take.driver?.statistics(of: node) }
  }

  private static func openTrace(_ settings: TraceSettings) throws(PiconetError) -> TraceFile {
    do throws(SystemError) {
      return try TraceFile(path: settings.path)
    } catch {
      let detail = "can't write the trace \(settings.path): \(error)"
      throw PiconetError(.invalidArgument, blame: .us, detail: detail, underlying: error)
    }
  }

  /// The lines of the known peers that can't be read, as the file is now; none where the file itself can't be read, which each peer's
  /// refusal tells.
  var damagedKnownPeers: [DamagedLine] {
    get async {
      guard let knownPeers else { return [] }
      let lines = try? await core.onDisk { () throws(FileFailure) in try? knownPeers.publicDamagedLines }
      return (lines ?? nil) ?? []
    }
  }

  /// See `Node.remember`.
  func changeTrust(
    _ act: @escaping @Sendable (inout KnownPeers) throws(StateFailure) -> Void
  ) async throws(PiconetError) -> KnownPeers {
    guard let knownPeers else {
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

  /// What the node is to others while nothing connects them.
  struct Presence: Sendable {
    var mode: SessionMode
    var isAvailable = false
    var advertises: Bool { isAvailable && mode != .client }
    var searches: Bool { isAvailable && mode != .server }
  }

  var presence: Presence { currentPresence.withLock { $0 } }

  func setPresence(_ change: @escaping @Sendable (inout Presence) -> Void) async throws(PiconetError) {
    let failures = await loop.perform { [self] () -> [TransportKind: LinkFailure]? in
      guard driver != nil else { return nil }
      let (before, after) = currentPresence.withLock { presence in
        let before = presence
        change(&presence)
        return (before, presence)
      }
      return apply(after, after: before)
    }
    guard let failures else { throw PiconetError(.shuttingDown, blame: .us) }
    if let failure = failures[.tcp] {
      throw PiconetError(
        .internalError, blame: .us, detail: "can't listen on \(configuration.listen ?? "any address"): \(failure)",
        underlying: failure)
    }
    if !failures.isEmpty, failures.count == configuration.transports.count {
      // Nothing is left that others could reach us by.
      let reasons = configuration.transports.compactMap { kind in failures[kind].map { "\(kind): \($0)" } }
      throw PiconetError(.unreachable, blame: .us, detail: "can't listen: \(reasons.joined(separator: "; "))")
    }
  }

  /// - Returns: the transports that can't listen. Where there is no Bluetooth, the others go on without it.
  private func apply(_ presence: Presence, after before: Presence) -> [TransportKind: LinkFailure] {
    guard let driver else { return [:] }
    var failures: [TransportKind: LinkFailure] = [:]
    if presence.advertises {
      failures = driver.listen()
      driver.take([
        .advertise(
          Advertisement(
            peer: core.id.peer, incarnation: core.id.incarnation, name: configuration.name,
            info: configuration.discoveryInfo, scope: configuration.session, ports: driver.listeningPorts))
      ])
    } else if before.advertises {
      driver.hide()
      driver.take([.advertise(nil)])
    }
    if presence.searches {
      driver.take([.search(scope: configuration.session)])
    } else if before.searches {
      driver.take([.search(scope: nil)])
    }
    return failures
  }

  var listeningAddresses: [TransportAddress] {
    get async { await loop.perform { [self] in driver?.listeningAddresses ?? [] } }
  }

  // MARK: The end

  func stop() async {
    let isFirst = life.withLock { life in
      defer { if life.phase == .running { life.phase = .stopping } }
      return life.phase == .running
    }
    guard isFirst else { return await waitUntilStopped() }
    if await loop.perform({ [self] in driver != nil }) {
      core.endSending()
      _ = await core.answer(to: .shutDown())
      await core.waitUntilFinished()
    }
    await withCheckedContinuation { continuation in
      loop.execute { [self] in
        driver?.close()
        driver = nil
        take.driver = nil
        guard let wiring else { return continuation.resume() }
        // Kept until then: orderly closes may take a moment.
        wiring.shutDown { [self] in
          self.wiring = nil
          continuation.resume()
        }
      }
    }
    core.end()
    trace?.close()
    resolver.stop()
    worker.stop()
    loop.stop()
    let waiters = life.withLock { life in
      life.phase = .stopped
      defer { life.waiters = [] }
      return life.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  private func waitUntilStopped() async {
    await withCheckedContinuation { continuation in
      let isStopped = life.withLock { life in
        if life.phase != .stopped { life.waiters.append(continuation) }
        return life.phase == .stopped
      }
      if isStopped { continuation.resume() }
    }
  }
}

/// Lets the core's mailbox reach the driver, which is made after it. Not a weak reference, which would be paid for with each message.
private final class Forward: @unchecked Sendable {
  // Sendable is right: set, read and cleared on the loop.
  var driver: NodeDriver?
}
