import Foundation
import TestSupport
import Testing

@testable import PiconetCommandLine

/// A sender that has Bluetooth alone, a receiver that has IP alone, and two relays that have both. Each adapter has a
/// bus and a bluetoothd of its own, as on hosts of their own: `Tools/bluetooth-vm --hosts`.
@Suite(
  "Photos from a device with Bluetooth alone to one with IP alone", .serialized,
  .machine("--adapters 3 --hosts"), .timeLimit(.minutes(30)))
struct RelayedPhotosTests {
  @Test("go over a relay that has both, and over a second one when the first is killed in the middle of a photo")
  func killed() async throws {
    try await ToolScene.run { scene in
      var relays: [String: ToolProcess] = [:]
      for (place, name) in [(1, "Hall"), (2, "Porch")] {
        let relay = try scene.start(
          "piconet", ["relay", "--name", name, "--accept", "all", "--adapter", VirtualMachine.adapters[place]],
          state: name, bus: VirtualMachine.buses[place])
        #expect(await relay.shows("Listening as '\(name)'"), "\(relay.error)")
        try scene.introduce(name, as: name, to: "sender")
        relays[name] = relay
      }
      try scene.introduce("Kitchen", as: "Kitchen", to: "sender")
      let photos = [try scene.photo("a.jpg", size: 16_000_000), try scene.photo("b.jpg", size: 1_000_000)]
      let sender = try scene.start(
        "imagesend",
        [
          "--json", "-v", "--transport", "bluetooth", "--adapter", VirtualMachine.adapters[0], "--relay", "Hall",
          "--relay",
          "Porch", "--to", "Kitchen", "--wait", "--timeout", "60",
        ] + photos, state: "sender", bus: VirtualMachine.buses[0])
      // Both relays, before the receiver starts: while the search for a lost member uses LE, Linux finds no new device.
      for relay in relays.keys { #expect(await sender.shows("Connected to \(relay)"), "\(sender.error)") }
      let receiver = try await scene.receiver(
        "--transport", "tcp", "--relay", "Hall", "--relay", "Porch", "--count", "2")
      for relay in relays.values { #expect(await relay.shows("Connected to Kitchen"), "\(relay.error)") }
      #expect(await sender.shows("Kitchen is reached over the relay"), "\(sender.error)")
      let first = try #require(routes(sender).first.flatMap { relays[$0] })
      // A quarter of it is there.
      #expect(
        await receiver.shows { output in
          output.matches(of: /"done":(\d+)/).contains { (Int($0.1) ?? 0) > 4_000_000 }
        }, "\(receiver.error)")
      first.send(signal: SIGKILL)
      #expect(await sender.end(within: .seconds(300)) == 0, "\(sender.error)")
      #expect(await receiver.end() == 0, "\(receiver.error)")
      for (photo, name) in zip(photos, ["a.jpg", "b.jpg"]) { #expect(try scene.isSame(photo, scene.into + "/" + name)) }
      for process in [sender, receiver] {
        #expect(process.events("connected").contains { $0["transport"] as? String == "relay" })
      }
      #expect(Set(routes(sender)) == ["Hall", "Porch"], "\(sender.error)")
    }
  }

  /// The relays that a program said it reaches the other one over.
  private func routes(_ tool: ToolProcess) -> [String] {
    tool.error.matches(of: /is reached over the relay ([A-Z][a-z]+)/).map { String($0.1) }
  }
}
