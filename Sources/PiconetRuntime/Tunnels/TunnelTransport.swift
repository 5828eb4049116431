import PiconetEngine
import PiconetWire

/// Reaches nodes over members that relay. Its connections are tunnels of the engine: their bytes go to the engine as
/// facts, and the engine's bytes come back as effects, through the driver. Confined to the loop.
public final class TunnelTransport: Transport {
  public let kind = TransportKind.relay
  fileprivate let loop: EventLoop
  /// Nil before `start` and after `stop`: effects that come then are dropped.
  private var handler: Handler?
  private var endpoints: [TunnelID: TunnelEndpoint] = [:]
  private var dials: [TunnelID: TunnelDial] = [:]
  private var next: UInt64 = 1
  /// Connections with something to read.
  private var ready: [TunnelEndpoint] = []

  /// The functions of the driver that it uses.
  struct Handler {
    /// Hands a fact to the engine, without carrying out its effects yet.
    let hand: (Fact) -> Void
    /// Called with a connection that another node has opened.
    let accepted: (any LinkEndpoint) -> Void
  }

  public init(loop: EventLoop) { self.loop = loop }

  func start(_ handler: Handler) { self.handler = handler }
  func stop() { handler = nil }

  fileprivate func hand(_ fact: Fact) { if let handler { handler.hand(fact) } }

  public func dial(
    _ addresses: [TransportAddress], completion: @escaping (Result<any LinkEndpoint, LinkFailure>) -> Void
  ) -> any DialCancellation {
    let dial = TunnelDial(over: self, addresses, completion)
    // Not from within this call.
    loop.execute { [dial = LoopConfined(dial)] in dial.value.begin() }
    return dial
  }

  /// Any member that relays may bring a peer: nothing has to be opened for that.
  public func listen(_ accepted: @escaping (any LinkEndpoint) -> Void) throws(LinkFailure) {}
  public var listeningPort: UInt16? { nil }
  public var listeningAddresses: [TransportAddress] { [] }
  public func stopListening() {}

  // MARK: Dials

  fileprivate func open(_ address: TransportAddress, for dial: TunnelDial) -> TunnelID? {
    guard let (relay, remote) = address.relayed else { return nil }
    let id = TunnelID(rawValue: next)
    next += 1
    dials[id] = dial
    hand(.tunnelWanted(id, over: relay, to: remote))
    return id
  }

  fileprivate func giveUp(_ id: TunnelID) {
    guard dials.removeValue(forKey: id) != nil else { return }
    hand(.tunnelClosed(id, isAborted: true))
  }

  fileprivate func later(_ body: @escaping () -> Void) {
    loop.execute { [body = LoopConfined(body)] in body.value() }
  }

  // MARK: Effects

  func opened(_ id: TunnelID, _ route: TunnelRoute) {
    guard let dial = dials.removeValue(forKey: id) else { return }
    dial.succeed(add(id, route))
  }

  func offered(_ id: TunnelID, _ route: TunnelRoute) { if let handler { handler.accepted(add(id, route)) } }

  private func add(_ id: TunnelID, _ route: TunnelRoute) -> TunnelEndpoint {
    let endpoint = TunnelEndpoint(id: id, traits: route.traits, over: self)
    endpoints[id] = endpoint
    return endpoint
  }

  func received(_ id: TunnelID, _ bytes: Bytes) { endpoints[id]?.received(bytes) }

  func taken(_ id: TunnelID, _ count: Int) { endpoints[id]?.taken(count) }

  func passedOn(_ id: TunnelID, _ count: Int) { endpoints[id]?.passedOn(count) }

  func ended(_ id: TunnelID, _ failure: LinkFailure?) {
    if let dial = dials.removeValue(forKey: id) { return dial.failed(failure ?? LinkFailure(.reset)) }
    endpoints.removeValue(forKey: id)?.ended(failure)
  }

  // MARK: Reading

  fileprivate func isReady(_ endpoint: TunnelEndpoint) { ready.append(endpoint) }

  var hasReady: Bool { !ready.isEmpty }

  /// Lets links read the bytes that have come for them. Not while another link is being read: all of them share a
  /// buffer.
  func readReady() {
    guard !ready.isEmpty else { return }
    let endpoints = ready
    ready = []
    for endpoint in endpoints { endpoint.read() }
  }

  fileprivate func closed(_ id: TunnelID, isAborted: Bool) {
    // An endpoint whose end has come no longer belongs to the engine.
    if endpoints.removeValue(forKey: id) != nil { hand(.tunnelClosed(id, isAborted: isAborted)) }
  }
}

/// Tries one relay after the other.
private final class TunnelDial: DialCancellation {
  private let transport: TunnelTransport
  private var addresses: ArraySlice<TransportAddress>
  private var completion: ((Result<any LinkEndpoint, LinkFailure>) -> Void)?
  private var tunnel: TunnelID?
  private var timer: LoopTimer?
  private var failure = LinkFailure(.unreachable, "no relay")

  init(
    over transport: TunnelTransport, _ addresses: [TransportAddress],
    _ completion: @escaping (Result<any LinkEndpoint, LinkFailure>) -> Void
  ) {
    self.transport = transport
    self.addresses = addresses[...]
    self.completion = completion
  }

  func begin() {
    while completion != nil, let address = addresses.popFirst() {
      tunnel = transport.open(address, for: self)
      guard let tunnel else { continue }
      // A relay that does not answer must not hide the others.
      let end = transport.loop.awakeTime + Self.patience
      let timer = LoopTimer(loop: transport.loop) { [weak self] in self?.isSilent(tunnel, until: end) }
      timer.set(awake: end)
      self.timer = timer
      return
    }
    finish(.failure(failure))
  }

  private static let patience = Duration.seconds(5)

  private func isSilent(_ asked: TunnelID, until end: Instant) {
    guard completion != nil, tunnel == asked else { return }
    guard end <= transport.loop.awakeTime else {
      timer?.set(awake: end)
      return
    }
    transport.giveUp(asked)
    failed(LinkFailure(.timedOut, "the relay does not answer"))
  }

  func succeed(_ endpoint: any LinkEndpoint) { finish(.success(endpoint)) }

  func failed(_ failure: LinkFailure) {
    self.failure = failure
    tunnel = nil
    timer?.set(nil)
    begin()
  }

  func cancel() {
    guard completion != nil else { return }
    addresses = []
    timer?.set(nil)
    if let tunnel { transport.giveUp(tunnel) }
    transport.later { [self] in finish(.failure(LinkFailure(.cancelled))) }
  }

  private func finish(_ result: Result<any LinkEndpoint, LinkFailure>) {
    guard let completion else {
      if case .success(let endpoint) = result { endpoint.close(abort: true) }
      return
    }
    self.completion = nil
    timer?.set(nil)
    completion(result)
  }
}

/// One end of a tunnel, as a connection.
private final class TunnelEndpoint: LinkEndpoint {
  let traits: LinkTraits
  private let id: TunnelID
  private let transport: TunnelTransport
  private var handler: (any LinkEndpointHandler)?
  private var unread: [Bytes] = []
  private var end: LinkRead?
  private var isReady = false
  private var isClosed = false
  /// Bytes that the engine has and has not sent yet.
  private var pendingCount = 0
  private var wantsWrite = false
  private var flight = PathFlight(toldBy: .relay)

  init(id: TunnelID, traits: LinkTraits, over transport: TunnelTransport) {
    self.id = id
    self.traits = traits
    self.transport = transport
  }

  func setHandler(_ handler: any LinkEndpointHandler) { self.handler = handler }

  /// A link that does not want to read is closing.
  func setReadiness(read: Bool, write: Bool) { wantsWrite = write }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> LinkRead {
    guard !unread.isEmpty else { return end ?? .wouldBlock }
    var count = 0
    var pieces = 0
    for piece in unread {
      let part = piece.prefix(buffer.count - count)
      part.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: $0) }
      count += part.count
      guard part.count == piece.count else {
        unread[pieces] = piece.dropFirst(part.count)
        break
      }
      pieces += 1
    }
    unread.removeFirst(pieces)
    if end == nil { transport.hand(.tunnelConsumed(id, byteCount: count)) }
    return .bytes(count)
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> LinkWrite {
    // The reader learns of the end; bytes written after it are discarded.
    if end != nil { return .bytes(bytes.count) }
    let count = min(bytes.count, traits.largestWrite - pendingCount)
    guard count > 0 else { return .wouldBlock }
    pendingCount += count
    flight.wrote(count, at: transport.loop.now)
    transport.hand(.tunnelWritten(id, Array(bytes.prefix(count))[...]))
    return .bytes(count)
  }

  func close(abort: Bool) {
    isClosed = true
    handler = nil
    unread = []
    transport.closed(id, isAborted: abort)
  }

  // MARK: The engine's side

  func received(_ bytes: Bytes) {
    unread.append(bytes)
    wake()
  }

  func taken(_ count: Int) {
    pendingCount = max(0, pendingCount - count)
    if wantsWrite { handler?.linkIsReady(read: false, write: true) }
  }

  /// Notes how many bytes the other side of the relay has taken, with which the path is measured.
  func passedOn(_ count: Int) {
    let hasMoreRoom = flight.acknowledged(
      inFlight: flight.inFlight - count, roundTrip: nil, at: transport.loop.now)
    if hasMoreRoom { handler?.linkIsReady(read: false, write: true) }
  }

  /// However quick the way to the relay is, the way behind it may be slow.
  var bulkPace: BulkPace? { flight.pace }

  func ended(_ failure: LinkFailure?) {
    end = failure.map { .failed($0) } ?? .end
    wake()
  }

  private func wake() {
    guard !isReady, !isClosed else { return }
    isReady = true
    transport.isReady(self)
  }

  /// Lets the link read all waiting bytes, and then learn of the end.
  func read() {
    isReady = false
    var left = Int.max
    while !isClosed, !unread.isEmpty, unread.count < left {
      left = unread.count
      handler?.linkIsReady(read: true, write: false)
    }
    if !isClosed, end != nil { handler?.linkIsReady(read: true, write: false) }
  }
}
