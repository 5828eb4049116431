import Foundation
import TestSupport
import Testing

@testable import PiconetCommandLine

/// Two adapters in reach of each other, one for each side: those of the virtual machine, or real ones.
private let adapters = (ProcessInfo.processInfo.environment["PICONET_ADAPTERS"] ?? "").split(separator: ",").map(
  String.init)

@Suite(
  "The programs over Bluetooth", .serialized,
  .machine("--adapters 2", alone: true, or: .realAdapters))
struct BluetoothToolTests {
  private func received(_ scene: ToolScene, _ photos: [String]) throws {
    for photo in photos {
      #expect(try scene.isSame(photo, scene.into + "/" + URL(filePath: photo).lastPathComponent))
    }
  }

  private func run(_ program: String, _ arguments: String...) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// Waits for a program's end, which should be a good one. If it is not, the failure shows what the doctor says at
  /// that moment.
  private func expectGoodEnd(
    _ process: ToolProcess, _ occasion: String = "", sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let status = await process.end()
    if status == 0 { return }
    let doctor = try ToolProcess("piconet", ["doctor"], environment: [:])
    _ = await doctor.end(within: .seconds(20))
    Issue.record(
      "\(occasion)exit status \(status.map(String.init) ?? "none"): \(process.error)\n\(doctor.output)",
      sourceLocation: sourceLocation)
  }

  // Once more beside a bluetoothd with Debian's own settings.
  @Test(
    "the sample photos are found by name and arrive byte for byte over",
    .machine("--adapters 2 --stock", alone: true, or: .realAdapters), arguments: ["l2cap", "rfcomm", "le"])
  func photos(transport: String) async throws {
    try await ToolScene.run { scene in
      let photos = try ToolScene.photos
      let receiver = try await scene.receiver(
        "--count", "\(photos.count)", "--transport", transport, "--adapter", adapters[0])
      #expect(receiver.events("listening").first?["transports"] as? [String] == [transport])
      let sender = try scene.sender(
        "--to", "Kitchen", "--transport", transport, "--adapter", adapters[1], ToolScene.samples + "/.")
      try await expectGoodEnd(sender)
      try await expectGoodEnd(receiver)
      try received(scene, photos)
      let sums = [sender, receiver].map { Set($0.events("stored").compactMap { $0["sha256"] as? String }) }
      #expect(sums[0].count == photos.count && sums[0] == sums[1])
      for process in [sender, receiver] {
        #expect(process.events("connected").first?["transport"] as? String == transport)
        #expect(process.error.contains("over \(transport)"))
      }
    }
  }

  /// Ends links over LE that the previous test has left, and waits until bluetoothd answers a program that is new to
  /// it. bluetoothd 5.66 keeps a link over LE for half a minute. If one ends while bluetoothd sets up its own channels
  /// over it, bluetoothd does not answer for another half minute (Documentation/bluetooth.md,
  /// "Known troubles of others"). Does nothing between real adapters.
  private func lowEnergyIsOver() async throws {
    guard ProcessInfo.processInfo.environment["PICONET_BLUETOOTH_VM"] != nil else { return }
    for device in ["hci0/dev_00_AA_01_01_00_01", "hci1/dev_00_AA_01_00_00_00"] {
      // If bluetoothd does not know the device, or it is not connected, it says so.
      _ = try await bluetoothd("/org/bluez/\(device)", "org.bluez.Device1.Disconnect")
    }
    let list = try await bluetoothd("/", "org.freedesktop.DBus.ObjectManager.GetManagedObjects")
    #expect(list.status == 0, "\(list.output)")
    let links = try ToolProcess("/usr/bin/env", ["hcitool", "con"], environment: Self.path)
    #expect(await links.end() == 0)
    #expect(!links.output.contains(" LE "), "\(links.output)")
  }

  private static let path = ["PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]

  /// Calls bluetoothd, which has a minute to answer.
  private func bluetoothd(_ path: String, _ method: String) async throws -> (status: Int32?, output: String) {
    let words = ["dbus-send", "--system", "--print-reply", "--reply-timeout=60000", "--dest=org.bluez", path, method]
    let call = try ToolProcess("/usr/bin/env", words, environment: Self.path)
    return (await call.end(), call.output + call.error)
  }

  @Test("six searches in a row find the receiver, after bluetoothd has read that adapter's services in another session")
  func searches() async throws {
    try await lowEnergyIsOver()
    try await ToolScene.run { other in
      let receiver = try await other.receiver("--count", "1", "--transport", "rfcomm", "--adapter", adapters[0])
      let sender = try other.sender(
        "--to", "Kitchen", "--transport", "rfcomm", "--adapter", adapters[1], try other.photo("a.jpg"))
      try await expectGoodEnd(sender)
      try await expectGoodEnd(receiver)
    }
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--count", "6", "--transport", "rfcomm", "--adapter", adapters[0])
      for round in 1...6 {
        let sender = try scene.sender(
          "--to", "Kitchen", "--transport", "rfcomm", "--adapter", adapters[1], try scene.photo("\(round).jpg"))
        try await expectGoodEnd(sender, "round \(round): ")
      }
      try await expectGoodEnd(receiver)
      #expect(try scene.received().count == 6)
    }
  }

  @Test("a Bluetooth address is dialled without searching, with and without its number")
  func address() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--count", "2", "--transport", "bluetooth", "--adapter", adapters[0])
      let addresses = try #require(receiver.events("listening").first?["addresses"] as? [String])
      let full = try #require(addresses.first)
      let device = String(full.prefix(17))
      for (text, name) in [(full, "a.jpg"), (device, "b.jpg")] {
        let sender = try scene.sender(
          "--address", text, "--fingerprint", try #require(receiver.fingerprint), "--adapter", adapters[1],
          try scene.photo(name))
        try await expectGoodEnd(sender, "\(text): ")
        #expect(sender.events("connected").first?["transport"] as? String != "tcp")
      }
      try await expectGoodEnd(receiver)
      #expect(try scene.received() == ["a.jpg", "b.jpg"])
    }
  }

  @Test("with no transport named, TCP is used where both share a network")
  func prefersNetwork() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--count", "1", "--adapter", adapters[0])
      let sender = try scene.sender("--to", "Kitchen", "--adapter", adapters[1], try scene.photo("a.jpg"))
      try await expectGoodEnd(sender)
      #expect(await receiver.end() == 0)
      #expect(sender.events("connected").first?["transport"] as? String == "tcp")
    }
  }

  @Test("with the adapter off and no transport named, the programs use TCP and do not mention it")
  func adapterOff() async throws {
    try await ToolScene.run { scene in
      try #require(try run("/usr/bin/env", "hciconfig", adapters[1], "down") == 0)
      defer { _ = try? run("/usr/bin/env", "hciconfig", adapters[1], "up") }
      let receiver = try await scene.receiver("--count", "1", "--adapter", adapters[0])
      let sender = try scene.sender("--to", "Kitchen", "--adapter", adapters[1], try scene.photo("a.jpg"))
      try await expectGoodEnd(sender)
      #expect(await receiver.end() == 0)
      #expect(sender.events("connected").first?["transport"] as? String == "tcp")
    }
  }

  @Test(
    "with IP gone and no transport named, Bluetooth is used",
    .enabled(
      if: ProcessInfo.processInfo.environment["PICONET_BLUETOOTH_VM"] != nil,
      "only the virtual machine may lose its loopback"))
  func networkGone() async throws {
    try #require(await loopback("down") == 0)
    do {
      try await ToolScene.run { scene in try await sendsWithoutNetwork(scene) }
    } catch {
      _ = try? await loopback("up")
      throw error
    }
    #expect(try await loopback("up") == 0)
  }

  /// Without Foundation's Process, whose wait for the end of `ip` did not return here although `ip` had ended.
  private func loopback(_ state: String) async throws -> Int32? {
    try await ToolProcess(
      "/usr/bin/env", ["ip", "link", "set", "lo", state], environment: Self.path
    ).end(within: .seconds(20))
  }

  private func sendsWithoutNetwork(_ scene: ToolScene) async throws {
    let photo = try scene.photo("a.jpg")
    try scene.introduce("Kitchen", as: "Kitchen", to: "sender")
    let receiver = try scene.start(
      "imagerecv",
      [
        "--json", "--name", "Kitchen", "--directory", scene.into, "--accept", "all", "--count", "1", "--adapter",
        adapters[0],
      ],
      state: "Kitchen", isLoopbackOnly: false)
    #expect(await receiver.shows("\"listening\""), "\(receiver.error)")
    let sender = try scene.start(
      "imagesend", ["--json", "--to", "Kitchen", "--adapter", adapters[1], photo], state: "sender",
      isLoopbackOnly: false)
    try await expectGoodEnd(sender)
    try await expectGoodEnd(receiver)
    let transport = sender.events("connected").first?["transport"] as? String
    #expect(transport != nil && transport != "tcp")
    try received(scene, [photo])
  }

  @Test("ping, scan and cat work over", arguments: ["l2cap", "rfcomm"])
  func piconet(transport: String) async throws {
    try await ToolScene.run { scene in
      let here = [
        "--transport", transport, "--adapter", adapters[0], "--name", "Kitchen", "--accept", "all", "--listen",
      ]
      let there = ["--transport", transport, "--adapter", adapters[1]]
      let echo = try scene.start("piconet", ["ping"] + here, state: "Kitchen")
      #expect(await echo.shows("Listening as 'Kitchen'"), "\(echo.error)")
      let scan = try scene.start("piconet", ["scan", "--timeout", "20"] + there, state: "s")
      #expect(await scan.shows("found   Kitchen ("), "\(scan.error)")
      #expect(scan.output.contains("\(transport) "))
      scan.send(signal: SIGINT)
      #expect(await scan.end() == 0)
      let ping = try scene.start("piconet", ["ping", "-c5", "-i50ms", "Kitchen"] + there, state: "s")
      #expect(await ping.end() == 0, "\(ping.error)")
      #expect(ping.output.contains("5 sent, 5 received, 0% lost, over \(transport)"))
      echo.send(signal: SIGINT)
      #expect(await echo.end() == 130)
      let (file, got) = (try scene.photo("file", size: 1_000_003), scene.folder.path + "/got")
      let listener = try scene.start("piconet", ["cat"] + here, state: "Kitchen", output: got)
      #expect(await listener.shows("Listening as 'Kitchen'"), "\(listener.error)")
      let cat = try scene.start("piconet", ["cat", "Kitchen"] + there, state: "s", input: file)
      #expect(await cat.end() == 0, "\(cat.error)")
      #expect(await listener.end() == 0, "\(listener.error)")
      #expect(try scene.isSame(file, got))
    }
  }

  @Test("a missing adapter is refused, with the names of those that are present")
  func noSuchAdapter() async throws {
    try await ToolScene.run { scene in
      let sender = try scene.sender("--adapter", "hci99", try scene.photo("a.jpg"))
      #expect(await sender.end() == 2)
      #expect(sender.error.contains("no Bluetooth adapter is called hci99; there is: "))
      #expect(sender.events("failed").first?["reason"] as? String == "no-adapter")
    }
  }

  @Test("the doctor sees the adapters, in time")
  func doctor() async throws {
    let doctor = try ToolProcess("piconet", ["doctor"], environment: [:])
    let status = await doctor.end(within: .seconds(20))
    #expect(status == 0 || status == 1)
    for adapter in adapters where adapter.hasPrefix("hci") {
      #expect(doctor.output.contains("\(adapter) ("), "\(doctor.output)")
    }
  }
}
