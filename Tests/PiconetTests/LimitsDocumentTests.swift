import Foundation
import PiconetEngine
import PiconetWire
import Testing

@testable import Piconet

@Suite("What Documentation/limits.md says")
struct LimitsDocumentTests {
  /// What the table says beside a limit's name.
  private static func row(_ name: String) throws -> String {
    let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Documentation/limits.md")
    let lines = try String(contentsOf: path.standardized, encoding: .utf8).split(separator: "\n")
    let row = try #require(lines.first { $0.hasPrefix("| \(name) | ") }, "\(name)")
    return String(row.dropFirst(name.count + 5).dropLast(2))
  }

  /// `1,024` for 1024.
  private static func grouped(_ number: Int) -> String {
    number < 1_000 ? "\(number)" : "\(grouped(number / 1_000)),\(String(format: "%03d", number % 1_000))"
  }

  @Test("is what the code has as a number")
  func numbers() throws {
    let node = NodeConfiguration(sessionID: "test", name: "test")
    let engine = try node.engineConfiguration()
    let days = ReceivingDirectory.keptTime.components.seconds / 86_400
    let rows = [
      ("members of a session, oneself included", "\(node.capacity); up to 1024 if configured"),
      ("message", "\(node.messageLimit / 1024) KiB; "),
      ("channels of messages", "\(node.channelLimit) from one member, configurable; "),
      ("streams that one member may have open to another", "\(node.streamLimit); "),
      ("bytes that come of a stream that nobody reads", "\(engine.firstStreamWindow / 1024) KiB"),
      ("name of a stream", "\(Self.grouped(WireLimits.streamName)) bytes"),
      ("context of an invitation", "\(Self.grouped(WireLimits.context)) bytes"),
      ("greeting of a program", "\(Self.grouped(WireLimits.greeting)) bytes"),
      (
        "discovery info",
        "\(DiscoveryInfo.pairLimit) bytes a pair, \(DiscoveryInfo.limit) in all, \(DiscoveryInfo.pairCount) pairs; "
      ),
      ("partial files kept to go on with", "\(ReceivingDirectory.keptFileLimit) a directory, \(days) days "),
      ("peers that a hidden node expects at once", "\(ExpectedPeers.limit), "),
      ("silence until a peer is taken for gone", "\(node.disconnectTimeout.components.seconds) s; "),
    ]
    for (name, beginning) in rows { #expect(try Self.row(name).hasPrefix(beginning), "\(name): \(beginning)") }
    #expect(ReceivingDirectory.largestUnkeptSize == 1 << 20)
    #expect(try Self.row("partial files kept to go on with").contains("above 1 MiB"))
  }

  @Test("is as far as a node goes, and no further")
  func configured() throws {
    #expect(try Self.row("name of a device") == "63 bytes")
    var node = NodeConfiguration(sessionID: "test", name: String(repeating: "n", count: 63))
    node.capacity = 1024
    _ = try node.engineConfiguration()
    node.name += "n"
    #expect(throws: PiconetError.self) { try node.engineConfiguration() }
    node.name = "test"
    node.capacity += 1
    #expect(throws: PiconetError.self) { try node.engineConfiguration() }
  }
}
