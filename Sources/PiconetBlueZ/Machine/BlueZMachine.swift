import PiconetDBusValues
import PiconetEngine
import PiconetSDP
import PiconetWire

/// The machine by which a node finds others and is found through bluetoothd, as a value: facts in, effects out, no bus
/// in sight.
///
/// It compares the wanted state with that of bluetoothd, and takes one step at a time towards it: at most one call is
/// under way. So no special handling is needed for a daemon or an adapter that comes, goes or is changed by others.
///
/// Politeness: an adapter that is off is switched on once, and off at the end unless a device is connected by then; if
/// a user switches it off meanwhile, it stays off. The adapter is discoverable only while this process advertises, with
/// a timeout that is renewed, so that a killed program leaves nothing on. There are rests between scans, and no scan
/// while the radio is needed.
public struct BlueZMachine: Sendable {
  public let settings: BlueZSettings
  private let user: AdapterUser
  public internal(set) var tree = ObjectTree()
  /// Whether bluetoothd is running.
  public private(set) var hasDaemon = false
  /// Whether it has listed its objects.
  public internal(set) var isReady = false

  private var isEnding = false
  private var hasEnded = false
  private var offer: BlueZOffer?
  private var search: BlueZSearch?
  private var isExpecting = false
  var use: AdapterUse?
  var profile = Registration<ProfileContent>.none
  /// The number of UUIDs for the profile that other programs had taken.
  var profileAttempt: UInt64 = 0
  /// The action is nil if its adapter has gone: its answer is still awaited, but ignored.
  private var onTheWay: (id: BlueZCallID, action: BlueZAction?)?
  var agentVisit = AgentVisit()
  var failed: [BlueZAction.Kind: FailedAttempt] = [:]
  var schedule: ScanSchedule
  var book: RecordBook
  private var isPauseWanted = false
  private var hasToldPause = false
  private var lastID: UInt64 = 0
  /// The time of the last fact.
  private var clock = Instant(nanoseconds: 0)

  /// - Parameter user: this node among those that share adapters.
  public init(settings: BlueZSettings, user: AdapterUser) {
    self.settings = settings
    self.user = user
    schedule = ScanSchedule(settings: settings)
    book = RecordBook(settings: settings)
  }

  /// The adapter in use.
  public var adapter: BlueZAdapter? { use.flatMap { tree.adapters[$0.path] } }

  /// The last refusal of each step that has not succeeded since, for logs.
  public var failures: [DBusFailure] { failed.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value.failure) }

  /// Whether everything that was requested is done: registered, discoverable, advertised.
  public var isAdvertising: Bool {
    guard let wanted = wantedProfile, profile == .held(wanted), let adapter, adapter.isPowered else { return false }
    return adapter.isDiscoverable
      && (!settings.usesLowEnergy || adapter.advertisementsLeft == nil || use?.advertisement.isNone == false
        || failed[.registerAdvertisement] != nil)
  }

  /// The present offer, search and expectation on the adapter in use.
  var activeOffer: BlueZOffer? { isEnding || use?.isRetiring == true ? nil : offer }
  var activeSearch: BlueZSearch? { isEnding || use?.isRetiring == true ? nil : search }
  var activelyExpects: Bool { !isEnding && use?.isRetiring != true && isExpecting }

  /// When `deadlineReached` is due.
  public var nextDeadline: Instant? {
    if hasEnded { return nil }
    var deadlines: [Instant?] = [book.nextDeadline]
    if hasDaemon, onTheWay == nil {
      deadlines += failed.values.map(\.retryAt)
      if let use, !use.advertisement.isNone {
        deadlines.append(use.shared.modeChangedAt.map { $0 + settings.settling })
      }
      if let use, let adapter, adapter.isPowered {
        if activeSearch != nil { deadlines.append(schedule.nextDeadline) }
        if activeOffer != nil {
          deadlines.append(use.shared.timeoutSetAt.map { $0 + settings.renewal })
          deadlines.append(use.shared.timeoutSetAt.map { $0 + settings.leastReassertion })
          deadlines.append(use.shared.modeSetAt.map { $0 + settings.leastReassertion })
        }
        if activeOffer != nil || activelyExpects, use.isSilenced, !use.advertisement.isNone {
          deadlines.append(use.advertisedAt.map { $0 + settings.leastReadvertising })
        }
      }
    }
    // A deadline that was due at the last fact has been handled: its step waits for something other than time.
    return deadlines.compactMap { $0 }.filter { $0 > clock }.min()
  }

  // MARK: facts

  /// Takes a fact and returns the effects. Facts may come in any order; late ones are ignored.
  /// - Parameter adapters: the state that the nodes of this process share. Nodes that this wakes must be told after the
  ///   effects.
  public mutating func handle(_ fact: BlueZFact, at now: Instant, sharing adapters: inout SharedAdapters)
    -> [BlueZEffect]
  {
    if hasEnded { return [] }
    clock = max(clock, now)
    look(at: adapters)
    var effects = take(fact, at: now)
    // Before the adapter is left.
    if let use { adapters.store(use.shared, at: use.address, by: user) }
    effects += chooseAdapter(at: now, from: adapters)
    agentVisit.see(isPairable: adapter?.isPairable, at: now)
    effects += step(at: now)
    if let use { adapters.store(use.shared, at: use.address, by: user) }
    adapters.set(claim(at: now), of: user)
    effects += tellPause(at: now)
    if !isEnding { effects += book.startReads(at: now, lastID: &lastID) }
    return effects
  }

  private mutating func take(_ fact: BlueZFact, at now: Instant) -> [BlueZEffect] {
    switch fact {
    case .daemonAppeared:
      forgetDaemon()
      hasDaemon = true
    case .daemonVanished: forgetDaemon()
    case .interfacesAdded(let path, let interfaces): follow(tree.add(path, interfaces: interfaces), at: now)
    case .interfacesRemoved(let path, let interfaces): follow(tree.remove(path, interfaces: interfaces), at: now)
    case .propertiesChanged(let path, let interface, let changed, let invalidated):
      follow(tree.change(path, interface: interface, changed: changed, invalidated: invalidated), at: now)
    case .replied(let id, let result):
      guard let (expected, action) = onTheWay, expected == id else { return [] }
      onTheWay = nil
      return action.map { conclude($0, result, at: now) } ?? []
    case .advertise(let offer):
      if isEnding { return [] }
      if offer != self.offer { failed[.registerProfile] = nil }
      self.offer = offer
      book.ownPeer = offer?.record.peer ?? book.ownPeer
    case .search(let search):
      if isEnding || search == self.search { return [] }
      self.search = search
      if search == nil { schedule.end() } else { schedule.begin(at: now) }
      failed[.discover] = nil
      let effects = book.begin(search)
      hearAll(at: now)
      return effects
    case .expecting(let isExpecting): self.isExpecting = isExpecting
    case .radioBusy(let isBusy):
      schedule.setBusy(isBusy, at: now)
      book.setPaused(schedule.isHeldOff)
    case .radioTurn(let hasTurn):
      schedule.setTurn(hasTurn, at: now)
      book.setPaused(schedule.isHeldOff)
    case .pauseWanted(let isWanted):
      isPauseWanted = isWanted
      schedule.setPauseWanted(isWanted, at: now)
    case .siblingScans(let window): schedule.siblingScans(window, at: now)
    case .recordsRead(let id, let result): return isEnding ? [] : book.read(id, result, at: now)
    case .dialFailed(let address): book.dialFailed(address, at: now)
    case .profileReleased: profile = .none
    case .advertisementReleased: changeUse { $0.advertisement = .none }
    // This includes one that is being registered: bluetoothd answers only after it is on air.
    case .reachedOverLowEnergy: changeUse { $0.isSilenced = true }
    case .shutDown:
      if isEnding { return [] }
      isEnding = true
      schedule.end()
      failed = [:]
      return book.begin(nil)
    case .deadlineReached, .siblingsChanged: break
    }
    return []
  }

  private mutating func tellPause(at now: Instant) -> [BlueZEffect] {
    let isPaused = isPauseWanted && use?.discovery.isNone != false && !schedule.wantsScan(at: now)
    if isPaused == hasToldPause { return [] }
    hasToldPause = isPaused
    return [.scanPaused(isPaused)]
  }

  /// Forgets bluetoothd's state: what it held for us is gone with it; our changes to its adapters are not.
  private mutating func forgetDaemon() {
    hasDaemon = false
    isReady = false
    onTheWay = nil
    failed = [:]
    tree = ObjectTree()
    profile = .none
    agentVisit = AgentVisit()
    changeUse { used in
      used.advertisement = .none
      used.filter = nil
    }
    scanIsOver()
  }

  /// Changes the use of the adapter. Without one there is nothing to note: the report may be about an adapter that we
  /// have just left.
  private mutating func changeUse(_ change: (inout AdapterUse) -> Void) {
    guard var used = use else { return }
    change(&used)
    use = used
  }

  private mutating func scanIsOver() {
    changeUse { $0.discovery = .none }
    schedule.interrupted()
  }

  mutating func follow(_ changes: [ObjectTreeChange], at now: Instant) {
    for change in changes {
      switch change {
      case .deviceSeen(let path), .device(let path):
        // Its services may become known only after it has been heard.
        guard let device = tree.devices[path] else { continue }
        hear(device, at: now)
      case .adapter(let path) where path == use?.path:
        guard let adapter = tree.adapters[path], var used = use else { continue }
        // The cause does not matter: another program, or the adapter's own timeout.
        if adapter.isDiscoverable != used.isDiscoverable { used.shared.modeChangedAt = now }
        used.isDiscoverable = adapter.isDiscoverable
        if adapter.isPowered {
          used.shared.mayPower = false
        } else if !used.shared.mayPower {
          used.shared.hasPowered = false
          used.shared.mayPower = used.shared.hasStranger
          used.shared.hasStranger = false
        }
        use = used
        // Switching it off also ends our scan.
        if !adapter.isPowered, !used.discovery.isNone { scanIsOver() }
      default: break
      }
    }
  }

  // MARK: Choosing an adapter

  private mutating func chooseAdapter(at now: Instant, from adapters: SharedAdapters) -> [BlueZEffect] {
    guard isReady else { return [] }
    var effects: [BlueZEffect] = []
    let choice = settings.adapter.choose(from: tree)
    if var used = use {
      if tree.adapters[used.path]?.address != used.address {
        // Unplugged, or replaced by another one: there is nothing left to restore.
        effects += leaveAdapter()
      } else if let choice, choice != used.path, !isEnding, !used.shared.mayPower,
        tree.adapters[used.path]?.isPowered == false, tree.adapters[choice]?.isPowered == true
      {
        // The node stays with its adapter as long as that works.
        used.isRetiring = true
        use = used
      }
      // A call under way may still change the adapter.
      if use != nil, used.isRetiring, used.isRestored, onTheWay?.action?.isOfAdapter != true {
        effects += leaveAdapter()
      }
    }
    if use == nil, !isEnding, offer != nil || search != nil || isExpecting, let choice,
      let adapter = tree.adapters[choice],
      let address = adapter.address
    {
      use = AdapterUse(
        adapter, address: address, shared: adapters[address], others: adapters.others(than: user, at: address))
      failed = failed.filter { $0.key == .registerProfile || $0.key == .unregisterProfile }
      hearAll(at: now)
      effects.append(.adapter(path: choice, address))
    }
    return effects
  }

  private mutating func leaveAdapter() -> [BlueZEffect] {
    scanIsOver()
    use = nil
    if let (id, action) = onTheWay, action?.isOfAdapter == true { onTheWay = (id, nil) }
    return book.reset() + [.adapter(path: nil, nil)]
  }

  /// Notes that a device that was heard before we asked is present.
  private mutating func hearAll(at now: Instant) {
    for device in tree.devices.values.sorted(by: { $0.path < $1.path }) { hear(device, at: now) }
  }

  /// Notes that a connected device is present, even if it does not answer inquiries meanwhile. A device without our
  /// service in its list is asked as well: BlueZ reports only devices that pass our filter, so it probably announces
  /// the service.
  private mutating func hear(_ device: BlueZDevice, at now: Instant) {
    guard device.adapterPath == use?.path, let search = activeSearch else { return }
    if device.uuids.contains(search.service) {
      if device.isHeard || device.isConnected { book.heard(device, at: now) }
    } else if device.mayAnnounceMore {
      book.heard(device, isCertain: false, at: now)
    }
  }

  // MARK: other nodes of this process

  /// Takes over the other nodes' state of the adapter in use, and their settings there.
  private mutating func look(at adapters: SharedAdapters) {
    guard var used = use else { return }
    used.shared = adapters[used.address]
    used.others = adapters.others(than: user, at: used.address)
    for (property, value) in used.shared.settings(after: used.knownSettings) {
      tree.assume(used.path, property, value)
    }
    used.knownSettings = used.shared.settingCount
    use = used
  }

  private func claim(at now: Instant) -> AdapterClaim? {
    guard let use else { return nil }
    var claim = AdapterClaim(adapter: use.address)
    guard hasDaemon else { return claim }
    let action = onTheWay?.action
    // As long as something is advertised as discoverable the kernel refuses to change the mode.
    let isShown = !use.advertisement.isNone && use.advertisement != .held(.silent)
    claim.needsMode =
      activeOffer != nil || isShown || action?.kind == .enterMode || action?.kind == .leaveMode
    claim.needsPower =
      claim.needsMode || activeSearch != nil || activelyExpects || action?.kind == .powerOn || action?.kind == .powerOff
    claim.wantsTurn = (onTheWay == nil ? nextAction(at: now) : action)?.needsTurn == true
    return claim
  }

  // MARK: one step

  private mutating func step(at now: Instant) -> [BlueZEffect] {
    guard onTheWay == nil else { return [] }
    if hasDaemon {
      // If the adapter is as it was, there is nothing to restore.
      if var used = use, let former = used.shared.former, activeOffer == nil, !used.others.needMode, adapter != nil,
        leavingChange(former) == nil
      {
        used.shared.former = nil
        use = used
      }
      // A step that needs no turn need not wait for one.
      if let action = nextAction(at: now, withTurn: use?.others.haveTurn != true), let call = call(for: action) {
        if case .registerAdvertisement = action { changeUse { $0.isSilenced = false } }
        remember(action, at: now)
        let id = BlueZCallID(rawValue: nextID())
        onTheWay = (id, action)
        var effects: [BlueZEffect] = []
        if case .registerAdvertisement(let content) = action {
          effects.append(.showAdvertisement(Self.properties(of: content)))
        }
        return effects + [.call(id, call)]
      }
    }
    // A step that waits for its next attempt still has to be taken.
    guard isEnding, !hasDaemon || nextAction(at: .distantFuture) == nil else { return [] }
    hasEnded = true
    return [.ended]
  }

  /// Notes the adapter's former state before the first change.
  private mutating func remember(_ action: BlueZAction, at now: Instant) {
    guard case .enter(let change) = action, let adapter, var used = use else { return }
    if used.shared.former == nil {
      let isOurs = isOurs(adapter.discoverableTimeout)
      used.shared.hasStranger = isOurs && adapter.isDiscoverable
      // Another program's mode, or one left by a killed program, is not a user's choice.
      used.shared.former =
        isOurs
        ? DiscoverableMode(isDiscoverable: false, timeout: BlueZSettings.usualTimeout)
        : DiscoverableMode(isDiscoverable: adapter.isDiscoverable, timeout: adapter.discoverableTimeout)
    }
    switch change {
    case .discoverable: used.shared.modeSetAt = now
    case .timeout: used.shared.timeoutSetAt = now
    }
    use = used
  }

  private mutating func nextID() -> UInt64 {
    lastID += 1
    return lastID
  }

  var isOver: Bool { isEnding }
}
