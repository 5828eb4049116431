import PiconetEngine
import PiconetIP
import PiconetRuntime
import PiconetTLS
import PiconetWire

@testable import Piconet

#if Bluetooth
  import PiconetBluetooth
#endif

/// A peer with a transport and no manners: it dials and listens, and says only what a test tells it to.
final class BarePeer: @unchecked Sendable {
  // Sendable is right: everything but the constants is used on the loop only.
  private let loop: EventLoop
  private let resolver: WorkerThread
  private var transport: (any Transport)?
  private var shutDown: ((@escaping () -> Void) -> Void)?
  /// Advertises, because an adapter that advertises nothing accepts no connections.
  private var discovery: (any Discovery)?
  private var sessionID = ""
  private let identity: PeerID
  private let world: SuiteWorld
  private var links: [Link] = []
  private var dial: (any DialCancellation)?

  /// A link that says nothing and reads nothing except its end.
  private final class Link: LinkEndpointHandler {
    let endpoint: any LinkEndpoint
    private(set) var isOver = false
    private(set) var received = 0
    private let hangsUp: Bool

    init(_ endpoint: any LinkEndpoint, hangsUp: Bool = false) {
      self.endpoint = endpoint
      self.hangsUp = hangsUp
      endpoint.setHandler(self)
      endpoint.setReadiness(read: true, write: false)
    }

    func linkIsReady(read: Bool, write: Bool) {
      guard read, !isOver else { return }
      withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
        switch endpoint.read(into: buffer) {
        case .bytes(let count):
          received += count
          if hangsUp {
            isOver = true
            endpoint.close(abort: true)
          }
        case .wouldBlock: return
        case .end, .failed:
          isOver = true
          endpoint.close(abort: true)
        }
      }
    }
  }

  /// At the place of the node with this number, for as long as `body` runs.
  static func run<Value>(
    _ place: Int, in world: SuiteWorld, _ body: (BarePeer) async throws -> Value
  ) async throws -> Value {
    let peer = try BarePeer(world)
    await peer.loop.perform { peer.make(place, world) }
    do {
      let value = try await body(peer)
      await peer.end()
      return value
    } catch {
      await peer.end()
      throw error
    }
  }

  private init(_ world: SuiteWorld) throws {
    self.world = world
    identity = try DeviceIdentity.generate().peer
    loop = try EventLoop(name: "bare peer")
    resolver = try WorkerThread(name: "bare names", limit: 4)
  }

  private func make(_ place: Int, _ world: SuiteWorld) {
    switch world.transport.medium {
    case .memory: transport = world.memory?.parts(loop: loop).transports.first
    case .loopback:
      var configuration = TCPConfiguration()
      configuration.listen = try? HostPort("127.0.0.1:0")
      let tcp = TCPTransport(loop: loop, configuration: configuration, resolver: resolver)
      transport = tcp
      shutDown = tcp.shutDown
    case .bluetooth(let places):
      sessionID = world.session
      switch places[place % places.count] {
      case .far(let agent):
        let parts = world.far.parts(at: agent, kind: world.transport.kind, session: sessionID, loop: loop)
        transport = parts.transports.first
        discovery = parts.discoveries.first
        shutDown = parts.shutDown
      case .here(let adapter):
        #if Bluetooth
          var configuration = BluetoothConfiguration(sessionID: sessionID)
          configuration.transports = [world.transport.kind]
          configuration.adapter = BluetoothConfiguration.Adapter(adapter) ?? .any
          let stack = BluetoothStack(loop: loop, configuration: configuration, discovers: true)
          transport = stack.transports.first
          discovery = stack.discoveries.first
          shutDown = stack.shutDown
        #endif
      }
    }
  }

  private func end() async {
    await withCheckedContinuation { continuation in
      loop.execute { [self] in
        for link in links where !link.isOver { link.endpoint.close(abort: true) }
        links = []
        dial = nil
        discovery?.advertise(nil)
        transport?.stopListening()
        let done = { [self] in
          transport = nil
          discovery = nil
          shutDown = nil
          continuation.resume()
        }
        if let shutDown { shutDown(done) } else { done() }
      }
    }
    resolver.stop()
    loop.stop()
  }

  /// Opens a link and says these bytes on it, or nothing.
  func dial(_ addresses: [TransportAddress], saying bytes: [UInt8] = []) async throws {
    let failure: LinkFailure? = await withCheckedContinuation { continuation in
      loop.execute { [self] in
        guard let transport else { return continuation.resume(returning: LinkFailure(.notAvailable)) }
        dial = transport.dial(addresses) { [self] result in
          switch result {
          case .success(let endpoint):
            links.append(Link(endpoint))
            if !bytes.isEmpty { _ = bytes.withUnsafeBytes { endpoint.write($0) } }
            continuation.resume(returning: nil)
          case .failure(let failure): continuation.resume(returning: failure)
          }
        }
      }
    }
    if let failure { throw failure }
  }

  /// Accepts every link, and never speaks; returns once its adapter answers dials.
  /// - Parameter hangsUp: whether it ends each link as soon as something has come.
  func listen(hangingUp hangsUp: Bool = false) async throws {
    let failure = await loop.perform { [self] () -> LinkFailure? in
      do throws(LinkFailure) {
        try transport?.listen { [self] in
          if hangsUp { links.removeAll(where: \.isOver) }
          links.append(Link($0, hangsUp: hangsUp))
        }
        discovery?.advertise(
          NodeAdvertisement(
            peer: identity, incarnation: Incarnation(rawValue: 1), name: "Bare", info: [:],
            sessionID: sessionID, ports: [world.transport.kind: transport?.listeningPort].compactMapValues { $0 }))
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw failure }
    try await world.untilAnswered(addresses)
  }

  var addresses: [TransportAddress] {
    get async { await loop.perform { [self] in transport?.listeningAddresses ?? [] } }
  }

  /// Links that the remote side has ended.
  var endedLinks: Int { get async { await loop.perform { [self] in links.count(where: \.isOver) } } }
  /// All links that there have been.
  var linkCount: Int { get async { await loop.perform { [self] in links.count } } }
}
