import PiconetBlueZ
import PiconetEngine
import PiconetRuntime
import PiconetSDP
import PiconetWire

/// Finds others over Bluetooth and is found: through bluetoothd where it runs, otherwise by the kernel alone if this
/// process may. Confined to the loop.
///
/// Both are one source for the engine, since only one of them reports at any time. At the start bluetoothd is waited
/// for a moment; when it comes later, it takes over.
final class BluetoothDiscovery: Discovery {
  let sourceName = "bluetooth"
  private let loop: EventLoop
  private let configuration: BluetoothConfiguration
  private let daemon: BlueZDiscovery?
  private var headless: HeadlessDiscovery?
  private var timer: LoopTimer?
  private var handler: ((DiscoveryReport) -> Void)?
  private var adapterHandler: ((BluetoothAddress?) -> Void)?
  private var daemonAdapter: BluetoothAddress?
  private var headlessAdapter: BluetoothAddress?
  private var advertisement: NodeAdvertisement?
  private var sessionID: String?
  private var isRadioBusy = false
  private var hasRadioTurn = false
  private var isExpecting = false
  /// The nodes that discovery by the kernel has found; withdrawn when that ends.
  private var foundHeadless: Set<NodeID> = []

  /// How often to check whether bluetoothd runs, while it does not.
  private static let daemonInterval = Duration.seconds(2)

  init(loop: EventLoop, configuration: BluetoothConfiguration, host: BluetoothHost) {
    self.loop = loop
    self.configuration = configuration
    var settings = BlueZSettings()
    settings.adapter =
      switch configuration.adapter {
      case .any: .any
      case .named(let name): .named(name)
      case .address(let address): .address(address)
      }
    settings.requiresPairing = configuration.requiresPairing
    settings.usesClassic = configuration.transports.contains(where: \.usesBREDR)
    settings.usesLowEnergy = true
    daemon =
      configuration.finder == .headless
      ? nil
      : BlueZDiscovery(
        loop: loop, options: BlueZDiscovery.Options(settings: settings), circle: host.circle, adapters: host.adapters,
        records: host.records
      ) { adapter, pause in
        DeviceRecordReader(loop: loop, adapter: adapter, sessionID: configuration.sessionID, pause: pause)
      }
    if configuration.finder != .daemon {
      timer = LoopTimer(loop: loop) { [weak self] in self?.lookForDaemon() }
    }
  }

  func setHandler(_ handler: @escaping (DiscoveryReport) -> Void) {
    self.handler = handler
    daemon?.setHandler(handler)
  }

  /// Sets the function that is called on the loop with the adapter by which others are found now, or nil; dials should
  /// use it.
  func setAdapterHandler(_ handler: @escaping (BluetoothAddress?) -> Void) {
    adapterHandler = handler
    daemon?.setAdapterHandler { [weak self] adapter in
      guard let self else { return }
      daemonAdapter = adapter
      adapterHandler?(daemonAdapter ?? headlessAdapter)
    }
  }

  private func setHeadlessAdapter(_ adapter: BluetoothAddress?) {
    headlessAdapter = adapter
    adapterHandler?(daemonAdapter ?? headlessAdapter)
  }

  func advertise(_ advertisement: NodeAdvertisement?) {
    self.advertisement = advertisement
    daemon?.advertise(advertisement)
    headless?.advertise(advertisement)
    wantedChanged()
  }

  func search(sessionID: String?) {
    self.sessionID = sessionID
    daemon?.search(sessionID: sessionID)
    headless?.search(sessionID: sessionID)
    wantedChanged()
  }

  /// Sets whether a peer is expected. bluetoothd does this over LE alone: it has no way to answer over BR/EDR without
  /// being discoverable (Documentation/bluetooth.md, Limits). The kernel alone does it over BR/EDR.
  func setExpecting(_ isExpecting: Bool) {
    self.isExpecting = isExpecting
    daemon?.setExpecting(isExpecting && configuration.transports.contains(.le))
    headless?.setExpecting(isExpecting)
    wantedChanged()
  }

  func setRadioBusy(_ isBusy: Bool) {
    isRadioBusy = isBusy
    daemon?.setRadioBusy(isBusy)
    headless?.setRadioBusy(isBusy)
  }

  func setRadioTurn(_ hasTurn: Bool) {
    hasRadioTurn = hasTurn
    daemon?.setRadioTurn(hasTurn)
    headless?.setRadioTurn(hasTurn)
  }

  /// Notes that a dial to this device failed: its node may have restarted.
  func dialFailed(_ device: BluetoothAddress) { daemon?.dialFailed(device) }

  /// Notes that a device has connected to this node over LE.
  func reachedOverLowEnergy() { daemon?.reachedOverLowEnergy() }

  // MARK: With and without bluetoothd

  private func wantedChanged() {
    guard let timer else { return }
    if advertisement == nil, sessionID == nil, !isExpecting {
      timer.set(nil)
      endHeadless()
    } else if daemon == nil {
      lookForDaemon()
    } else {
      timer.set(after: Self.daemonInterval)
    }
  }

  private func lookForDaemon() {
    if let daemon {
      timer?.set(after: Self.daemonInterval)
      if daemon.hasDaemon { return endHeadless(forDaemon: true) }
    }
    guard headless == nil else { return }
    // Without the adapter or the privilege it tries again: both may come.
    if daemon == nil { timer?.set(after: Self.daemonInterval) }
    guard let adapter = try? AdapterTable.read().adapter(configuration.adapter),
      let index = adapter.number,
      let discovery = try? HeadlessDiscovery(index: index, adapter: adapter.device, loop: loop)
    else { return }
    headless = discovery
    setHeadlessAdapter(adapter.device)
    discovery.setHandler { [weak self] in self?.reportHeadless($0) }
    discovery.setRadioBusy(isRadioBusy)
    discovery.setRadioTurn(hasRadioTurn)
    discovery.setExpecting(isExpecting)
    discovery.advertise(advertisement)
    discovery.search(sessionID: sessionID)
  }

  private func reportHeadless(_ report: DiscoveryReport) {
    switch report {
    case .seen(let sighting): foundHeadless.insert(NodeID(peer: sighting.peer, incarnation: sighting.incarnation))
    case .gone(let peer, let incarnation): foundHeadless.remove(NodeID(peer: peer, incarnation: incarnation))
    }
    handler?(report)
  }

  private func endHeadless(forDaemon: Bool = false) {
    if forDaemon { headless?.handOver() } else { headless?.close() }
    headless = nil
    setHeadlessAdapter(nil)
    for node in foundHeadless.sorted() { handler?(.gone(node.peer, node.incarnation)) }
    foundHeadless = []
  }

  // MARK: The end

  /// Begins the work that `shutDown` waits for: the adapter's former state has to be restored.
  func close() {
    handler = nil
    adapterHandler = nil
    timer?.set(nil)
    endHeadless()
    daemon?.shutDown {}
  }

  /// Shuts down; `completion` is called on the loop, after at most `BlueZDiscovery.shutDownLimit`.
  func shutDown(_ completion: @escaping () -> Void) {
    close()
    guard let daemon else { return loop.executeLater(completion) }
    daemon.shutDown(completion)
  }
}
