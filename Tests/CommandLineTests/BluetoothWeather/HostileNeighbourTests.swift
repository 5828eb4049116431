#if Bluetooth
  import Foundation
  import PiconetBluetooth
  import PiconetSDP
  import TestSupport
  import Testing

  @testable import PiconetCommandLine

  /// Everything that other devices say of themselves counts as hostile: it does not reach a terminal raw, and no
  /// program hangs.
  @Suite(
    "imagesend, piconet scan and piconet doctor beside hostile neighbours", .serialized,
    .machine("--adapters 2", alone: true, long: true))
  struct HostileNeighbourTests {
    private static let limit = Duration.seconds(60)

    private func device(_ adapter: String) throws -> BluetoothAddress {
      try #require(try AdapterTable.read().adapter(.named(adapter))).device
    }

    /// Whether a terminal would show this text and do nothing else.
    private func isHarmless(_ text: String) -> Bool {
      text.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control }
    }

    /// Runs all three side by side to their ends, and gives the sender's exit status.
    private func look(_ scene: WeatherScene) async throws -> Int32? {
      let here = ["--transport", "l2cap", "--adapter", WeatherScene.near, "--timeout", "16"]
      let programs = [
        try scene.scene.start(
          "imagesend", ["--to", "Kitchen"] + here + [try scene.scene.photo("a.jpg")], state: "sender", isOrdinary: true),
        try scene.scene.start("piconet", ["scan"] + here, state: "scan", isOrdinary: true),
        try ToolProcess("piconet", ["doctor"], environment: ["LC_ALL": "C.UTF-8"]),
      ]
      var ends: [Int32?] = []
      for program in programs {
        ends.append(await program.end(within: Self.limit))
        #expect(ends.last != .some(nil), "it hangs: \(program.output) \(program.error)")
        #expect(isHarmless(program.output), "\(program.output.debugDescription)")
        #expect(isHarmless(program.error), "\(program.error.debugDescription)")
        await program.discard()
      }
      // Found or not, with a problem or without: each has really run.
      #expect(ends[1] == 0 || ends[1] == 3, "\(programs[1].error)")
      #expect(ends[2] == 0 || ends[2] == 1, "\(programs[2].error)")
      return ends[0]
    }

    @Test("a service record that is", arguments: HostileRecord.allCases)
    func record(kind: HostileRecord) async throws {
      try await WeatherScene.run { scene in
        let answer = try kind.answer(
          sessionID: scene.scene.session, service: .session(scene.scene.session), device: try device(WeatherScene.far))
        // Of two listeners that would both do, Linux takes the older one.
        try await VirtualMachine.fault("daemon-stop")
        let server = try HostileSDPServer(on: WeatherScene.far, answer: answer)
        defer { server.close() }
        try await VirtualMachine.fault("daemon-start >/dev/null 2>&1")
        // Makes the adapter announce the session, so that its records are asked for.
        _ = try await scene.receiver(transport: "l2cap")
        #expect(try await look(scene) == 3)
        #expect(server.clientCount > 0, "nobody has asked")
        #expect(scene.stored == [])
      }
    }

    @Test("a device whose name is an escape sequence is found and sent to, and its name is not obeyed")
    func deviceName() async throws {
      try await WeatherScene.run { scene in
        _ = try await scene.receiver(transport: "l2cap")
        try await VirtualMachine.setName(WeatherScene.far, HostileRecord.escapes)
        do {
          #expect(try await look(scene) == 0)
        } catch {
          try await VirtualMachine.setName(WeatherScene.far, "")
          throw error
        }
        try await VirtualMachine.setName(WeatherScene.far, "")
      }
    }

    @Test("a network interface whose name is an escape sequence is shown by the doctor as text")
    func interfaceName() async throws {
      let name = "$(printf 'x\\033[2J')"
      let added = try await VirtualMachine.shell(
        "ip link add \"\(name)\" type dummy && ip addr add 192.0.2.2/24 dev \"\(name)\" && "
          + "ip link set \"\(name)\" up multicast on")
      try #require(added.status == 0, "\(added.output)")
      let doctor = try ToolProcess("piconet", ["doctor"], environment: ["LC_ALL": "C.UTF-8"])
      let status = await doctor.end(within: Self.limit)
      try await VirtualMachine.shell("ip link del \"\(name)\"")
      #expect(status == 0 || status == 1)
      #expect(doctor.output.contains("x\\u{1b}[2J"), "\(doctor.output.debugDescription)")
      #expect(isHarmless(doctor.output), "\(doctor.output.debugDescription)")
    }
  }
#endif
