import PiconetDBusValues
import PiconetEngine
import PiconetSDP

/// One step towards the wanted state in bluetoothd.
enum BlueZAction: Hashable, Sendable {
  case list
  case power(Bool)
  /// Discoverable mode while we advertise.
  case enter(ModeChange)
  /// Restores the former mode.
  case leave(ModeChange)
  case registerProfile(ProfileContent)
  case unregisterProfile
  /// See `AgentVisit`.
  case registerAgent
  case unregisterAgent
  case registerAdvertisement(LowEnergyAdvertisement)
  case unregisterAdvertisement
  case setFilter(BluetoothUUID)
  /// bluetoothd 5.66 ends the scans of all programs when a connection that has a filter, but does not scan, closes.
  case clearFilter
  case startDiscovery(BluetoothUUID)
  case stopDiscovery

  enum ModeChange: Hashable, Sendable {
    case discoverable(Bool)
    case timeout(UInt32)
  }

  /// The kinds by which failures and pauses are counted.
  enum Kind: Int, Hashable, Sendable {
    case list, powerOn, powerOff, enterMode, leaveMode, registerProfile, unregisterProfile, registerAdvertisement
    case unregisterAdvertisement, discover, stopDiscovery, clearFilter, registerAgent, unregisterAgent
  }

  var kind: Kind {
    switch self {
    case .list: .list
    case .power(let isOn): isOn ? .powerOn : .powerOff
    case .enter: .enterMode
    case .leave: .leaveMode
    case .registerProfile: .registerProfile
    case .unregisterProfile: .unregisterProfile
    case .registerAgent: .registerAgent
    case .unregisterAgent: .unregisterAgent
    case .registerAdvertisement: .registerAdvertisement
    case .unregisterAdvertisement: .unregisterAdvertisement
    case .setFilter, .startDiscovery: .discover
    case .stopDiscovery: .stopDiscovery
    case .clearFilter: .clearFilter
    }
  }

  /// Whether it takes something back. Such a step is given up after `attemptsToRestore` failures, so that the machine
  /// always comes to an end.
  var isRestoring: Bool {
    switch self {
    case .power(false), .leave, .unregisterProfile, .unregisterAgent, .unregisterAdvertisement, .stopDiscovery,
      .clearFilter:
      true
    case .list, .power(true), .enter, .registerProfile, .registerAgent, .registerAdvertisement, .setFilter,
      .startDiscovery:
      false
    }
  }

  /// Whether it concerns the adapter in use, and not all of bluetoothd.
  var isOfAdapter: Bool {
    switch self {
    case .list, .registerProfile, .unregisterProfile, .registerAgent, .unregisterAgent: false
    case .power, .enter, .leave, .registerAdvertisement, .unregisterAdvertisement, .setFilter, .clearFilter,
      .startDiscovery, .stopDiscovery:
      true
    }
  }

  /// Whether only one node of a process at a time does it: see `SharedAdapters`.
  var needsTurn: Bool {
    switch self {
    case .power, .enter, .leave, .registerAdvertisement, .unregisterAdvertisement: true
    case .list, .registerProfile, .unregisterProfile, .registerAgent, .unregisterAgent, .setFilter, .clearFilter,
      .startDiscovery, .stopDiscovery:
      false
    }
  }

  /// Whether it changes the discoverable mode, after which bluetoothd renews all advertisements.
  var changesMode: Bool {
    switch self {
    case .enter(.discoverable), .leave(.discoverable): true
    case .list, .power, .enter(.timeout), .leave(.timeout), .registerProfile, .unregisterProfile, .registerAgent,
      .unregisterAgent, .registerAdvertisement, .unregisterAdvertisement, .setFilter, .clearFilter, .startDiscovery,
      .stopDiscovery:
      false
    }
  }

  static let attemptsToRestore = 3
}

/// An object that the machine registers with bluetoothd.
enum Registration<Value: Hashable & Sendable>: Hashable, Sendable {
  case none
  /// Unknown: the call was not answered.
  case uncertain
  case held(Value)

  var isNone: Bool { self == .none }

  /// Returns whether it must be taken back, because something else is wanted.
  func isStale(wanted: Value?) -> Bool {
    switch self {
    case .none: false
    case .uncertain: true
    case .held(let value): value != wanted
    }
  }
}

/// The purpose of an LE advertisement.
enum LowEnergyAdvertisement: Hashable, Sendable {
  /// Searching nodes find the session in it.
  case session(BluetoothUUID)
  /// It contains nothing, and scans don't show it: devices that have the adapter's address can connect.
  case silent
}

/// The content of a registered profile.
struct ProfileContent: Hashable, Sendable {
  var service: BluetoothUUID
  var record: NodeRecord
}

/// The settings of an adapter before this process changed it.
struct DiscoverableMode: Hashable, Sendable {
  var isDiscoverable: Bool
  var timeout: UInt32
}

/// The last failure of a step, and when it may be tried again.
struct FailedAttempt: Hashable, Sendable {
  var count: Int
  var retryAt: Instant
  var failure: DBusFailure
}

/// The adapter in use, with this node's registrations there.
struct AdapterUse: Hashable, Sendable {
  let path: String
  let address: BluetoothAddress
  /// The changes of this process's nodes to it.
  var shared: SharedAdapter
  var others: OtherClaims
  /// The number of settings in `shared` that are known.
  var knownSettings: Int
  /// The last value that bluetoothd reported.
  var isDiscoverable: Bool
  var isFilterUncertain = false
  var advertisement = Registration<LowEnergyAdvertisement>.none
  var advertisedAt: Instant?
  /// Whether the advertisement is registered, but probably off air.
  var isSilenced = false
  var filter: BluetoothUUID?
  var discovery = Registration<BluetoothUUID>.none
  /// Whether another adapter will be used as soon as this one has been restored.
  var isRetiring = false

  init(_ adapter: BlueZAdapter, address: BluetoothAddress, shared: SharedAdapter, others: OtherClaims) {
    path = adapter.path
    self.address = address
    self.shared = shared
    self.others = others
    knownSettings = shared.settingCount
    isDiscoverable = adapter.isDiscoverable
    if !adapter.isPowered { self.shared.mayPower = true }
  }

  /// Whether this node has nothing left to take back.
  var isRestored: Bool {
    (shared.former == nil || others.needMode) && (!shared.hasPowered || others.needPower) && advertisement.isNone
      && discovery.isNone && filter == nil
  }
}
