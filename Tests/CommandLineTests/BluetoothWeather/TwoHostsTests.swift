import Foundation
import TestSupport
import Testing

@testable import PiconetCommandLine

/// Each adapter has a bus and a bluetoothd of its own that knows no other adapter, as on two machines:
/// `Tools/bluetooth-vm --hosts`.
@Suite(
  "imagesend and imagerecv on two hosts, each with its own bluetoothd", .serialized,
  .machine("--adapters 2 --hosts"))
struct TwoHostsTests {
  private func devices(_ bus: String) async throws -> [String] {
    let objects = try await VirtualMachine.shell(
      """
      DBUS_SYSTEM_BUS_ADDRESS=\(bus) dbus-send --system --print-reply --dest=org.bluez / \
        org.freedesktop.DBus.ObjectManager.GetManagedObjects | grep -o '"/org/bluez/hci[0-9]*"' | sort -u
      """)
    return objects.output.split(separator: "\n").map { $0.trimmingCharacters(in: .punctuationCharacters) }
  }

  @Test("each bluetoothd has its own adapter alone")
  func ownAdapters() async throws {
    for (bus, adapter) in zip(VirtualMachine.buses, VirtualMachine.adapters) {
      #expect(try await devices(bus) == ["org/bluez/\(adapter)"])
    }
  }

  @Test("a receiver is found by its name, and takes a photo", arguments: ["bluetooth", "l2cap", "rfcomm"])
  func photo(transport: String) async throws {
    try await ToolScene.run { scene in
      try scene.openToAll()
      let receiver = try scene.start(
        "imagerecv",
        [
          "--json", "--name", "Kitchen", "--directory", scene.into, "--accept", "all", "--transport", transport,
          "--adapter", WeatherScene.far,
        ], state: "Kitchen", isOrdinary: true, bus: VirtualMachine.buses[1])
      try #require(await receiver.shows("\"listening\""), "\(receiver.error)")
      try await scene.trust("add", "Kitchen", try #require(receiver.fingerprint), state: "sender", isOrdinary: true)
      let photo = try scene.photo("a.jpg")
      let sender = try scene.start(
        "imagesend", ["--json", "--transport", transport, "--adapter", WeatherScene.near, "--to", "Kitchen", photo],
        state: "sender", isOrdinary: true, bus: VirtualMachine.buses[0])
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(try scene.isSame(photo, scene.into + "/a.jpg"))
      await scene.endAll()
    }
  }
}
