#if Bluetooth
  import Foundation
  import Glibc
  import TestSupport
  import Testing

  @testable import PiconetCommandLine

  /// On a desktop, the receiver's system asks its user whether a device may connect. In the virtual machine, only these
  /// tests have a user to ask.
  @Suite(
    "imagesend and imagerecv beside a desktop's pairing agent", .serialized,
    .machine("--adapters 2", alone: true))
  struct PairingAgentTests {
    /// Both ask before the link between the two devices; over which one, only a yes shows.
    private static let kinds = isLongRun ? ["l2cap", "rfcomm"] : ["l2cap"]

    /// Sends one photo while there is an agent, and another once it has gone.
    private func send(
      _ transport: String, _ answer: PairingAgent.Answer, _ controllers: VirtualMachine.Controllers = .classic,
      _ body: (_ scene: WeatherScene, _ sender: ToolProcess, _ questions: [String]) async throws -> Void
    ) async throws {
      try await WeatherScene.run(controllers) { scene in
        _ = try await scene.receiver(transport: transport)
        try await PairingAgent.linkEnds()
        let agent = try await PairingAgent(answering: answer)
        let sender: ToolProcess
        do {
          sender = try scene.sender("--to", "Kitchen", try scene.scene.photo("a.jpg"), transport: transport)
          _ = await sender.end()
        } catch {
          _ = await agent.close()
          try await PairingAgent.restoreCapability()
          throw error
        }
        let questions = await agent.close()
        try await PairingAgent.restoreCapability()
        try await body(scene, sender, questions)
        let again = try scene.sender("--to", "Kitchen", try scene.scene.photo("b.jpg"), transport: transport)
        #expect(await again.end() == 0, "\(again.error)")
        #expect(scene.stored.contains("b.jpg"))
      }
    }

    @Test("the user is asked and says yes: the photo arrives over", arguments: ["l2cap", "rfcomm"])
    func yes(transport: String) async throws {
      try await send(transport, .yes) { scene, sender, questions in
        #expect(questions == ["RequestAuthorization"])
        #expect(await sender.end() == 0, "\(sender.error)")
        #expect(scene.stored == ["a.jpg"])
      }
    }

    @Test("the user says no: the sender is refused over", arguments: kinds)
    func no(transport: String) async throws {
      try await send(transport, .no) { scene, sender, questions in
        #expect(questions == ["RequestAuthorization"])
        #expect(await sender.end() == 3, "\(sender.error)")
        let message = WeatherScene.failure(sender)?.message ?? ""
        #expect(message.contains("its user may have been asked"), "\(sender.error)")
        #expect(scene.stored == [])
      }
    }

    @Test("the user does not answer: the sender ends, and says so, over", arguments: kinds)
    func noAnswer(transport: String) async throws {
      try await send(transport, .none) { scene, sender, questions in
        #expect(questions == ["RequestAuthorization"])
        #expect(await sender.end() == 3, "\(sender.error)")
        let message = WeatherScene.failure(sender)?.message ?? ""
        #expect(message.contains("may be asking its user"), "\(sender.error)")
        #expect(scene.stored == [])
      }
    }

    @Test("the user does not answer, and both have LE: the photo arrives over LE")
    func overLE() async throws {
      try await send("bluetooth", .none, .dual) { scene, sender, _ in
        #expect(await sender.end() == 0, "\(sender.error)")
        #expect(sender.events("connected").first?["transport"] as? String == "le", "\(sender.error)")
        #expect(scene.stored == ["a.jpg"])
      }
    }

    @Test(
      "an agent that ends before a receiver starts, or while it is visible, keeps no sender out over", arguments: kinds)
    func gone(transport: String) async throws {
      try await WeatherScene.run { scene in
        _ = await (try await PairingAgent(answering: .yes, capability: "KeyboardDisplay")).close()
        _ = try await scene.receiver(transport: transport)
        for photo in ["a.jpg", "b.jpg"] {
          let sender = try scene.sender("--to", "Kitchen", try scene.scene.photo(photo), transport: transport)
          #expect(await sender.end() == 0, "\(sender.error)")
          try await PairingAgent.linkEnds()
          _ = await (try await PairingAgent(answering: .yes, capability: "KeyboardDisplay")).close()
        }
        try await PairingAgent.restoreCapability()
      }
    }

    @Test("no receiver is visible where the last agent has ended: the sender is told how that comes, and what to do")
    func goneWithoutReceiver() async throws {
      try await WeatherScene.run { scene in
        let receiver = try await scene.receiver(transport: "l2cap")
        let place = try #require((receiver.events("listening").first?["addresses"] as? [String])?.first)
        receiver.send(signal: SIGSTOP)
        _ = await (try await PairingAgent(answering: .yes)).close()
        let sender = try scene.sender(
          "--address", String(place.split(separator: " ").last ?? ""), "--timeout", "20",
          try scene.scene.photo("a.jpg"), transport: "l2cap")
        #expect(await sender.end() == 3, "\(sender.error)")
        let message = WeatherScene.failure(sender)?.message ?? ""
        #expect(message.contains("bluetoothctl --agent NoInputNoOutput"), "\(sender.error)")
        receiver.send(signal: SIGCONT)
        try await PairingAgent.restoreCapability()
      }
    }
  }
#endif
