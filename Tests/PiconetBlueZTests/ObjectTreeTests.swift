import PiconetDBusValues
import PiconetSDP
import Testing

@testable import PiconetBlueZ

@Suite("bluetoothd's objects as a value")
struct ObjectTreeTests {
  static func apply(_ fact: BlueZFact, to tree: inout ObjectTree) -> [ObjectTreeChange] {
    switch fact {
    case .interfacesAdded(let path, let interfaces): tree.add(path, interfaces: interfaces)
    case .interfacesRemoved(let path, let names): tree.remove(path, interfaces: names)
    case .propertiesChanged(let path, let interface, let changed, let invalidated):
      tree.change(path, interface: interface, changed: changed, invalidated: invalidated)
    default: []
    }
  }

  static let path = "/org/bluez/hci0/dev_00_AA_01_01_00_01"

  @Test("a recorded search: adapters, a device with its service, seen, and not heard any more")
  func recording() throws {
    var tree = ObjectTree()
    var changes: [ObjectTreeChange] = []
    var wasDiscoverable = false
    for fact in Transcript.facts(Recordings.search) {
      changes += Self.apply(fact, to: &tree)
      wasDiscoverable = wasDiscoverable || tree.adapters["/org/bluez/hci1"]?.isDiscoverable == true
    }
    #expect(tree.hasProfileManager)
    let adapter = try #require(tree.adapters["/org/bluez/hci1"])
    #expect(adapter.address == BluetoothAddress("00:AA:01:01:00:01"))
    #expect(adapter.daemonVersion == "5.66")
    #expect(adapter.roles == ["central", "peripheral"])
    #expect(adapter.advertisementsLeft == 3)
    #expect(wasDiscoverable)
    #expect(!adapter.isDiscoverable)
    #expect(adapter.discoverableTimeout == 180)
    let device = try #require(tree.devices[Self.path])
    #expect(device.uuids.count == 1)
    #expect(device.name == "BlueZ 5.66")
    #expect(device.signalStrength == nil)
    #expect(!device.isHeard)
    #expect(changes.contains(.deviceSeen(Self.path)))
  }

  @Test("an adapter takes its devices with it")
  func removal() {
    var tree = ObjectTree()
    for fact in Transcript.facts(Recordings.search) { _ = Self.apply(fact, to: &tree) }
    let changes = tree.remove("/org/bluez/hci0", interfaces: [BlueZNames.adapterInterface])
    #expect(changes == [.deviceGone(Self.path), .adapterGone("/org/bluez/hci0")])
    #expect(tree.adapters.count == 1)
  }

  @Test("neither floods nor wrong types get through")
  func limits() {
    var tree = ObjectTree()
    for number in 0..<5000 {
      _ = tree.add("/org/bluez/hci0/dev_\(number)", interfaces: [BlueZNames.deviceInterface: ["Address": .uint32(7)]])
      _ = tree.add("/org/bluez/hci\(number)", interfaces: [BlueZNames.adapterInterface: ["Powered": .string("yes")]])
    }
    #expect(tree.devices.count == ObjectTree.deviceLimit)
    #expect(tree.adapters.count == ObjectTree.adapterLimit)
    let uuids = DBusValue.strings((0..<5000).map { BluetoothUUID(short: $0).description })
    let path = "/org/bluez/hci0/dev_0"
    _ = tree.change(
      path, interface: BlueZNames.deviceInterface,
      changed: ["UUIDs": uuids, "Alias": .string(String(repeating: "\u{1B}", count: 5000)), "RSSI": .string("loud")],
      invalidated: [])
    #expect(tree.devices[path]?.uuids.count == 64)
    #expect(tree.devices[path]?.name.utf8.count == 248)
    #expect(tree.devices[path]?.signalStrength == nil)
    #expect(AdapterChoice.any.choose(from: tree) == nil)
  }
}
