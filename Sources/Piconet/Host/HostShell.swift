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
  // Sendable is right: what is marked as confined to the loop is used only there; the rest is constant or guards
  // itself.
  let configuration: NodeHostConfiguration
  let identity: DeviceIdentity
  let threads: HostThreads
  let contexts: OpenSSLContexts
  /// Nil where the identity is kept nowhere.
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

  /// The code that starts a host holds it, until `letGo` or `stop`.
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
        // A file that can't be written is read as it is, and one that can't be read is told by each handshake.
        try? knownPeers.renewOld()
        return (identity, knownPeers)
      } catch {
        throw PiconetError(.state, blame: .us, detail: "\(error)", underlying: error)
      }
    }
  }

  // MARK: Who uses it

  /// A node is about to be made. Either `joined` or `failedToJoin` follows.
  func join() throws(PiconetError) {
    guard users.withLock({ $0.begin() }) else { throw PiconetError(.shuttingDown, blame: .us) }
  }

  /// - Returns: false if the host has begun to stop meanwhile: the node is to be stopped, which ends its stay.
  func joined(_ node: NodeShell) -> Bool { users.withLock { $0.add(node, as: ObjectIdentifier(node)) } }

  func failedToJoin() async { await endIfUnused(users.withLock { $0.failed() }) }

  /// A node has ended. If it was the host's last user, nothing of the host is left when this returns.
  func left(_ node: NodeShell) async { await endIfUnused(users.withLock { $0.remove(ObjectIdentifier(node)) }) }

  /// The code that started the host no longer needs it; its nodes may.
  func letGo() async { await endIfUnused(users.withLock { $0.letGo() }) }

  /// As `letGo`, for callers that can't wait.
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
