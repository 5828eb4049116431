import PiconetBlueZ
import PiconetDBus
import PiconetDBusValues
import PiconetEngine
import PiconetRuntime
import PiconetSDP

/// Finds others and is found through bluetoothd on the system bus. Confined to the loop.
///
/// The absence of a bus, a daemon or an adapter is a state: each is waited for, and the wanted state is set up when it
/// comes.
public final class BlueZDiscovery: Discovery, ScanMember, AdapterMember {
  public struct Options: Sendable {
    public var settings: BlueZSettings
    /// The address of a message bus instead of the system's, for tests.
    public var busAddress: String?

    public init(settings: BlueZSettings = BlueZSettings(), busAddress: String? = nil) {
      self.settings = settings
      self.busAddress = busAddress
    }
  }

  /// How long `shutDown` takes at most; a second more if it waits for a connect whose record is no longer wanted.
  public static let shutDownLimit = Duration.seconds(2)

  public let sourceName = "bluez"
  private let loop: EventLoop
  private let options: Options
  private let makeReader: (BluetoothAddress, ScanPause) -> any ServiceRecordReader
  private let circle: ScanCircle
  private let adapters: AdapterCircle
  private let user: AdapterUser
  private var pause: ScanPause?
  /// Reads records from the adapter in use.
  private var reader: (any ServiceRecordReader)?
  private var machine: BlueZMachine
  private var bus: BlueZBus?
  private var timer: LoopTimer?
  private var reads: [BlueZReadID: any DialCancellation] = [:]
  private let lowEnergy: LowEnergyRecords
  private var offer: BlueZOffer?
  private var usedAdapter: BluetoothAddress?
  private var shownAdvertisement: [String: DBusValue] = [:]
  private var handler: ((DiscoveryReport) -> Void)?
  private var adapterHandler: ((BluetoothAddress?) -> Void)?
  private var endHandlers: [() -> Void] = []
  private var hasEnded = false
  /// Facts that came while effects were carried out.
  private var waiting: [BlueZFact] = []
  private var isPerforming = false

  /// Connects to the bus as soon as the loop gets to it; nothing is changed before `advertise` or `search`.
  /// - Parameters:
  ///   - circle: coordinates the scans of this process.
  ///   - adapters: coordinates the advertisements of this process.
  ///   - records: serves the records of this process over LE.
  ///   - makeReader: makes a reader of records that uses the adapter with this address, and that makes scans pause when
  ///     it connects over LE; called once for each adapter that is used.
  ///     it connects over LE; called once for each adapter that is used.
  public init(
    loop: EventLoop, options: Options, circle: ScanCircle = ScanCircle(), adapters: AdapterCircle = AdapterCircle(),
    records: LowEnergyRecords? = nil,
    makeReader: @escaping (BluetoothAddress, ScanPause) -> any ServiceRecordReader
  ) {
    self.loop = loop
    self.options = options
    self.circle = circle
    self.adapters = adapters
    lowEnergy = records ?? LowEnergyRecords(loop: loop)
    self.makeReader = makeReader
    var settings = options.settings
    settings.seed = UInt64.random(in: .min ... .max)
    user = adapters.join()
    machine = BlueZMachine(settings: settings, user: user)
    timer = LoopTimer(loop: loop) { [weak self] in self?.handle(.deadlineReached) }
    let id = ObjectIdentifier(self)
    pause = ScanPause { [circle] in circle.wantsPause($0, for: id) }
    circle.join(self)
    adapters.setMember(self, for: user)
    bus = BlueZBus(
      loop: loop, address: options.busAddress.map(DBusConnection.Address.custom) ?? .system, objects: objects()
    ) { [weak self] event in
      switch event {
      case .daemon(let name): self?.handle(name == nil ? .daemonVanished : .daemonAppeared)
      case .signal(let fact): self?.handle(fact)
      }
    }
  }

  // MARK: Present state

  /// The adapter in use, as bluetoothd describes it; nil if none is in use.
  public var adapter: BlueZAdapter? { machine.adapter }
  /// Whether the bus is reached and bluetoothd is running on it.
  public var hasDaemon: Bool { machine.hasDaemon }
  /// Whether the record is registered, and the adapter is discoverable and advertising.
  public var isAdvertising: Bool { machine.isAdvertising }
  /// The last refusals of steps that have not succeeded since, including the absence of the bus.
  public var failures: [DBusFailure] { (bus?.failure).map { [$0] } ?? machine.failures }
  /// The PSM at which the record can be read over LE; nil: nowhere.
  public var recordPSM: UInt16? { lowEnergy.psm(of: ObjectIdentifier(self)) }
  /// The number of sd-bus slots: calls under way, matches, objects.
  public var slotCount: Int { bus?.connection?.slotCount ?? 0 }

  /// Sets the function that is called on the loop with the address of the adapter in use, whenever that changes:
  /// sockets should be bound to it.
  public func setAdapterHandler(_ handler: @escaping (BluetoothAddress?) -> Void) { adapterHandler = handler }

  // MARK: Discovery

  public func setHandler(_ handler: @escaping (DiscoveryReport) -> Void) { self.handler = handler }

  /// Returns why an advertisement can't be published as it is; nil if it can. `advertise` leaves out info that breaks
  /// the limits, and does nothing if the session id does.
  public static func failure(of advertisement: NodeAdvertisement) -> LinkFailure? {
    record(of: advertisement).refusal.map { LinkFailure(.notAvailable, "the service record can't hold it: \($0)") }
  }

  public func advertise(_ advertisement: NodeAdvertisement?) {
    var offer: BlueZOffer?
    if let advertisement, let service = try? BluetoothUUID.session(advertisement.sessionID) {
      var record = Self.record(of: advertisement)
      if record.refusal != nil { record.info = [:] }
      if record.refusal == nil { offer = BlueZOffer(service: service, record: record) }
    }
    self.offer = offer
    tellOverLowEnergy()
    handle(.advertise(offer))
  }

  private func tellOverLowEnergy() {
    let isWanted = options.settings.usesLowEnergy && !hasEnded && endHandlers.isEmpty
    lowEnergy.tell(
      isWanted ? offer?.record : nil, of: offer?.service, on: usedAdapter, for: ObjectIdentifier(self)
    ) { [weak self] in self?.reachedOverLowEnergy() }
  }

  /// Starting again, or for another session id, reports everything again; stopping reports nothing.
  public func search(sessionID: String?) {
    let search = sessionID.flatMap { sessionID in
      (try? BluetoothUUID.session(sessionID)).map { BlueZSearch(service: $0, sessionID: sessionID) }
    }
    // A new search, even for the same session id, has heard of no device yet.
    handle(.search(nil))
    handle(.search(search))
  }

  public func setExpecting(_ isExpecting: Bool) { handle(.expecting(isExpecting)) }

  public func setRadioBusy(_ isBusy: Bool) { handle(.radioBusy(isBusy)) }

  public func setRadioTurn(_ hasTurn: Bool) { handle(.radioTurn(hasTurn)) }

  /// Notes that a device has connected to this node over LE, which ends the advertising: it begins again. Don't call it
  /// from within a callback of this object.
  public func reachedOverLowEnergy() { handle(.reachedOverLowEnergy) }

  /// Notes that a dial to this device failed: its record is read again soon, since its node may have restarted.
  public func dialFailed(_ device: BluetoothAddress) { handle(.dialFailed(device)) }

  /// Ends at once. With the connection, bluetoothd drops what it holds for this process. Only `shutDown` restores the
  /// adapter's own settings; otherwise the timeout of the discoverable mode does.
  public func close() {
    handler = nil
    adapterHandler = nil
    finish()
  }

  /// Restores the adapter, takes everything back, and closes; `completion` is called on the loop, after at most
  /// `shutDownLimit`. Nothing else may be called meanwhile.
  public func shutDown(_ completion: @escaping () -> Void) {
    handler = nil
    adapterHandler = nil
    if hasEnded { return loop.executeLater(completion) }
    endHandlers.append(completion)
    guard endHandlers.count == 1 else { return }
    lowEnergy.leave(ObjectIdentifier(self))
    for read in reads.values { read.cancel() }
    // Holds this object until the end: its owner may release it.
    let limit = LoopTimer(loop: loop) { self.finish() }
    limit.set(after: Self.shutDownLimit)
    endHandlers.append { limit.set(nil) }
    handle(.shutDown)
  }

  private func finish() {
    if hasEnded { return }
    hasEnded = true
    circle.leave(ObjectIdentifier(self))
    adapters.leave(user)
    timer?.set(nil)
    timer = nil
    bus?.close()
    bus = nil
    lowEnergy.leave(ObjectIdentifier(self))
    for read in reads.values { read.cancel() }
    reads = [:]
    let handlers = endHandlers
    endHandlers = []
    guard let reader else { return handlers.forEach { $0() } }
    // Holds the reader until the end.
    reader.shutDown { withExtendedLifetime(reader) { handlers.forEach { $0() } } }
  }

  // MARK: the circles

  func siblingsChanged() { handle(.siblingsChanged) }

  func siblingScans(_ window: ScanWindow) { handle(.siblingScans(window)) }

  func setPauseWanted(_ isWanted: Bool) { handle(.pauseWanted(isWanted)) }

  func setPaused(_ isPaused: Bool) { pause?.setPaused(isPaused) }

  // MARK: the machine

  private func handle(_ fact: BlueZFact) {
    if hasEnded { return }
    waiting.append(fact)
    // An effect's handler may bring the next fact: that comes after the effects of this one.
    guard !isPerforming else { return }
    isPerforming = true
    var next = 0
    while next < waiting.count, !hasEnded {
      let effects = machine.handle(waiting[next], at: loop.now, sharing: &adapters.adapters)
      for effect in effects where !hasEnded { perform(effect) }
      adapters.wake()
      next += 1
    }
    waiting = []
    isPerforming = false
    if !hasEnded { timer?.set(machine.nextDeadline) }
  }

  private func perform(_ effect: BlueZEffect) {
    switch effect {
    case .call(let id, let call): bus?.call(call) { [weak self] in self?.handle(.replied(id, $0)) }
    case .read(let id, let service, let place):
      reads[id] = reader?.readRecords(of: service, on: place) { [weak self] result in
        self?.reads[id] = nil
        self?.handle(.recordsRead(id, result))
      }
    case .cancelRead(let id): reads.removeValue(forKey: id)?.cancel()
    case .scanPaused(let isPaused): circle.paused(isPaused, for: ObjectIdentifier(self))
    case .scans(let window): circle.scans(window, for: ObjectIdentifier(self))
    case .report(let report): handler?(report)
    case .showAdvertisement(let properties): shownAdvertisement = properties
    case .adapter(_, let address):
      reader = address.flatMap { address in pause.map { makeReader(address, $0) } }
      usedAdapter = address
      tellOverLowEnergy()
      adapterHandler?(address)
    case .ended: finish()
    }
  }

  /// Returns the objects that bluetoothd calls. Connections come to our own sockets, so a connection for the profile is
  /// refused, which closes it.
  private func objects() -> [(path: String, object: DBusObject)] {
    let profile = DBusObject(interface: BlueZNames.profileInterface, properties: { [:] }) { [weak self] call in
      switch call.member {
      case "Release":
        self?.loop.executeLater { [weak self] in self?.handle(.profileReleased) }
        return .success([])
      case "NewConnection": return .failure(DBusFailure("org.bluez.Error.Rejected", "connections come elsewhere"))
      case "RequestDisconnection": return .success([])
      default: return nil
      }
    }
    let advertisement = DBusObject(
      interface: BlueZNames.advertisementInterface,
      properties: { [weak self] in self?.shownAdvertisement ?? [:] }
    ) { [weak self] call in
      guard call.member == "Release" else { return nil }
      self?.loop.executeLater { [weak self] in self?.handle(.advertisementReleased) }
      return .success([])
    }
    // The agent exists for a moment, and lets no stranger pair meanwhile.
    let agent = DBusObject(interface: BlueZNames.agentInterface, properties: { [:] }) { call in
      ["Release", "Cancel"].contains(call.member)
        ? .success([]) : .failure(DBusFailure("org.bluez.Error.Rejected", "nobody is asked here"))
    }
    return [
      (BlueZNames.ownProfilePath, profile), (BlueZNames.ownAdvertisementPath, advertisement),
      (BlueZNames.ownAgentPath, agent),
    ]
  }

  private static func record(of advertisement: NodeAdvertisement) -> NodeRecord {
    NodeRecord(
      peer: advertisement.peer, incarnation: advertisement.incarnation, name: NodeRecord.name(from: advertisement.name),
      sessionID: advertisement.sessionID, info: advertisement.info, l2capPSM: advertisement.ports[.l2cap],
      rfcommChannel: advertisement.ports[.rfcomm].flatMap { UInt8(exactly: $0) }, lePSM: advertisement.ports[.le])
  }
}
