import Foundation
import TestSupport
import Testing

@testable import PiconetCommandLine

private let adapters = (ProcessInfo.processInfo.environment["PICONET_ADAPTERS"] ?? "").split(separator: ",").map(
  String.init)

/// In a machine of their own: an adapter that was blocked is not at once as it was, which others would notice.
@Suite(
  "The programs with an adapter that is blocked", .serialized,
  .machine("--adapters 2", alone: true, or: .realAdapters))
struct BlockedAdapterTests {
  private func powerOn(_ adapter: String) async throws {
    _ = try await ToolProcess(
      "/usr/bin/env", ["hciconfig", adapter, "up"],
      environment: ["PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]
    ).end(within: .seconds(20))
  }

  /// Does what a laptop's switch does.
  private func block(_ adapter: String, _ isBlocked: Bool) throws {
    let folder = "/sys/class/bluetooth/\(adapter)"
    let name = try FileManager.default.contentsOfDirectory(atPath: folder).first { $0.hasPrefix("rfkill") }
    let file = try FileHandle(forWritingTo: URL(filePath: "\(folder)/\(try #require(name))/soft"))
    defer { try? file.close() }
    try file.write(contentsOf: Data((isBlocked ? "1" : "0").utf8))
  }

  @Test("a receiver whose adapter gets blocked says so, with what to do, and where it listens when that is over")
  func blockedReceiver() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--transport", "l2cap", "--adapter", adapters[0])
      try block(adapters[0], true)
      defer { try? block(adapters[0], false) }
      #expect(await receiver.shows("Bluetooth: \(adapters[0]) is blocked by software"), "\(receiver.error)")
      #expect(await receiver.shows { $0.contains(#""event":"warning""#) && $0.last == "\n" })
      let warning = try #require(receiver.events("warning").first)
      #expect(warning["reason"] as? String == "bluetooth")
      #expect((warning["message"] as? String)?.contains("rfkill unblock bluetooth") == true)
      try block(adapters[0], false)
      try await powerOn(adapters[0])
      #expect(await receiver.shows("listening on l2cap", behind: "is blocked by software"), "\(receiver.error)")
      #expect(
        await receiver.shows { $0.components(separatedBy: #""event":"listening""#).count == 3 && $0.last == "\n" })
      #expect((receiver.events("listening").last?["addresses"] as? [String])?.count == 1)
    }
  }

  @Test("a sender, ping and scan say that the adapter is blocked when they find no peer")
  func blockedSender() async throws {
    try await ToolScene.run { scene in
      try block(adapters[1], true)
      defer { try? block(adapters[1], false) }
      let here = ["--transport", "bluetooth", "--adapter", adapters[1], "--timeout", "1"]
      let words = "; peers can't find each other over Bluetooth: \(adapters[1]) is blocked by software"
      let photo = try scene.photo("a.jpg")
      let sender = try scene.start("imagesend", ["--json", "--to", "Kitchen"] + here + [photo], state: "sender")
      #expect(await sender.end() == 3)
      #expect(sender.error.contains("was found within 1 s\(words)"), "\(sender.error)")
      #expect((sender.events("failed").first?["message"] as? String)?.contains(words) == true)
      let ping = try scene.start("piconet", ["ping"] + here + ["Kitchen"], state: "ping")
      #expect(await ping.end() == 3)
      #expect(ping.error.contains(words), "\(ping.error)")
      let scan = try scene.start("piconet", ["scan", "--json"] + here, state: "scan")
      #expect(await scan.end() == 3)
      #expect(scan.error.contains("no peer was seen\(words)"), "\(scan.error)")
      #expect((scan.events("failed").first?["message"] as? String)?.contains(words) == true)
    }
  }
}
