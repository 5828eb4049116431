import CPiconetBluetooth
import CPiconetSystem
import Glibc
import PiconetBluetooth
import PiconetEngine
import PiconetRuntime
import PiconetSDP
import PiconetWire
import TestSupport
import Testing

/// What the environment lets the tests without bluetoothd use: `PICONET_HEADLESS=1` says that no bluetoothd runs,
/// `PICONET_ADAPTERS` names at least two adapters.
enum HeadlessEnvironment {
  static func value(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  static let indices: [UInt16] = (value("PICONET_ADAPTERS") ?? "").split(separator: ",").compactMap {
    $0.hasPrefix("hci") ? UInt16($0.dropFirst(3)) : nil
  }
  static let isThere = value("PICONET_HEADLESS") == "1" && indices.count >= 2
  static let reason: Comment = "needs two adapters (PICONET_ADAPTERS=hci0,hci1) and no bluetoothd (PICONET_HEADLESS=1)"
}

/// All tests that need adapters without a bluetoothd: one at a time, because each checks whether it has left anything.
@Suite(
  "Bluetooth with the kernel alone", .serialized, .timeLimit(.minutes(15)),
  .machine("--adapters 2 --no-daemon --env PICONET_HEADLESS=1", or: .realAdapters),
  .enabled(if: HeadlessEnvironment.isThere, HeadlessEnvironment.reason))
enum HeadlessTests {}

struct TestAdapter: Sendable {
  var index: UInt16
  var device: BluetoothAddress

  static func all() throws -> [TestAdapter] {
    var found = [piconet_adapter](repeating: piconet_adapter(), count: 16)
    let count = try #require(Int(exactly: piconet_adapters(&found, 16)))
    return try HeadlessEnvironment.indices.map { index in
      let adapter = try #require(found.prefix(count).first { $0.index == index })
      return TestAdapter(index: index, device: BluetoothAddress(rawValue: adapter.device))
    }
  }

  /// Switches it on and makes it connectable, as every test here needs it.
  func prepare() throws {
    try #require(piconet_hci_set_up(index, 1) == 0)
    try #require(piconet_hci_set_scan(index, 2) == 0)
  }

  func answer(to command: HCICommand) throws -> [UInt8] {
    let descriptor = piconet_hci_open(index)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    return try answer(to: command, on: descriptor)
  }

  private func answer(to command: HCICommand, on descriptor: Int32) throws -> [UInt8] {
    try #require(send(descriptor, command.packet, command.packet.count, 0) == command.packet.count)
    for _ in 0..<50 {
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      try #require(poll(&entry, 1, 3000) == 1, "the controller answers")
      var packet = [UInt8](repeating: 0, count: 258)
      let count = recv(descriptor, &packet, packet.count, 0)
      guard count > 0, case .commandComplete(command.opcode, 0, let parameters) = HCIEvent(Array(packet.prefix(count)))
      else { continue }
      return parameters
    }
    Issue.record("no answer to \(command)")
    return []
  }
}

/// A value that only a loop touches.
final class OnLoop<Value>: @unchecked Sendable {
  // Sendable is right: its owner uses the value on one loop only.
  var value: Value
  init(_ value: Value) { self.value = value }
}

enum TestRecord {
  static let sessionID = "holiday"

  static func make(_ adapter: BluetoothAddress, name: String = "laptop", sessionID: String = sessionID) throws
    -> NodeRecord
  {
    NodeRecord(
      peer: try #require(PeerID(bytes: Array(1...32))), incarnation: Incarnation(rawValue: 7), name: name,
      sessionID: sessionID,
      info: ["role": "sends"], adapter: adapter, l2capPSM: 0x1005, rfcommChannel: 3, lePSM: 0x81)
  }
}
