import PiconetEngine
import PiconetIP
import PiconetRuntime
import PiconetTLS
import PiconetWire
import Synchronization

#if Bluetooth
  import PiconetAvahi
  import PiconetBluetooth
#endif

/// The real parts that the nodes of a host share, from start to stop.
final class HostShell: @unchecked Sendable {
  // Sendable is right: values marked as confined to the loop are used only there; the rest is constant or has its own
  // lock.
  let configuration: NodeHostConfiguration
  let identity: DeviceIdentity
  let threads: HostThreads
  let contexts: OpenSSLContexts
  /// Nil where the identity is not stored.
  let knownPeersFile: KnownPeersFile?
  /// Confined to the loop.
  let knownPeers: KnownPeersTable
  /// Confined to the loop.
  let buffers = LinkBuffers()
  /// Confined to the loop.
  let radioPlan: RadioPlan
  /// Confined to the loop; has sockets only while a node uses it.
  private(set) lazy var multicast: MulticastDNSEndpoint = {
    var random = SystemRandomNumberGenerator()
    let options = MulticastDNSEndpoint.Options(interfaces: configuration.interfaces, seed: random.next())
    #if Bluetooth
      return MulticastDNSEndpoint(loop: threads.loop, options: options, daemon: AvahiDaemon(loop: threads.loop))
    #else
      return MulticastDNSEndpoint(loop: threads.loop, options: options)
    #endif
  }()
  #if Bluetooth
    /// Confined to the loop.
    let bluetooth: BluetoothHost
  #endif
  private let users = Mutex(HostUsers<ObjectIdentifier, NodeShell>())
  private let hasEnded = Outcome<Void>()

  /// Starts a host. The caller holds it until `letGo` or `stop`.
  static func start(_ configuration: NodeHostConfiguration) async throws(PiconetError) -> HostShell {
    #if Bluetooth
      _ = try BluetoothConfiguration(configuration.bluetooth, sessionID: "")
    #endif
    let (identity, knownPeers) = try loadIdentity(configuration.identity)
    let anchors = try configuration.certificateAuthorities?.anchors()
    let contexts: OpenSSLContexts
    do throws(SecureChannelFailure) {
      contexts = try OpenSSLContexts(identity: identity, anchors: anchors)
    } catch {
      throw PiconetError(.internalError, blame: .us, detail: "\(error)", underlying: error)
    }
    do throws(SystemError) {
      return HostShell(configuration, identity, knownPeers, contexts, threads: try HostThreads())
    } catch {
      throw PiconetError(.internalError, blame: .us, detail: "\(error)", underlying: error)
    }
  }

  private init(
    _ configuration: NodeHostConfiguration, _ identity: DeviceIdentity, _ knownPeers: KnownPeersFile?,
    _ contexts: OpenSSLContexts, threads: HostThreads
  ) {
    self.configuration = configuration
    self.identity = identity
    self.contexts = contexts
    self.threads = threads
    radioPlan = RadioPlan(loop: threads.loop)
    #if Bluetooth
      bluetooth = BluetoothHost(loop: threads.loop, readName: ServerNameReader().read)
    #endif
    knownPeersFile = knownPeers
    self.knownPeers = KnownPeersTable(file: knownPeers)
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
    case .given(let identity): return (identity.device, nil)
    case .directory(let path):
      do throws(StateFailure) {
        let directory = StateDirectory(path: path)
        let identity = try FileIdentityStore(directory: directory).identity()
        let knownPeers = KnownPeersFile(directory: directory)
        // A file that can't be written is read as it is. If it can't be read, each handshake reports that.
        try? knownPeers.renewOld()
        return (identity, knownPeers)
      } catch {
        throw PiconetError(.state, blame: .us, detail: "\(error)", underlying: error)
      }
    }
  }

  // MARK: Who uses it

  /// Registers a node that is about to be made. Either `joined` or `failedToJoin` follows.
  func join() throws(PiconetError) {
    guard users.withLock({ $0.begin() }) else { throw PiconetError(.shuttingDown, blame: .us) }
  }

  /// - Returns: false if the host has begun to stop meanwhile: the caller must stop the node, which removes it.
  func joined(_ node: NodeShell) -> Bool { users.withLock { $0.add(node, as: ObjectIdentifier(node)) } }

  func failedToJoin() async { await endIfUnused(users.withLock { $0.failed() }) }

  /// Removes a node that has ended. If it was the host's last user, nothing of the host is left when this returns.
  func left(_ node: NodeShell) async { await endIfUnused(users.withLock { $0.remove(ObjectIdentifier(node)) }) }

  /// Tells the host that the code that started it no longer needs it; its nodes may.
  func letGo() async { await endIfUnused(users.withLock { $0.letGo() }) }

  /// See `letGo`; for callers that can't wait.
  func beginLettingGo() {
    if users.withLock({ $0.isHeld }) { Task { [self] in await letGo() } }
  }

  func stop() async {
    let nodes = users.withLock { $0.beginStopping() }
    await withTaskGroup(of: Void.self) { group in
      for node in nodes { group.addTask { await node.stop() } }
    }
    await letGo()
    await hasEnded.wait()
  }

  private func endIfUnused(_ isUnused: Bool) async {
    guard isUnused else { return }
    threads.stop()
    hasEnded.end(())
  }
}
