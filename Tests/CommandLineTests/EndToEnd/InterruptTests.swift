import Foundation
import Glibc
import TestSupport
import Testing

@testable import PiconetCommandLine

/// What a person waits for after Ctrl-C must not grow with the files that had no turn.
@Suite("A signal with many files left")
struct InterruptTests {
  private static let count = 4_000
  /// More than are under way, and are asked about in manifests, at once.
  private static let most = 1_500

  private func album(_ scene: ToolScene) throws -> String {
    let album = try scene.folder.folder("album")
    for number in 0..<Self.count { try scene.folder.write("album/\(number).gif", Array("GIF89a\(number)".utf8)) }
    return album
  }

  @Test(
    "ends a sender without a word on each of them: the last event and a line count them",
    arguments: [SIGINT, SIGTERM, SIGHUP])
  func sending(signal: Int32) async throws {
    try await ToolScene.run { scene in
      _ = try await scene.receiver()
      let sender = try scene.sender("--to", "Kitchen", try album(scene))
      sender.once {
        $0.contains("\"stored\"")
      } act: {
        sender.send(signal: signal)
      }
      #expect(await sender.end() == 128 + signal, "\(sender.error)")
      let finished = try #require(sender.events("finished").first)
      let told = ["stored", "present", "failed"].map { finished[$0] as? Int ?? 0 }.reduce(0, +)
      let untried = try #require(finished["untried"] as? Int)
      #expect(told < Self.most && told > 0)
      #expect(untried > 0 && told + untried <= Self.count)
      #expect(sender.error.contains(" not begun"), "\(sender.error)")
    }
  }

  @Test("ends one that still looks for its receiver likewise")
  func looking() async throws {
    try await ToolScene.run { scene in
      let sender = try scene.start(
        "imagesend", ["--json", "-v", "--to", "Nobody", try album(scene)], state: "sender")
      #expect(await sender.shows("Looking for"), "\(sender.error)")
      sender.send(signal: SIGINT)
      #expect(await sender.end() == 130, "\(sender.error)")
      #expect(sender.events("failed").filter { $0["file"] != nil }.isEmpty)
      #expect(sender.events("finished").first?["untried"] as? Int ?? 0 > 0)
    }
  }
}
