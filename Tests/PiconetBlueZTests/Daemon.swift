import PiconetDBusValues
import PiconetEngine
import PiconetSDP
import PiconetWire

@testable import PiconetBlueZ

/// bluetoothd as a value: what it does with our calls, and what it signals.
struct Daemon {
  struct Adapter {
    var address: BluetoothAddress
    var isPowered = true
    var isDiscoverable = false
    var timeout: UInt32 = 180
    /// When the discoverable mode ends by itself.
    var expiry: Instant?
    /// Ours, as long as the connection lives.
    var hasDiscovery = false
    var hasFilter = false
    var advertisements = 0
  }

  static let path = "/org/bluez/hci0"
  static let other = "/org/bluez/hci1"

  var adapters: [String: Adapter]
  var profile: String?
  /// Whether our pairing agent is registered, and whether another one is.
  var hasOurAgent = false
  var hasOtherAgent = false
  /// What the kernel has left of the last agent that was asked first; nil: there was none. Not reported if agents play
  /// no part.
  var capability: String?
  var reportsPairable = false
  /// UUIDs that other programs have.
  var taken: Set<String> = []
  var takesEvery = 0
  /// The errors with which calls are refused.
  var refusals: [String: String] = [:]
  /// Requests that should not have been made.
  var mistakes: [String] = []
  var registered: [String] = []

  init() {
    adapters = [
      Self.path: Adapter(address: BluetoothAddress(rawValue: 0xAA_0100_0000)),
      Self.other: Adapter(address: BluetoothAddress(rawValue: 0xAA_0101_0001)),
    ]
  }

  func properties(_ path: String) -> [String: DBusValue] {
    guard let adapter = adapters[path] else { return [:] }
    var properties: [String: DBusValue] = [
      "Address": .string(adapter.address.description), "Powered": .bool(adapter.isPowered),
      "Discoverable": .bool(adapter.isDiscoverable), "DiscoverableTimeout": .uint32(adapter.timeout),
    ]
    if reportsPairable { properties["Pairable"] = .bool(hasOurAgent || hasOtherAgent) }
    return properties
  }

  /// Whether a link over BR/EDR that asks for no pairing is let in without a question.
  var letsIn: Bool { capability == nil || capability == "NoInputNoOutput" }

  /// Another program's agent comes, as a desktop's or that of `bluetoothctl`, or goes.
  mutating func setOtherAgent(_ isThere: Bool) -> BlueZFact {
    hasOtherAgent = isThere
    if isThere { capability = "KeyboardDisplay" } else if hasOurAgent { capability = "NoInputNoOutput" }
    return changed(Self.path)
  }

  func interfaces(_ path: String) -> BlueZInterfaces {
    [
      BlueZNames.adapterInterface: properties(path),
      BlueZNames.advertisingManagerInterface: ["SupportedInstances": .byte(3)],
    ]
  }

  var objects: DBusValue {
    var entries = [
      DBusEntry(key: .path(BlueZNames.managerPath), value: Self.value([BlueZNames.profileManagerInterface: [:]]))
    ]
    for path in adapters.keys.sorted() {
      entries.append(DBusEntry(key: .path(path), value: Self.value(interfaces(path))))
    }
    return .dictionary(key: "o", value: "a{sa{sv}}", entries)
  }

  static func value(_ interfaces: BlueZInterfaces) -> DBusValue {
    .dictionary(
      key: "s", value: "a{sv}",
      interfaces.sorted { $0.key < $1.key }.map { DBusEntry(key: .string($0.key), value: .properties($0.value)) })
  }

  /// After a restart, or the end of our connection: what was registered is gone.
  mutating func forgetClients() {
    profile = nil
    (hasOurAgent, hasOtherAgent) = (false, false)
    for path in adapters.keys {
      adapters[path]?.hasDiscovery = false
      adapters[path]?.hasFilter = false
      adapters[path]?.advertisements = 0
    }
  }

  /// Changes an adapter as another program does, and returns the signal that follows.
  mutating func change(_ path: String, _ body: (inout Adapter) -> Void) -> BlueZFact {
    if var adapter = adapters[path] {
      body(&adapter)
      if !adapter.isPowered {
        adapter.hasDiscovery = false
        adapter.isDiscoverable = false
      }
      adapters[path] = adapter
    }
    return changed(path)
  }

  func changed(_ path: String) -> BlueZFact {
    .propertiesChanged(
      path: path, interface: BlueZNames.adapterInterface, changed: properties(path).filter { $0.key != "Address" },
      invalidated: [])
  }

  mutating func expire(at now: Instant) -> [BlueZFact] {
    var facts: [BlueZFact] = []
    for path in adapters.keys.sorted() {
      guard let expiry = adapters[path]?.expiry, expiry <= now else { continue }
      adapters[path]?.expiry = nil
      facts.append(change(path) { $0.isDiscoverable = false })
    }
    return facts
  }

  mutating func answer(_ call: BlueZCall, at now: Instant) -> (Result<[DBusValue], DBusFailure>, [BlueZFact]) {
    func fail(_ name: String) -> (Result<[DBusValue], DBusFailure>, [BlueZFact]) {
      (.failure(DBusFailure("org.bluez.Error.\(name)")), [])
    }
    if let name = refusals[call.member] { return fail(name) }
    if call.member == "GetManagedObjects" { return (.success([objects]), []) }
    if call.member == "RegisterProfile" {
      guard let uuid = call.arguments[1].text else { return fail("InvalidArguments") }
      if profile != nil { return fail("AlreadyExists") }
      if takesEvery > 0 || taken.contains(uuid) {
        takesEvery -= 1
        return fail("NotPermitted")
      }
      profile = uuid
      registered.append(uuid)
      return (.success([]), [])
    }
    if call.member == "UnregisterProfile" {
      guard profile != nil else { return fail("DoesNotExist") }
      profile = nil
      return (.success([]), [])
    }
    if call.member == "RegisterAgent" {
      if hasOurAgent { return fail("AlreadyExists") }
      hasOurAgent = true
      // The first one is asked first.
      if !hasOtherAgent { capability = call.arguments[1].text }
      return (.success([]), [changed(Self.path)])
    }
    if call.member == "UnregisterAgent" {
      if !hasOurAgent { return fail("DoesNotExist") }
      hasOurAgent = false
      return (.success([]), [changed(Self.path)])
    }
    guard var adapter = adapters[call.path] else { return fail("UnknownObject") }
    defer { adapters[call.path] = adapter }
    switch call.member {
    case "Set":
      switch (call.arguments[1].text, call.arguments[2].plain) {
      case ("Powered", .bool(let isOn)):
        adapter.isPowered = isOn
        if !isOn { (adapter.hasDiscovery, adapter.isDiscoverable) = (false, false) }
      case ("Discoverable", .bool(let isOn)):
        if isOn, !adapter.isPowered { return fail("NotReady") }
        adapter.isDiscoverable = isOn
        adapter.expiry = isOn && adapter.timeout > 0 ? now + .seconds(Int64(adapter.timeout)) : nil
      case ("DiscoverableTimeout", .uint32(let seconds)):
        // As BlueZ does it: the same number changes nothing.
        if adapter.timeout != seconds, adapter.isDiscoverable {
          adapter.expiry = seconds > 0 ? now + .seconds(Int64(seconds)) : nil
        }
        adapter.timeout = seconds
      default: mistakes.append("unknown property")
      }
      adapters[call.path] = adapter
      return (.success([]), [changed(call.path)])
    case "SetDiscoveryFilter":
      if case .dictionary(_, _, let entries)? = call.arguments.first { adapter.hasFilter = !entries.isEmpty }
      return (.success([]), [])
    case "StartDiscovery":
      if !adapter.isPowered { return fail("NotReady") }
      if !adapter.hasFilter { mistakes.append("a scan without a filter") }
      if adapter.hasDiscovery { return fail("InProgress") }
      adapter.hasDiscovery = true
    case "StopDiscovery":
      if !adapter.isPowered { return fail("NotReady") }
      if !adapter.hasDiscovery { return fail("Failed") }
      adapter.hasDiscovery = false
    case "RegisterAdvertisement":
      if adapter.advertisements > 0 { return fail("AlreadyExists") }
      adapter.advertisements += 1
    case "UnregisterAdvertisement":
      if adapter.advertisements == 0 { return fail("DoesNotExist") }
      adapter.advertisements -= 1
    default: mistakes.append("unknown method \(call.member)")
    }
    return (.success([]), [])
  }
}
