import Glibc
import PiconetEngine
import PiconetRuntime

/// TCP over IPv4 and IPv6. Confined to the loop that it is made for, including its end: close it there.
public final class TCPTransport: Transport {
  public let kind = TransportKind.tcp
  private let loop: EventLoop
  private let configuration: TCPConfiguration
  private let resolver: (any BlockingThreads)?
  private let lookUp: NameLookup.Function
  private let lingering: LingeringCloses
  private var listener: TCPListener?
  private var dials: [ObjectIdentifier: TCPDial] = [:]

  /// - Parameter resolver: looks up host names. A look-up may take as long as resolv.conf allows, so this should not be
  ///   the disk thread. Nil: only numeric addresses and `localhost` work.
  public convenience init(
    loop: EventLoop, configuration: TCPConfiguration = TCPConfiguration(), resolver: (any BlockingThreads)? = nil
  ) {
    self.init(loop: loop, configuration: configuration, resolver: resolver, lookUp: NameLookup.addresses)
  }

  /// - Parameter lookUp: getaddrinfo, or a test's replacement for it.
  init(
    loop: EventLoop, configuration: TCPConfiguration, resolver: (any BlockingThreads)?,
    lookUp: @escaping NameLookup.Function
  ) {
    self.loop = loop
    self.lookUp = lookUp
    self.configuration = configuration
    self.resolver = resolver
    lingering = LingeringCloses(loop: loop, time: configuration.lingerTime, limit: configuration.lingerLimit)
  }

  public func dial(
    _ addresses: [TransportAddress], completion: @escaping (Result<any LinkEndpoint, LinkFailure>) -> Void
  ) -> any DialCancellation {
    var id: ObjectIdentifier?
    let dial = TCPDial(
      loop: loop, configuration: configuration, resolver: resolver, lookUp: lookUp, lingering: lingering
    ) { [weak self] result in
      if let id { self?.dials[id] = nil }
      completion(result)
    }
    id = ObjectIdentifier(dial)
    dials[ObjectIdentifier(dial)] = dial
    dial.start(addresses)
    return dial
  }

  /// Listens where the configuration says; without a host, on one socket for both families, or only IPv4 if the system
  /// has no IPv6. Listening twice is the caller's error: `.busy`.
  public func listen(_ accepted: @escaping (any LinkEndpoint) -> Void) throws(LinkFailure) {
    if listener != nil { throw LinkFailure(.busy, "listening already") }
    let socket = try listeningSocket()
    listener = try TCPListener(socket: socket, loop: loop, configuration: configuration) {
      [loop, configuration, lingering] connection in
      // A link that can't be watched closes its socket as it is released.
      let link = try? TCPLink(socket: connection, loop: loop, configuration: configuration, lingering: lingering)
      if let link { accepted(link) }
    }
  }

  private func listeningSocket() throws(LinkFailure) -> Int32 {
    let backlog = configuration.backlog
    guard let place = configuration.listen, place.host != "*" else {
      let port = configuration.listen?.port ?? 0
      do throws(LinkFailure) {
        return try TCPSocket.listen(on: .anyIPv6(port: port), dualStack: true, backlog: backlog)
      } catch {
        guard error.code == .notAvailable else { throw error }
        return try TCPSocket.listen(on: .anyIPv4(port: port), dualStack: false, backlog: backlog)
      }
    }
    guard let addresses = try place.numericAddresses(), let address = addresses.last else {
      throw LinkFailure(.notAvailable, "\(place): listen on a numeric address, localhost, or * for all")
    }
    return try TCPSocket.listen(on: address, dualStack: address.isUnspecified, backlog: backlog)
  }

  /// The port that we listen on; nil when we don't.
  public var listeningPort: UInt16? { listener?.address?.port }

  public var listeningAddresses: [TransportAddress] {
    guard let address = listener?.address else { return [] }
    let addresses =
      address.isUnspecified
      ? LocalAddresses.current(port: address.port, ipv4: true, ipv6: address.isIPv6) : [address]
    return addresses.map { TransportAddress(kind: .tcp, text: $0.description) }
  }

  /// Stops (true) or resumes (false) accepting, to limit links that are not secured yet. Meanwhile up to `backlog`
  /// connections wait in the kernel.
  public func pauseAccepting(_ isPaused: Bool) { listener?.setPaused(isPaused) }

  public func stopListening() {
    listener?.close()
    listener = nil
  }

  /// Stops listening, cancels every dial (their completions are still called), and waits for orderly closes that are
  /// under way, at most `lingerTime`. Owners must close their links before this.
  /// - Parameter completion: called on the loop when no descriptor of this transport is left.
  public func shutDown(_ completion: @escaping () -> Void) {
    stopListening()
    for dial in Array(dials.values) { dial.cancel() }
    lingering.onceEmpty { [loop] in loop.executeLater(completion) }
  }

  /// Shuts down as `shutDown` does, without waiting.
  public func closeNow() {
    stopListening()
    for dial in Array(dials.values) { dial.cancel() }
    lingering.closeAll()
  }
}
