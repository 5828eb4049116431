import PiconetEngine
import PiconetRuntime
import PiconetSDP
import Testing

@testable import PiconetBluetooth

/// A link outside its loop: tests carry it about and touch it on the loop only.
struct AnyLink: @unchecked Sendable {
  // Sendable is right: see above.
  let value: any LinkEndpoint
}

/// Two transports of one kind on one loop, each bound to an adapter of its own; the second one listens.
final class BluetoothNet: @unchecked Sendable {
  // Sendable is right: after `init` everything is touched on the loop only.
  let loop: EventLoop
  let kind: SocketKind
  private(set) var dialler: BluetoothTransport
  private(set) var listener: BluetoothTransport
  private var accepted: [AnyLink] = []
  private var waiting: [CheckedContinuation<AnyLink, Never>] = []
  private var links: [any LinkEndpoint] = []

  init(
    _ kind: SocketKind, _ loop: EventLoop, lookUp: ServicePortLookUp? = nil,
    _ change: (inout BluetoothTransportConfiguration) -> Void = { _ in }
  ) {
    self.loop = loop
    self.kind = kind
    var configuration = BluetoothTransportConfiguration()
    change(&configuration)
    configuration.adapter = .named(VirtualAdapters.names[0])
    dialler = BluetoothTransport(kind, loop: loop, configuration: configuration, lookUp: lookUp)
    configuration.adapter = .named(VirtualAdapters.names[1])
    listener = BluetoothTransport(kind, loop: loop, configuration: configuration)
  }

  func perform<Value: Sendable>(_ body: @escaping @Sendable (BluetoothNet) -> Value) async -> Value {
    await loop.perform { body(self) }
  }

  /// Starts listening.
  func listen() async throws -> TransportAddress {
    let result: Result<TransportAddress, LinkFailure> = await perform { net in
      do throws(LinkFailure) {
        try net.listener.listen { [unowned net] link in net.take(link) }
      } catch {
        return .failure(error)
      }
      return net.listener.listeningAddresses.first.map { .success($0) } ?? .failure(LinkFailure(.other, "no address"))
    }
    return try result.get()
  }

  private func take(_ link: any LinkEndpoint) {
    links.append(link)
    if waiting.isEmpty {
      accepted.append(AnyLink(value: link))
    } else {
      waiting.removeFirst().resume(returning: AnyLink(value: link))
    }
  }

  func dial(_ addresses: TransportAddress...) async -> Result<AnyLink, LinkFailure> {
    await withCheckedContinuation { continuation in
      loop.execute { [self] in
        var isWithin = true
        _ = dialler.dial(addresses) { [self] result in
          precondition(loop.isOnLoop && !isWithin)
          if case .success(let link) = result { links.append(link) }
          continuation.resume(returning: result.map { AnyLink(value: $0) })
        }
        isWithin = false
      }
    }
  }

  func nextAccepted() async -> AnyLink {
    await withCheckedContinuation { continuation in
      loop.execute { [self] in
        if accepted.isEmpty {
          waiting.append(continuation)
        } else {
          continuation.resume(returning: accepted.removeFirst())
        }
      }
    }
  }

  /// Dials and accepts.
  func pair() async throws -> (dialled: AnyLink, accepted: AnyLink) {
    let dialled = try await dial(try await listeningAddress()).get()
    return (dialled, await nextAccepted())
  }

  private func listeningAddress() async throws -> TransportAddress {
    if let address = await perform({ $0.listener.listeningAddresses.first }) { return address }
    return try await listen()
  }

  func close(_ link: AnyLink, abort: Bool = false) async { await loop.perform { link.value.close(abort: abort) } }

  func closeAll() async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      loop.execute { [self] in
        for link in links { link.close(abort: true) }
        links = []
        dialler.shutDown { [self] in listener.shutDown { continuation.resume() } }
      }
    }
  }
}

/// Two transports for the time of `body`.
func withNet(
  _ kind: SocketKind, lookUp: ServicePortLookUp? = nil,
  _ change: (inout BluetoothTransportConfiguration) -> Void = { _ in },
  _ body: (BluetoothNet) async throws -> Void
) async throws {
  let loop = try EventLoop(name: "bt-test")
  let net = BluetoothNet(kind, loop, lookUp: lookUp, change)
  let result: Result<Void, any Error>
  do { result = .success(try await body(net)) } catch { result = .failure(error) }
  await net.closeAll()
  loop.stop()
  try result.get()
}
