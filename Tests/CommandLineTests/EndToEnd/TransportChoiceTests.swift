import Foundation
import Testing

@testable import PiconetCommandLine

@Suite("What imagesend and imagerecv make of their transports")
struct TransportChoiceTests {
  @Test("the events name the transports that are tried and the one that is used")
  func events() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--count", "1", "--transport", "tcp")
      #expect(receiver.events("listening").first?["transports"] as? [String] == ["tcp"])
      let sender = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(sender.events("found").first?["transports"] as? [String] == ["tcp"])
      #expect(sender.events("connecting").first?["transports"] as? [String] == ["tcp"])
      #expect(sender.events("connected").first?["transport"] as? String == "tcp")
      #expect(sender.error.contains("over tcp"))
      #expect(await receiver.end() == 0)
    }
  }

  @Test("with auto the programs do not mention a missing Bluetooth")
  func quiet() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--count", "1")
      let sender = try scene.start(
        "imagesend", ["--to", "Kitchen", try scene.photo("a.jpg")], state: "sender", isLoopbackOnly: false)
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(await receiver.end() == 0, "\(receiver.error)")
      for process in [sender, receiver] {
        #expect(!process.error.lowercased().contains("bluetooth") && !process.error.contains("l2cap"))
      }
    }
  }

  @Test(
    "on a machine without Bluetooth a program that needs it says so, and ends with 2",
    .enabled(if: BluetoothHere.current.lack != nil, "this kernel has Bluetooth"))
  func withoutBluetooth() async throws {
    try await ToolScene.run { scene in
      let photo = try scene.photo("a.jpg")
      for arguments in [["--transport", "bluetooth"], ["--transport", "le"], ["--adapter", "hci0"]] {
        let sender = try scene.start("imagesend", ["--json"] + arguments + [photo], state: "s")
        #expect(await sender.end() == 2)
        #expect(sender.events("failed").first?["reason"] as? String == "no-bluetooth")
        #expect(sender.error.contains("imagesend: Bluetooth was asked for, and this kernel has no Bluetooth"))
        let receiver = try scene.start("imagerecv", arguments, state: "r")
        #expect(await receiver.end() == 2)
      }
      let sender = try scene.sender("--address", "00:11:22:33:44:55", photo)
      #expect(await sender.end() == 2, "\(sender.error)")
      #expect(sender.events("failed").first?["reason"] as? String == "no-bluetooth")
    }
  }

  @Test("a device that is named by --to and --address is one receiver, and gets each file once")
  func onceOnly() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--count", "3", knownTo: [])
      let addresses = try #require(receiver.events("listening").first?["addresses"] as? [String])
      let address = try #require(addresses.first)
      let first = try scene.sender(
        "--address", address, "--fingerprint", try await scene.fingerprint("Kitchen"), try scene.photo("a.jpg"))
      #expect(await first.end() == 0, "\(first.error)")
      let sender = try scene.sender("--to", "Kitchen", "--address", address, try scene.photo("b.jpg"))
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(sender.events("stored").count == 1)
      #expect(try scene.received() == ["a.jpg", "b.jpg"])
    }
  }

  @Test("the receiver sees the sender under its --name")
  func name() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--count", "1")
      let sender = try scene.sender("--name", "Annas Laptop", "--to", "Kitchen", try scene.photo("a.jpg"))
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(await receiver.end() == 0)
      #expect(receiver.events("connected").first?["name"] as? String == "Annas Laptop")
    }
  }

  @Test("Ctrl-C while imagerecv asks is no answer: the sender is told that it was cancelled, not declined")
  func interruptedQuestion() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver(accept: "ask", json: false, onTerminal: true)
      let sender = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
      #expect(await receiver.shows("Accept?"), "\(receiver.error)")
      receiver.send(signal: SIGINT)
      #expect(await receiver.end() == 130)
      #expect(await sender.end() == 4, "\(sender.error)")
      #expect(sender.events("failed").first?["reason"] as? String == "cancelled")
      #expect(sender.error.contains("the other side has cancelled it"))
    }
  }
}
