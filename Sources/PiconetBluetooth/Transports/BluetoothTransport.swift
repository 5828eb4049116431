import PiconetEngine
import PiconetRuntime
import PiconetSDP

/// L2CAP, RFCOMM or LE channels as a transport: they differ only in the parameters of their sockets. Confined to the
/// loop that it is made for, including its end: close it there.
public final class BluetoothTransport: Transport {
  public var kind: TransportKind { environment.kind.transport }
  private let loop: EventLoop
  private var environment: BluetoothDial.Environment
  private let listeners: SharedListeners
  /// The name of our session in diallers' ClientHellos.
  private let name: String?
  private var listening: ListeningGuest?
  private var dials: [ObjectIdentifier: BluetoothDial] = [:]
  private var dialFailed: ((BluetoothAddress) -> Void)?
  private var accepted: (() -> Void)?
  private let news: AdapterNews
  private var listeningChanged: (() -> Void)?

  /// Creates the transport; it never fails: without Bluetooth, each use reports that.
  /// - Parameters:
  ///   - lookUp: looks up the number of a place that has none; nil: such a place can't be dialled.
  ///   - host: shared by all nodes of a host; nil: this is the only one.
  ///   - name: the name of our session in diallers' ClientHellos; nil: its PSM is not shared, as channels of RFCOMM
  ///     never are.
  public convenience init(
    _ kind: SocketKind, loop: EventLoop,
    configuration: BluetoothTransportConfiguration = BluetoothTransportConfiguration(),
    lookUp: ServicePortLookUp? = nil, host: BluetoothHost? = nil, name: String? = nil
  ) {
    self.init(
      kind, loop: loop, configuration: configuration, lookUp: lookUp, host: host, name: name,
      readAdapters: AdapterTable.read)
  }

  /// - Parameter readAdapters: the kernel's list, or a test's replacement for it.
  init(
    _ kind: SocketKind, loop: EventLoop, configuration: BluetoothTransportConfiguration, lookUp: ServicePortLookUp?,
    host: BluetoothHost? = nil, name: String? = nil, readAdapters: @escaping AdapterTable.Reading
  ) {
    let host = host ?? BluetoothHost(loop: loop)
    self.loop = loop
    self.name = kind.transport.sharesListeners ? name : nil
    news = host.news
    listeners = host.listeners
    var configuration = configuration
    switch kind {
    case .l2cap: break
    // Linux refuses a connect that coincides with the end of an earlier RFCOMM session with the device (seen once in
    // 500).
    case .rfcomm: configuration.dial.refusedRetries = max(1, configuration.dial.refusedRetries)
    case .le:
      // Because of bluetoothd's own channels over a link (EATT), Linux may give out numbers that the remote side still
      // uses, and refuses.
      configuration.dial.refusedRetries = max(2, configuration.dial.refusedRetries)
      // Over LE the device asks no user, and making the link may take some time.
      configuration.dial.refusalTime = max(configuration.dial.timeLimit, configuration.dial.refusalTime)
      configuration.dial.checkPause = configuration.dial.checkPause ?? .milliseconds(250)
    }
    environment = BluetoothDial.Environment(
      kind: kind, configuration: configuration,
      adapters: AdapterPicker(configuration.adapter, read: readAdapters), lookUp: lookUp,
      closes: DrainingCloses(loop: loop, time: configuration.drainTime, limit: configuration.drainLimit))
  }

  deinit { news.remove(ObjectIdentifier(self)) }

  public func dial(
    _ addresses: [TransportAddress], completion: @escaping (Result<any LinkEndpoint, LinkFailure>) -> Void
  ) -> any DialCancellation {
    var id: ObjectIdentifier?
    let dial = BluetoothDial(loop: loop, environment: environment) { [weak self] result in
      if let id { self?.dials[id] = nil }
      if case .failure(let failure) = result, failure.code != .cancelled { self?.report(addresses) }
      completion(result)
    }
    id = ObjectIdentifier(dial)
    dials[ObjectIdentifier(dial)] = dial
    dial.start(addresses)
    return dial
  }

  /// Sets the function that is called on the loop with each device that a dial has failed to reach: what was known
  /// about it may be out of date.
  public func setDialFailureHandler(_ handler: ((BluetoothAddress) -> Void)?) { dialFailed = handler }

  /// Sets the function that is called on the loop each time a device has connected to our listening socket, to this
  /// node or to another that shares the socket, before the link is handed out.
  public func setAcceptedHandler(_ handler: (() -> Void)?) { accepted = handler }

  /// Sets the adapter to dial from while it is on, if the configuration allows any; nil: the one that the kernel
  /// chooses.
  public func setPreferredAdapter(_ adapter: BluetoothAddress?) { environment.adapters.preferred = adapter }

  private func report(_ addresses: [TransportAddress]) {
    let devices = Set(
      addresses.prefix(environment.configuration.dial.placeLimit).compactMap { BluetoothPlace($0.text)?.device })
    for device in devices.sorted() { dialFailed?(device) }
  }

  /// Listens on the configured adapter, or on all present and later ones. The adapter must be present only if it is
  /// given by its name; it need not be switched on. Listening twice is the caller's error: `.busy`.
  public func listen(_ accepted: @escaping (any LinkEndpoint) -> Void) throws(LinkFailure) {
    if listening != nil { throw LinkFailure(.busy, "listening already") }
    let configuration = environment.configuration
    let place = ListeningPlace(
      kind: environment.kind, device: try environment.adapters.listeningDevice(), settings: configuration.socket,
      port: configuration.listeningPort)
    let arrived = { [weak self] () -> Void in self?.accepted?() }
    listening = try listeners.listen(
      at: place, as: name, configuration, closes: environment.closes, arrived: arrived, accepted: accepted)
  }

  /// Sets the function that is called when the adapter that we listen on has been replaced, or has another address: the
  /// node then no longer listens. It is also called at any change of adapters while the node does not listen: it may
  /// work now.
  public func setListeningHandler(_ changed: @escaping () -> Void) {
    listeningChanged = changed
    news.add(ObjectIdentifier(self)) { [weak self] in self?.adaptersChanged() }
  }

  private func adaptersChanged() {
    if let end = listening?.end {
      // While the adapter is away the socket stays, and goes on when the same one comes back.
      guard let device = try? environment.adapters.listeningDevice(), device != end.device else { return }
      stopListening()
    }
    listeningChanged?()
  }

  /// The PSM or the channel that we listen on, the PSM perhaps shared with other nodes of the host; nil if we don't.
  public var listeningPort: UInt16? { listening?.end?.port }

  public var listeningAddresses: [TransportAddress] {
    guard let end = listening?.end else { return [] }
    let devices =
      end.device == SocketEnd.anyDevice ? environment.adapters.usable(for: environment.kind) : [end.device]
    return devices.map {
      TransportAddress(kind: kind, text: BluetoothPlace(device: $0, port: end.port).description)
    }
  }

  public func stopListening() {
    listening?.close()
    listening = nil
  }

  private func endListening() {
    stopListening()
    listeningChanged = nil
    news.remove(ObjectIdentifier(self))
  }

  /// Stops listening, cancels every dial (their completions are still called), and waits for orderly closes that are
  /// under way, at most `drainTime`. Owners must close their links before this.
  /// - Parameter completion: called on the loop when no descriptor of this transport is left.
  public func shutDown(_ completion: @escaping () -> Void) {
    endListening()
    for dial in Array(dials.values) { dial.cancel() }
    environment.closes.onceEmpty { [loop] in loop.executeLater(completion) }
  }

  /// Shuts down as `shutDown` does, without waiting.
  public func closeNow() {
    endListening()
    for dial in Array(dials.values) { dial.cancel() }
    environment.closes.closeAll()
  }
}
