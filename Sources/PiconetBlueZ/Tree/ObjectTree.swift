import PiconetDBusValues

/// Interfaces with their properties, as ObjectManager lists them.
public typealias BlueZInterfaces = [String: [String: DBusValue]]

/// A change of the tree, limited to those that are needed.
public enum ObjectTreeChange: Sendable, Hashable {
  case adapter(String)
  case adapterGone(String)
  /// A scan has just heard the device.
  case deviceSeen(String)
  case device(String)
  case deviceGone(String)
}

/// bluetoothd's objects as a value: the answer to GetManagedObjects, updated by the signals after it. It keeps only
/// needed objects.
public struct ObjectTree: Sendable, Hashable {
  public static let adapterLimit = 16
  public static let deviceLimit = 1024

  /// By path.
  public private(set) var adapters: [String: BlueZAdapter] = [:]
  public private(set) var devices: [String: BlueZDevice] = [:]
  /// Whether bluetoothd registers profiles.
  public private(set) var hasProfileManager = false

  public init() {}

  /// Takes an answer to GetManagedObjects (`a{oa{sa{sv}}}`), which replaces everything known.
  public mutating func replace(by answer: DBusValue) -> [ObjectTreeChange] {
    let former = self
    self = ObjectTree()
    var changes: [ObjectTreeChange] = []
    for entry in answer.entries {
      guard let path = entry.key.text else { continue }
      changes += add(path, interfaces: Self.interfaces(entry.value))
    }
    let gone =
      former.adapters.keys.filter { adapters[$0] == nil }.map(ObjectTreeChange.adapterGone)
      + former.devices.keys.filter { devices[$0] == nil }.map(ObjectTreeChange.deviceGone)
    return gone.sorted(by: Self.order) + changes
  }

  /// Takes the signal InterfacesAdded.
  public mutating func add(_ path: String, interfaces: BlueZInterfaces) -> [ObjectTreeChange] {
    guard path.utf8.count <= 255 else { return [] }
    if interfaces[BlueZNames.profileManagerInterface] != nil, path == BlueZNames.managerPath {
      hasProfileManager = true
    }
    var changes: [ObjectTreeChange] = []
    for name in interfaces.keys.sorted() {
      changes += change(path, interface: name, changed: interfaces[name] ?? [:], invalidated: [], isNew: true)
    }
    return changes
  }

  /// Takes the signal InterfacesRemoved.
  public mutating func remove(_ path: String, interfaces: [String]) -> [ObjectTreeChange] {
    var changes: [ObjectTreeChange] = []
    for name in interfaces.prefix(64) {
      switch name {
      case BlueZNames.adapterInterface where adapters.removeValue(forKey: path) != nil:
        changes += devices.values.filter { $0.adapterPath == path }.map { .deviceGone($0.path) }
          .sorted(by: Self.order)
        devices = devices.filter { $0.value.adapterPath != path }
        changes.append(.adapterGone(path))
      case BlueZNames.deviceInterface where devices.removeValue(forKey: path) != nil:
        changes.append(.deviceGone(path))
      case BlueZNames.advertisingManagerInterface:
        guard var adapter = adapters[path] else { continue }
        adapter.advertisementsLeft = nil
        adapters[path] = adapter
        changes.append(.adapter(path))
      case BlueZNames.profileManagerInterface where path == BlueZNames.managerPath: hasProfileManager = false
      default: break
      }
    }
    return changes
  }

  /// Takes the signal PropertiesChanged.
  public mutating func change(
    _ path: String, interface: String, changed: [String: DBusValue], invalidated: [String]
  ) -> [ObjectTreeChange] {
    change(path, interface: interface, changed: changed, invalidated: invalidated, isNew: false)
  }

  private mutating func change(
    _ path: String, interface: String, changed: [String: DBusValue], invalidated: [String], isNew: Bool
  ) -> [ObjectTreeChange] {
    switch interface {
    case BlueZNames.adapterInterface:
      guard isNew || adapters[path] != nil, adapters[path] != nil || adapters.count < Self.adapterLimit else {
        return []
      }
      var adapter = adapters[path] ?? BlueZAdapter(path: path)
      for (name, value) in changed { adapter.set(name, value) }
      adapters[path] = adapter
      return [.adapter(path)]
    case BlueZNames.advertisingManagerInterface:
      guard adapters[path] != nil || (isNew && adapters.count < Self.adapterLimit) else { return [] }
      let left = changed["SupportedInstances"]?.integer.map(Int.init(clamping:))
      adapters[path, default: BlueZAdapter(path: path)].advertisementsLeft =
        left ?? adapters[path]?.advertisementsLeft ?? 1
      return [.adapter(path)]
    case BlueZNames.deviceInterface:
      guard isNew || devices[path] != nil, devices[path] != nil || devices.count < Self.deviceLimit else { return [] }
      var device = devices[path] ?? BlueZDevice(path: path)
      let before = device
      for (name, value) in changed { device.set(name, value) }
      for name in invalidated.prefix(64) { device.invalidate(name) }
      devices[path] = device
      var changes: [ObjectTreeChange] = []
      if device != before || isNew { changes.append(.device(path)) }
      if changed["RSSI"] != nil, device.signalStrength != nil { changes.append(.deviceSeen(path)) }
      return changes
    default: return []
    }
  }

  /// Notes a property that we have set ourselves, before its signal comes.
  public mutating func assume(_ path: String, _ property: String, _ value: DBusValue) {
    // The adapter may have been unplugged while the call was under way.
    guard var adapter = adapters[path] else { return }
    adapter.set(property, value)
    adapters[path] = adapter
  }

  /// Returns `a{sa{sv}}` as a dictionary.
  public static func interfaces(_ value: DBusValue) -> BlueZInterfaces {
    var result: BlueZInterfaces = [:]
    for entry in value.entries { if let name = entry.key.text { result[name] = entry.value.properties } }
    return result
  }

  private static func order(_ left: ObjectTreeChange, _ right: ObjectTreeChange) -> Bool {
    "\(left)" < "\(right)"
  }
}
