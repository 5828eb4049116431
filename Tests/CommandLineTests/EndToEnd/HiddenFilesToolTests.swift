import Foundation
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("imagesend and hidden photos of a folder")
struct HiddenFilesToolTests {
  private func album(_ scene: ToolScene) throws -> String {
    for name in ["a.jpg", ".b.jpg", ".private/c.jpg"] { _ = try scene.photo("album/" + name) }
    return scene.folder.path + "/album"
  }

  @Test("says how many it leaves out and how to send them; with --hidden it sends them under names that are seen")
  func hidden() async throws {
    try await ToolScene.run { scene in
      _ = try await scene.receiver()
      let album = try album(scene)
      let first = try scene.sender("--to", "Kitchen", album)
      #expect(await first.end() == 0, "\(first.error)")
      #expect(first.error.contains("left out, hidden: 2 files (--hidden sends them)"), "\(first.error)")
      #expect(first.events("finished").first?["leftOutHidden"] as? Int == 2, "\(first.output)")
      #expect(try scene.received(scene.into + "/album") == ["a.jpg"])
      let all = try scene.sender("--to", "Kitchen", "--hidden", album)
      #expect(await all.end() == 0, "\(all.error)")
      #expect(!all.error.contains("left out"), "\(all.error)")
      #expect(all.error.contains("/.private: offered as 'private', since the name begins with a dot"), "\(all.error)")
      #expect(try scene.received(scene.into + "/album") == ["a.jpg", "b.jpg", "private"])
      #expect(try scene.received(scene.into + "/album/private") == ["c.jpg"])
    }
  }

  @Test("where all of a folder is hidden says so beside the failure, and the configuration file may ask for them")
  func allHidden() async throws {
    try await ToolScene.run { scene in
      _ = try await scene.receiver()
      _ = try scene.photo("album/.a.jpg")
      let album = scene.folder.path + "/album"
      let first = try scene.sender("--to", "Kitchen", album)
      #expect(await first.end() == 6, "\(first.error)")
      #expect(first.error.contains("left out, hidden: 1 file (--hidden sends them)"), "\(first.error)")
      try scene.folder.write("config/piconet/imagesend.conf", Array("hidden\n".utf8))
      let second = try scene.start(
        "imagesend", ["--json", "--to", "Kitchen", album], state: "sender",
        variables: ["XDG_CONFIG_HOME": scene.folder.path + "/config"])
      #expect(await second.end() == 0, "\(second.error)")
      #expect(try scene.received(scene.into + "/album") == ["a.jpg"])
    }
  }

  @Test("an empty photo that is named is called empty")
  func empty() async throws {
    try await ToolScene.run { scene in
      try scene.folder.write("a.jpg", [])
      let sender = try scene.sender("--to", "Kitchen", scene.folder.path + "/a.jpg")
      #expect(await sender.end() == 6, "\(sender.error)")
      #expect(sender.events("failed").first?["reason"] as? String == "empty", "\(sender.output)")
      #expect(sender.error.contains("a.jpg: the file is empty; use --any to send it all the same"), "\(sender.error)")
    }
  }
}
