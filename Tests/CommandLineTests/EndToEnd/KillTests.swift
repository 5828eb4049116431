import Foundation
import Glibc
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("Killed at any point, and repeated, a command ends with every photo once and nothing beside")
struct KillTests {
  /// 40 kills, or 160 with `PICONET_SLOW_TESTS=1`.
  private static let stories = isLongRun ? Array(0..<32) : Array(0..<8)
  private static let killsOfStory = 5

  private enum Victim: CaseIterable {
    case sender, receiver, both
  }

  /// An album with folders, names that would be the same without them, one photo under two names, and three files large
  /// enough to be kept in part.
  private func album(_ scene: ToolScene) throws -> String {
    for folder in ["holiday", "other", "other/sub"] {
      for number in 0..<6 { _ = try scene.photo("album/\(folder)/\(number).jpg", size: 40_000 + number) }
      _ = try scene.photo("album/\(folder)/film.jpg", size: 5 << 20)
    }
    try FileManager.default.copyItem(
      atPath: scene.folder.path + "/album/holiday/1.jpg", toPath: scene.folder.path + "/album/twin.jpg")
    return scene.folder.path + "/album"
  }

  private func files(_ folder: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder).filter { path in
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: "\(folder)/\(path)", isDirectory: &isFolder) && !isFolder.boolValue
    }.sorted()
  }

  @Test("kill -9 and Ctrl-C of the sender, the receiver, or both, at points of what they say", arguments: stories)
  func killed(story: Int) async throws {
    try await ToolScene.run { scene in
      let album = try album(scene)
      var receiver = try await scene.receiver()
      for kill in 0..<Self.killsOfStory {
        let sender = try scene.sender("--to", "Kitchen", "--timeout", "10", album)
        let victim = Victim.allCases[(story + kill) % 3]
        let signal = (story + kill) % 2 == 0 ? SIGKILL : SIGINT
        // So many lines later than it has told so far; the last points may lie after its end.
        let point = 4 + (story * 13 + kill * 17) % 60
        let watched = victim == .receiver ? receiver : sender
        let before = victim == .receiver ? receiver.events().count : 0
        _ = await watched.shows { output in
          output.utf8.count { $0 == 0x0A } >= before + point || output.contains("\"finished\"")
            || output.contains("\"suspended\"")
        }
        if victim != .receiver { sender.send(signal: signal) }
        if victim != .sender { receiver.send(signal: signal) }
        if victim == .receiver { sender.send(signal: SIGINT) }
        #expect(await sender.end() != nil)
        if victim != .sender {
          #expect(await receiver.end() != nil)
          receiver = try await scene.receiver()
        }
      }
      let last = try scene.sender("--to", "Kitchen", album)
      #expect(await last.end() == 0, "\(last.error)")
      let expected = try files(album)
      #expect(last.events("stored").count + last.events("present").count == expected.count)
      receiver.send(signal: SIGTERM)
      #expect(await receiver.end() != nil)
      #expect(try scene.received() == ["album"])
      #expect(try files(scene.into + "/album") == expected)
      for file in expected {
        #expect(try scene.isSame("\(album)/\(file)", "\(scene.into)/album/\(file)"), "\(file)")
      }
    }
  }

  @Test("a command that is repeated sends nothing again, and both sides say that all is there")
  func repeated() async throws {
    try await ToolScene.run { scene in
      let album = try album(scene)
      let receiver = try await scene.receiver("--count", "44")
      for round in 0..<2 {
        let sender = try scene.sender("--to", "Kitchen", album)
        #expect(await sender.end() == 0, "\(sender.error)")
        #expect(sender.events("stored").count == (round == 0 ? 22 : 0))
        #expect(sender.events("present").count == (round == 0 ? 0 : 22))
        #expect(sender.error.contains(round == 0 ? "22 stored; " : "22 already there\n"), "\(sender.error)")
      }
      #expect(await receiver.end() == 0, "\(receiver.error)")
      #expect(receiver.events("present").count == 22)
      #expect(receiver.error.contains("already there"))
      #expect(receiver.events("finished").first?["present"] as? Int == 22)
      #expect(try files(scene.into + "/album") == files(album))
    }
  }
}
