import PiconetEngine
import PiconetRuntime
import PiconetSDP
import Testing

@testable import PiconetBluetooth

/// A link outside its loop: tests pass it around and touch it on the loop only.
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
  private var others: [BluetoothTransport] = []

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

  /// Listens at another adapter as well.
  func listen(alsoOn index: Int) async throws -> TransportAddress {
    let result: Result<TransportAddress, LinkFailure> = await perform { net in
      var configuration = BluetoothTransportConfiguration()
      configuration.adapter = .named(VirtualAdapters.names[index])
      let other = BluetoothTransport(net.kind, loop: net.loop, configuration: configuration)
      net.others.append(other)
      do throws(LinkFailure) {
        try other.listen { [unowned net] link in net.take(link) }
      } catch {
        return .failure(error)
      }
      return other.listeningAddresses.first.map { .success($0) } ?? .failure(LinkFailure(.other, "no address"))
    }
    return try result.get()
  }

  /// Begins to dial, and cancels at once.
  func dialAndCancel(_ address: TransportAddress) async -> Result<AnyLink, LinkFailure> {
    await withCheckedContinuation { continuation in
      loop.execute { [self] in
        dialler.dial([address]) { result in
          continuation.resume(returning: result.map { AnyLink(value: $0) })
        }.cancel()
      }
    }
  }

  /// The next accepted link that has not ended: a cancelled dial may have got this far.
  func nextLiving() async -> AnyLink {
    while true {
      let link = await nextAccepted()
      let hasEnded = await loop.perform {
        var byte: UInt8 = 0
        return withUnsafeMutableBytes(of: &byte) { link.value.read(into: $0) } != .wouldBlock
      }
      if !hasEnded { return link }
      await close(link)
    }
  }

  /// Closes links that were accepted and not asked for.
  func closeAccepted() async {
    await loop.perform { [self] in
      for link in accepted { link.value.close(abort: true) }
      accepted = []
    }
  }

  func dial(_ addresses: TransportAddress...) async -> Result<AnyLink, LinkFailure> {
    await dial(addresses) { $0.dialler }
  }

  /// Dials from another adapter.
  func dial(_ address: TransportAddress, from index: Int) async -> Result<AnyLink, LinkFailure> {
    await dial([address]) { net in
      var configuration = BluetoothTransportConfiguration()
      configuration.adapter = .named(VirtualAdapters.names[index])
      let other = BluetoothTransport(net.kind, loop: net.loop, configuration: configuration)
      net.others.append(other)
      return other
    }
  }

  private func dial(
    _ addresses: [TransportAddress], _ transport: @escaping @Sendable (BluetoothNet) -> BluetoothTransport
  ) async -> Result<AnyLink, LinkFailure> {
    await withCheckedContinuation { continuation in
      loop.execute { [self] in
        var isWithin = true
        _ = transport(self).dial(addresses) { [self] result in
          precondition(loop.isOnLoop && !isWithin)
          if case .success(let link) = result { links.append(link) }
          continuation.resume(returning: result.map { AnyLink(value: $0) })
        }
        isWithin = false
      }
    }
  }

  /// A dial that may be cancelled before its end.
  struct BegunDial: @unchecked Sendable {
    // Sendable is right: it is touched on the loop only.
    fileprivate let loop: EventLoop
    fileprivate let cancellation: any DialCancellation
    fileprivate let results: AsyncStream<Result<AnyLink, LinkFailure>>

    func cancel() { loop.execute { cancellation.cancel() } }

    var result: Result<AnyLink, LinkFailure> {
      get async {
        for await result in results { return result }
        return .failure(LinkFailure(.other, "no result"))
      }
    }
  }

  func beginDial(_ address: TransportAddress) async -> BegunDial {
    let (results, told) = AsyncStream.makeStream(of: Result<AnyLink, LinkFailure>.self)
    return await withCheckedContinuation { continuation in
      loop.execute { [self] in
        let cancellation = dialler.dial([address]) { [self] result in
          if case .success(let link) = result { links.append(link) }
          told.yield(result.map { AnyLink(value: $0) })
          told.finish()
        }
        continuation.resume(returning: BegunDial(loop: loop, cancellation: cancellation, results: results))
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

  /// Dials, and accepts the link.
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
        for other in others { other.closeNow() }
        others = []
        dialler.shutDown { [self] in listener.shutDown { continuation.resume() } }
      }
    }
  }
}

/// Two transports while `body` runs.
func withNet(
  _ kind: SocketKind, lookUp: ServicePortLookUp? = nil,
  _ change: (inout BluetoothTransportConfiguration) -> Void = { _ in },
  _ body: (BluetoothNet) async throws -> Void
) async throws {
  try VirtualAdapters.makeReachable()
  let loop = try EventLoop(name: "bt-test")
  let net = BluetoothNet(kind, loop, lookUp: lookUp, change)
  let result: Result<Void, any Error>
  do { result = .success(try await body(net)) } catch { result = .failure(error) }
  await net.closeAll()
  loop.stop()
  try result.get()
}
