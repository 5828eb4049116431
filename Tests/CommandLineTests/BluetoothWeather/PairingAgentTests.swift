#if Bluetooth
  import Foundation
  import TestSupport
  import Testing

  @testable import PiconetCommandLine

  /// On a desktop the receiver's system asks its user whether somebody may connect. In the virtual machine only these
  /// tests have somebody to ask.
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
      "the agent has gone: bluetoothd refuses in the user's place, until there was an agent without screen and buttons"
    )
    func gone() async throws {
      try await WeatherScene.run { scene in
        _ = try await scene.receiver(transport: "l2cap")
        try await PairingAgent.linkEnds()
        _ = await (try await PairingAgent(answering: .yes)).close()
        let sender = try scene.sender("--to", "Kitchen", try scene.scene.photo("a.jpg"), transport: "l2cap")
        #expect(await sender.end() == 3, "\(sender.error)")
        let message = WeatherScene.failure(sender)?.message ?? ""
        #expect(message.contains("does not let us in"), "\(sender.error)")
        try await PairingAgent.restoreCapability()
        let again = try scene.sender("--to", "Kitchen", try scene.scene.photo("b.jpg"), transport: "l2cap")
        #expect(await again.end() == 0, "\(again.error)")
      }
    }
  }
#endif
