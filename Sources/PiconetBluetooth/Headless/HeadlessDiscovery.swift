import CPiconetBluetooth
import PiconetEngine
import PiconetRuntime
import PiconetSDP
import PiconetWire

/// Finds peers over Bluetooth with the kernel alone, if no bluetoothd runs; confined to the loop that it was made on.
///
/// It switches the adapter on, makes it connectable and discoverable, puts the session's UUID into the extended inquiry
/// response, and inquires. It reads the record of every device with that UUID: over the record channel
/// (`RecordChannel`), or by SDP if the response names no such channel, as for nodes that use bluetoothd. Closing it
/// restores the adapter's former state.
///
/// Its limits: it needs CAP_NET_ADMIN and CAP_NET_RAW; one node per adapter, since an adapter has one inquiry response;
/// BR/EDR only, since the kernel leaves LE off unless its management interface was used; bluetoothd must not use the
/// same adapter, since it would overwrite our inquiry response with its own.
public final class HeadlessDiscovery: Discovery {
  /// The options of its inquiries.
  public struct Options: Sendable, Hashable {
    /// The length of one inquiry, in units of 1.28 s. Default: 4; devices listen every 2.56 s at the latest.
    public var inquiryLength: UInt8 = 4
    /// The pause between two inquiries, in which others get the radio. Default: 3 s.
    public var pause = Duration.seconds(3)
    /// The number of inquiries without an answer after which a peer is gone. Default: 3.
    public var patience = 3
    /// How long the side with the larger address waits before it reads the other's record. Default: 0.5 s.
    public var courtesy = Duration.milliseconds(500)

    public init() {}
  }

  private enum Phase { case waiting, preparing, ready, closed }

  public let sourceName = "hci"
  /// Why nothing is advertised or found; nil while nothing is wrong.
  public private(set) var failure: LinkFailure?
  /// Whether the adapter is on and its state is saved.
  public var isReady: Bool { phase == .ready }

  private let loop: EventLoop
  private let adapter: BluetoothAddress
  private let options: Options
  private let worker: WorkerThread
  private var phase = Phase.waiting
  private var recovery = AdapterRecovery(isNew: true)
  private var state: AdapterState
  /// Watches the adapter, and brings it back into use.
  private var timer: LoopTimer?
  private var controller: HCIController?
  private var handler: ((DiscoveryReport) -> Void)?
  private var advertisement: NodeAdvertisement?
  private var server: RecordServer?
  private var isExpecting = false
  /// The scan mode that the adapter was given, which is maintained; nil: it has its former mode.
  private var keptScan: UInt8?
  private var sessionID: String?
  private var scanner: InquiryScanner?
  private var reader: DeviceRecordReader?
  private var isRadioBusy = false
  private var hasRadioTurn = false
  private var sightings = DeviceSightings()

  /// Begins to switch the adapter on. From then on the adapter is brought back into use automatically: after it fails,
  /// when it is switched on after a person switched it off, and when it is plugged in again.
  /// - Parameters:
  ///   - index: the adapter's number: 0 for `hci0`.
  ///   - adapter: its address.
  /// - Throws: `permission` without the privileges, or if no thread can be started.
  public init(index: UInt16, adapter: BluetoothAddress, loop: EventLoop, options: Options = Options())
    throws(LinkFailure)
  {
    if piconet_hci_permission() != 0 {
      throw LinkFailure(.permission, "finding peers without bluetoothd needs CAP_NET_ADMIN and CAP_NET_RAW")
    }
    let isUp = piconet_hci_is_up(index)
    if isUp < 0 { throw LinkFailure(.notAvailable, "there is no adapter hci\(index)") }
    do {
      worker = try WorkerThread(name: "piconet-hci", limit: 64)
    } catch {
      throw LinkFailure(listening: error, "a thread")
    }
    self.adapter = adapter
    self.loop = loop
    self.options = options
    state = AdapterState(index: index)
    timer = LoopTimer(loop: loop) { [weak self] in self?.lookAfter() }
    take(recovery.step(isUp == 1 ? .on(index: index) : .off(index: index), at: loop.now))
  }

  public func setHandler(_ handler: @escaping (DiscoveryReport) -> Void) { self.handler = handler }

  /// Returns why an advertisement can't be published; nil if it can.
  public static func failure(of advertisement: NodeAdvertisement, adapter: BluetoothAddress) -> LinkFailure? {
    NodeRecord(advertisement, adapter: adapter).refusal.map { LinkFailure(.notAvailable, "the record: \($0)") }
  }

  public func advertise(_ advertisement: NodeAdvertisement?) {
    guard advertisement != self.advertisement else { return }
    self.advertisement = advertisement
    if let advertisement {
      let own = NodeID(peer: advertisement.peer, incarnation: advertisement.incarnation)
      if sightings.remove(own) { handler?(.gone(own.peer, own.incarnation)) }
    }
    if phase == .ready { applyAdvertisement() }
  }

  /// Sets whether a peer is expected. While it is, the adapter answers devices that have its address, and no inquiry.
  public func setExpecting(_ isExpecting: Bool) {
    guard isExpecting != self.isExpecting else { return }
    self.isExpecting = isExpecting
    if phase == .ready, advertisement == nil { applyAdvertisement() }
  }

  /// Starting again, or for another session id, reports everything again; stopping reports nothing.
  public func search(sessionID: String?) {
    self.sessionID = sessionID
    stopSearch()
    if phase == .ready { startSearch() }
  }

  public func setRadioBusy(_ isBusy: Bool) {
    guard isBusy != isRadioBusy else { return }
    isRadioBusy = isBusy
    scanner?.setHeldOff(isHeldOff)
  }

  public func setRadioTurn(_ hasTurn: Bool) {
    guard hasTurn != hasRadioTurn else { return }
    hasRadioTurn = hasTurn
    scanner?.setHeldOff(isHeldOff)
  }

  private var isHeldOff: Bool { isRadioBusy && !hasRadioTurn }

  /// Restores the adapter's former state. If it was off, waits until it is switched off: up to several seconds with
  /// slow controllers.
  public func close() { close(restoring: true) }

  /// Ends because bluetoothd has come, and leaves the adapter as it is: bluetoothd has set it up in its own way.
  /// Switching off an adapter that was off before would take it away from bluetoothd, and from the user who has just
  /// switched it on.
  func handOver() { close(restoring: false) }

  private func close(restoring: Bool) {
    guard phase != .closed else { return }
    phase = .closed
    handler = nil
    timer?.set(nil)
    stopSearch()
    server?.close()
    server = nil
    // Waits for work under way, such as switching the adapter on.
    worker.stop()
    if restoring { state.restore(by: controller) }
    controller?.close()
    controller = nil
  }

  // MARK: getting ready

  /// Returns the adapter's present state. It may have another number after being plugged in again.
  private func adapterState() -> AdapterRecovery.Adapter {
    guard let found = try? AdapterTable.read().adapter(.address(adapter)),
      let index = found.number
    else { return .absent }
    return found.isUp ? .on(index: index) : .off(index: index)
  }

  private func lookAfter() {
    switch phase {
    case .closed, .preparing: return
    case .waiting: take(recovery.step(adapterState(), at: loop.now))
    case .ready:
      let seen = adapterState()
      if seen != .on(index: state.index) {
        lose(LinkFailure(.notAvailable, seen == .absent ? "the adapter is gone" : "the adapter is switched off"))
      } else if let keptScan, piconet_hci_scan(state.index) != Int32(keptScan) {
        lose(LinkFailure(.reset, "somebody has reset hci\(state.index)"))
      } else {
        // Another node on this machine may have had the record channel.
        if advertisement != nil, server == nil { applyAdvertisement() }
        timer?.set(after: AdapterRecovery.glance)
      }
    }
  }

  private func take(_ step: AdapterRecovery.Step) {
    switch step {
    case .wait(let until): timer?.set(until)
    case .prepare(let index, let isPowering):
      phase = .preparing
      state.begin(index: index, isPowering: isPowering)
      // Even when it is up: without bluetoothd the kernel switches off an adapter that was not switched on.
      let taken = worker.submit(answering: loop) {
        piconet_hci_set_up(index, 1)
      } then: { [weak self] error in
        self?.powered(error)
      }
      if !taken { fail(LinkFailure(.busy, "no thread")) }
    }
  }

  private func powered(_ error: Int32) {
    guard phase == .preparing else { return }
    if error != 0 { return fail(LinkFailure(listening: SystemError("HCIDEVUP", error), "hci\(state.index)")) }
    let controller: HCIController
    do {
      controller = try HCIController(index: state.index, loop: loop) { [weak self] event in
        self?.scanner?.heard(event)
      } lost: { [weak self] failure in
        self?.lose(failure)
      }
    } catch {
      return fail(error)
    }
    self.controller = controller
    ask(.readScanEnable) { [weak self] scan in
      self?.ask(.readInquiryMode) { mode in
        self?.ask(.readInquiryResponse) { response in
          self?.state.save(scanEnable: scan, inquiryMode: mode, inquiryResponse: response)
          self?.ask(.writeInquiryMode(2)) { _ in self?.becameReady() }
        }
      }
    }
  }

  private func ask(_ command: HCICommand, then: @escaping ([UInt8]) -> Void) {
    controller?.send(command) { [weak self] answer in
      guard let self, phase != .closed else { return }
      switch answer {
      case .success(let parameters): then(parameters)
      case .failure(let failure): fail(failure)
      }
    }
  }

  private func becameReady() {
    phase = .ready
    failure = nil
    recovery.succeeded()
    timer?.set(after: AdapterRecovery.glance)
    applyAdvertisement()
    startSearch()
  }

  /// Notes that the adapter is off, gone, or was reset: our settings are lost with it.
  private func lose(_ failure: LinkFailure) {
    guard phase != .closed else { return }
    state.forgetPower()
    giveUp(failure)
    take(recovery.step(adapterState(), at: loop.now))
  }

  /// Notes that the adapter exists but does not work as it should; tries again later.
  private func fail(_ failure: LinkFailure) {
    guard phase != .closed else { return }
    recovery.failed(at: loop.now)
    giveUp(failure)
    take(recovery.step(adapterState(), at: loop.now))
  }

  private func giveUp(_ failure: LinkFailure) {
    self.failure = failure
    phase = .waiting
    controller?.close()
    controller = nil
    server?.close()
    server = nil
    keptScan = nil
    let gone = sightings.nodes
    stopSearch()
    for node in gone { handler?(.gone(node.peer, node.incarnation)) }
  }

  // MARK: telling

  private func applyAdvertisement() {
    guard let advertisement else {
      if server != nil {
        server?.close()
        server = nil
        ask(.writeInquiryResponse([])) { _ in }
      }
      if keptScan != wantedScan { setScan(wantedScan ?? state.scanEnable) }
      return
    }
    do {
      let record = NodeRecord(advertisement, adapter: adapter)
      let service = try BluetoothUUID.session(advertisement.sessionID)
      if let server {
        try server.update(record, of: service)
      } else {
        server = try RecordServer(record, of: service, kind: .l2cap, adapter: adapter, loop: loop)
      }
      ask(.writeInquiryResponse(try Self.response(record, of: service))) { _ in }
      failure = nil
      setScan(Self.inquiryScan | Self.pageScan)
    } catch let error as LinkFailure {
      failure = error
    } catch {
      failure = LinkFailure(.notAvailable, "the inquiry response: \(error)")
    }
  }

  /// Nil: the adapter's former mode.
  private var wantedScan: UInt8? {
    if advertisement == nil { return isExpecting ? state.scanEnable | Self.pageScan : nil }
    return server == nil ? nil : Self.inquiryScan | Self.pageScan
  }

  private static let inquiryScan: UInt8 = 1
  private static let pageScan: UInt8 = 2

  private func setScan(_ scan: UInt8) {
    keptScan = nil
    let index = state.index
    let isTaken = worker.submit(answering: loop) {
      piconet_hci_set_scan(index, scan)
    } then: { [weak self] error in
      guard let self, phase == .ready else { return }
      if error != 0 { return fail(LinkFailure(listening: SystemError("HCISETSCAN", error), "hci\(index)")) }
      keptScan = scan == wantedScan ? scan : nil
    }
    if !isTaken { failure = LinkFailure(.busy, "too much waits for hci\(index)") }
  }

  private static func response(_ record: NodeRecord, of service: BluetoothUUID) throws -> [UInt8] {
    let pointer = try RecordPointer(psm: RecordChannel.psm, to: record, of: service)
    // The name comes last: a controller with little room on the air may cut the end.
    return try AdvertisingData([
      AdvertisingData.services128([service]), AdvertisingData.serviceData(pointer.bytes, of: service),
      AdvertisingData.name(record.name, limit: NodeRecord.Limits.name),
    ]).encoded(limit: AdvertisingData.Capacity.inquiryResponse)
  }

  // MARK: finding

  private func startSearch() {
    guard let sessionID, let controller, scanner == nil else { return }
    let service: BluetoothUUID
    do {
      service = try BluetoothUUID.session(sessionID)
    } catch {
      failure = error
      return
    }
    let reader = DeviceRecordReader(loop: loop, adapter: adapter, sessionID: sessionID)
    self.reader = reader
    let scanner = InquiryScanner(
      service: service, adapter: adapter, controller: controller, reader: reader, loop: loop, options: options,
      isHeldOff: isHeldOff
    ) { [weak self] in self?.perform($0) }
    self.scanner = scanner
    scanner.start()
  }

  private func stopSearch() {
    scanner?.close()
    scanner = nil
    reader?.close()
    reader = nil
    sightings.removeAll()
  }

  private func perform(_ effect: InquiryTable.Effect) {
    switch effect {
    case .read: break
    case .seen(let record, let device):
      let node = NodeID(peer: record.peer, incarnation: record.incarnation)
      if node.peer == advertisement?.peer, node.incarnation == advertisement?.incarnation { return }
      let sighting = record.sighting(
        on: BluetoothPlace(device: device), signalStrength: scanner?.signals[device].map(Int.init))
      if let merged = sightings.seen(sighting, on: device) { handler?(.seen(merged)) }
    case .gone(let peer, let incarnation):
      guard sightings.remove(NodeID(peer: peer, incarnation: incarnation)) else { return }
      handler?(.gone(peer, incarnation))
    }
  }
}
