import PiconetEngine
import PiconetFiles
import PiconetIP
import PiconetRuntime
import PiconetTLS
import PiconetWire
import Synchronization

/// The real parts of a node, wired together, from start to stop.
final class NodeShell: @unchecked Sendable {
  // Sendable is right: `driver` and `wiring` are made, used and dropped on the loop; the rest is constant or guards
  // itself.
  let core: NodeCore
  private let threads: NodeThreads
  private let configuration: NodeConfiguration
  private let knownPeers: KnownPeersFile?
  private let trace: TraceFile?
  private let currentPresence: Mutex<Presence>
  private var driver: NodeDriver?
  private var wiring: NodeWiring?
  private let isStopping = Atomic<Bool>(false)
  private let hasStopped = Outcome<Void>()

  static func start(_ configuration: NodeConfiguration) async throws(PiconetError) -> NodeShell {
    let engine = try configuration.engineConfiguration()
    let listen = try listenPlace(configuration.listen)
    let (identity, knownPeers) = try loadIdentity(configuration.identity)
    let trace = try configuration.trace.map(openTrace)
    let threads: NodeThreads
    do throws(SystemError) {
      threads = try NodeThreads()
    } catch {
      trace?.close()
      throw PiconetError(.internalError, blame: .us, detail: "\(error)", underlying: error)
    }
    let outcome = await threads.loop.perform { () -> Result<NodeShell, PiconetError> in
      do throws(PiconetError) {
        return .success(
          try NodeShell(
            configuration, engine, identity: identity, knownPeers: knownPeers, listen: listen, trace: trace,
            threads: threads))
      } catch {
        return .failure(error)
      }
    }
    if case .failure = outcome {
      trace?.close()
      threads.stop()
    }
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

  /// On the loop. Each part is made of those before it.
  private init(
    _ configuration: NodeConfiguration, _ engineConfiguration: EngineConfiguration, identity: DeviceIdentity,
    knownPeers: KnownPeersFile?, listen: HostPort?, trace: TraceFile?, threads: NodeThreads
  ) throws(PiconetError) {
    self.configuration = configuration
    self.knownPeers = knownPeers
    self.trace = trace
    self.threads = threads
    currentPresence = Mutex(Presence(mode: configuration.mode))
    let prover = TypedCodeProver(own: identity.peer)
    let security = try Self.security(identity, prover)
    let judge = KnownPeersJudge(
      policy: configuration.trust, program: configuration.program, ownPeer: identity.peer,
      visibility: configuration.visibility, file: knownPeers)
    let wiring = try NodeWiring(
      loop: threads.loop, configuration: configuration, listen: listen, resolver: threads.resolver,
      veiled: { judge.veiled })
    self.wiring = wiring
    var random = SystemRandomNumberGenerator()
    let id = NodeID(peer: identity.peer, incarnation: Incarnation(rawValue: random.next()))
    let inputs = BatchMailbox<NodeInput>(loop: threads.loop, limit: .max)
    core = NodeCore(
      id: id, configuration: configuration, messageWindow: engineConfiguration.messageWindow, loop: threads.loop,
      worker: threads.worker, prover: prover, judge: judge, inputs: inputs)
    var engine = SessionEngine(
      identity: LocalIdentity(node: id), configuration: engineConfiguration, seed: random.next())
    if let settings = configuration.trace {
      engine.startRecording(limit: settings.limit, redacted: settings.isRedacted)
    }
    var limits = LinkLimits()
    limits.securingTimeout = configuration.patience.handshake
    limits.closingTimeout = configuration.patience.leave
    driver = NodeDriver(
      loop: threads.loop, worker: threads.worker, engine: engine, transports: wiring.transports,
      discoveries: wiring.discoveries, security: security, trust: judge, observer: core, inputs: inputs,
      limits: limits, trace: trace)
  }

  private static func security(
    _ identity: DeviceIdentity, _ prover: TypedCodeProver
  ) throws(PiconetError) -> OpenSSLLinkSecurity {
    do throws(SecureChannelFailure) {
      return try OpenSSLLinkSecurity(identity: identity, prover: prover)
    } catch {
      throw PiconetError(.internalError, blame: .us, detail: "\(error)", underlying: error)
    }
  }

  private static func openTrace(_ settings: TraceSettings) throws(PiconetError) -> TraceFile {
    do throws(SystemError) {
      return try TraceFile(path: settings.path)
    } catch {
      let detail = "can't write the trace \(settings.path): \(error)"
      throw PiconetError(.invalidArgument, blame: .us, detail: detail, underlying: error)
    }
  }

  /// The lines of the known peers that can't be read, as the file is now; none where the file itself can't be read,
  /// which each peer's refusal tells.
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
    let failures = await threads.loop.perform { [self] () -> [TransportKind: LinkFailure]? in
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
            info: configuration.discoveryInfo, scope: configuration.sessionID, ports: driver.listeningPorts))
      ])
    } else if before.advertises {
      driver.hide()
      driver.take([.advertise(nil)])
    }
    if presence.searches {
      driver.take([.search(scope: configuration.sessionID)])
    } else if before.searches {
      driver.take([.search(scope: nil)])
    }
    return failures
  }

  var listeningAddresses: [TransportAddress] {
    get async { await threads.loop.perform { [self] in driver?.listeningAddresses ?? [] } }
  }

  // MARK: The end

  /// Leaves everybody in good order, and ends everything. Whoever comes second waits for the first.
  func stop() async {
    guard !isStopping.exchange(true, ordering: .acquiringAndReleasing) else { return await hasStopped.wait() }
    core.endSending()
    _ = await core.answer(to: .shutDown())
    await core.waitUntilFinished()
    await closeWiring()
    core.end()
    trace?.close()
    threads.stop()
    hasStopped.end(())
  }

  /// The node was dropped: stops, unless that has begun already.
  func beginStopping() {
    if !isStopping.load(ordering: .acquiring) { Task { [self] in await stop() } }
  }

  /// Orderly closes may take a moment; the wiring is kept until then.
  private func closeWiring() async {
    await withCheckedContinuation { continuation in
      threads.loop.execute { [self] in
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
