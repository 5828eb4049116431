import Glibc
import TestSupport
import PiconetEngine
import PiconetRuntime

@testable import PiconetIP

/// A link outside its loop: tests pass it around and touch it on the loop only.
struct AnyLink: @unchecked Sendable {
  let value: any LinkEndpoint
  init(_ value: any LinkEndpoint) { self.value = value }
}

final class Counted: @unchecked Sendable {
  // Sendable is right: touched on one loop only.
  var codes: [LinkFailure.Code?] = []
  var count = 0
  var taken = 0
}

/// A transport on a loop, with what tests do with it. All state is touched on the loop only.
final class TestNet: @unchecked Sendable {
  let actor: LoopActor
  let transport: TCPTransport
  var accepted: [Echo] = []
  var dialled: [any LinkEndpoint] = []
  let dialStarted = Gate()

  init(
    _ actor: LoopActor, listen: HostPort?, resolver: WorkerThread? = nil,
    lookUp: @escaping NameLookup.Function = { name in
      name.host == "known.test"
        ? .success([.loopbackIPv6(port: 1), .loopbackIPv4(port: name.port)])
        : .failure(LinkFailure(.unreachable, "not in this test"))
    }
  ) {
    self.actor = actor
    var configuration = TCPConfiguration()
    configuration.listen = listen
    // The kernel drops connections beyond the backlog, and a dropped SYN costs a second.
    configuration.backlog = 1024
    transport = TCPTransport(
      loop: actor.loop, configuration: configuration, resolver: resolver, lookUp: lookUp)
  }

  func listenEchoing() async throws -> TransportAddress { try await listen { $0.start() } }

  func listen(_ body: @escaping @Sendable (Echo) -> Void) async throws -> TransportAddress {
    try await actor.loop.perform { self.listenOnLoop(body) }.get()
  }

  private func listenOnLoop(_ body: @escaping @Sendable (Echo) -> Void) -> Result<TransportAddress, LinkFailure> {
    do throws(LinkFailure) {
      try transport.listen { [unowned self] link in
        let echo = Echo(link)
        accepted.append(echo)
        body(echo)
      }
    } catch {
      return .failure(error)
    }
    return transport.listeningAddresses.first.map { .success($0) } ?? .failure(LinkFailure(.other, "no address"))
  }

  private func result(_ addresses: [TransportAddress]) async -> Result<AnyLink, LinkFailure> {
    await withCheckedContinuation { continuation in
      actor.loop.execute { [self] in
        _ = transport.dial(addresses) { [self] result in
          precondition(actor.loop.isOnLoop)
          if case .success(let link) = result { dialled.append(link) }
          continuation.resume(returning: result.map(AnyLink.init))
        }
        dialStarted.open()
      }
    }
  }

  func dial(_ addresses: [TransportAddress]) async throws -> AnyLink { try await result(addresses).get() }

  func dialFailing(_ addresses: [TransportAddress]) async -> LinkFailure? { await result(addresses).failure }

  /// Whether a dial that is cancelled at once ends as cancelled.
  func dialCancelled(_ addresses: [TransportAddress]) async -> Bool {
    await withCheckedContinuation { continuation in
      actor.loop.execute { [self] in
        transport.dial(addresses) { continuation.resume(returning: $0.failure?.code == .cancelled) }.cancel()
      }
    }
  }

  /// Writes all bytes, and reads as many.
  func exchange(_ link: AnyLink, _ bytes: [UInt8]) async -> [UInt8] {
    let reader = await actor.run { _ in Reader(link.value, writing: bytes, wanted: bytes.count) }
    _ = await reader.end()
    return await actor.run { _ in reader.bytes }
  }

  func reader(_ link: AnyLink) async -> Reader { await actor.run { _ in Reader(link.value) } }

  func close() async {
    await withCheckedContinuation { continuation in
      actor.loop.execute { [self] in
        for link in dialled { link.close(abort: false) }
        for echo in accepted { echo.link.close(abort: false) }
        dialled = []
        accepted = []
        transport.shutDown { continuation.resume() }
      }
    }
  }
}

/// Sends back what comes, and ends when the remote side ends.
final class Echo: LinkEndpointHandler {
  let link: any LinkEndpoint
  private var pending: [UInt8] = []

  init(_ link: any LinkEndpoint) { self.link = link }

  func start() {
    link.setHandler(self)
    link.setReadiness(read: true, write: false)
  }

  func linkIsReady(read: Bool, write: Bool) {
    if read && pending.isEmpty {
      var buffer = [UInt8](repeating: 0, count: 16 << 10)
      switch buffer.withUnsafeMutableBytes({ link.read(into: $0) }) {
      case .bytes(let count): pending += buffer.prefix(count)
      case .wouldBlock: break
      case .end, .failed:
        link.close(abort: false)
        return
      }
    }
    pending.removeFirst(link.writeAll(pending))
    link.setReadiness(read: pending.isEmpty, write: !pending.isEmpty)
  }
}

/// Reads a link until its end, or until it has as much as wanted.
final class Reader: LinkEndpointHandler, @unchecked Sendable {
  // Sendable is right: it is touched on the loop only, except for the stream.
  private let link: any LinkEndpoint
  private var unsent: [UInt8]
  private let wanted: Int?
  private let stream: AsyncStream<LinkRead>
  private let continuation: AsyncStream<LinkRead>.Continuation
  var bytes: [UInt8] = []

  init(_ link: any LinkEndpoint, writing: [UInt8] = [], wanted: Int? = nil) {
    self.link = link
    unsent = writing
    self.wanted = wanted
    (stream, continuation) = AsyncStream.makeStream()
    link.setHandler(self)
    link.setReadiness(read: true, write: !unsent.isEmpty)
  }

  /// The last result of reading.
  func end() async -> LinkRead {
    for await last in stream { return last }
    return .wouldBlock
  }

  func linkIsReady(read: Bool, write: Bool) {
    if write { unsent.removeFirst(link.writeAll(unsent)) }
    if read {
      var buffer = [UInt8](repeating: 0, count: 16 << 10)
      let last = buffer.withUnsafeMutableBytes { link.read(into: $0) }
      switch last {
      case .bytes(let count): bytes += buffer.prefix(count)
      case .wouldBlock: break
      case .end, .failed:
        finish(last)
        return
      }
      if let wanted, bytes.count >= wanted {
        finish(last)
        return
      }
    }
    link.setReadiness(read: true, write: !unsent.isEmpty)
  }

  private func finish(_ last: LinkRead) {
    link.setReadiness(read: false, write: false)
    continuation.yield(last)
    continuation.finish()
  }
}

extension LinkEndpoint {
  /// Writes as much as the link takes now; returns how much that was.
  func writeAll(_ bytes: [UInt8]) -> Int {
    var done = 0
    while done < bytes.count {
      guard case .bytes(let count) = bytes[done...].withUnsafeBytes({ write($0) }) else { break }
      done += count
    }
    return done
  }
}

extension LinkRead {
  var failureCode: LinkFailure.Code? {
    if case .failed(let failure) = self { failure.code } else { nil }
  }
}

extension Result {
  var failure: Failure? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}

/// A port of both families that is taken, but on which no socket listens.
final class SilentPort: Sendable {
  private let socket: Int32
  let port: UInt16

  init() throws {
    let socket = try TCPSocket.make(AF_INET6)
    self.socket = socket
    _ = SocketAddress.anyIPv6(port: 0).withSystemAddress { bind(socket, $0, $1) }
    port = SocketAddress.of(socket, remote: false)?.port ?? 0
  }

  deinit { Glibc.close(socket) }
}

/// Lowers this process's limit and takes every descriptor that is left. Only for a process of its own.
func takeAllDescriptors() -> [Int32] {
  var limit = rlimit()
  getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  limit.rlim_cur = 128
  setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  var taken: [Int32] = []
  while case let descriptor = dup(0), descriptor >= 0 { taken.append(descriptor) }
  return taken
}
