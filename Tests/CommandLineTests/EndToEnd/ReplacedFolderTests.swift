import Foundation
import Glibc
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("imagerecv, whose folder is moved or replaced while it waits")
struct ReplacedFolderTests {
  private static var isConfined: Bool { if case .usable = LandlockSupport.current { true } else { false } }

  enum Change: CaseIterable {
    case trash, remove, trashAndMake, removeAndMake

    var makes: Bool { self == .trashAndMake || self == .removeAndMake }
  }

  @Test("nothing is called stored where nothing is, by either side nor in the history", arguments: Change.allCases)
  func changed(change: Change) async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver()
      let trash = scene.folder.path + "/trash"
      switch change {
      case .trash, .trashAndMake: try #require(rename(scene.into, trash) == 0)
      case .remove, .removeAndMake: try #require(rmdir(scene.into) == 0)
      }
      if change.makes { try #require(mkdir(scene.into, 0o755) == 0) }
      let photos = [try scene.photo("a.jpg"), try scene.photo("b.jpg", size: 3 << 20)]
      let sender = try scene.start("imagesend", ["--json", "--to", "Kitchen"] + photos, state: "sender")
      let status = await sender.end()
      let isStored = change.makes && !Self.isConfined
      #expect(status == (isStored ? 0 : 4), "\(sender.error)")
      #expect(receiver.events("stored").count == (isStored ? 2 : 0), "\(receiver.error)")
      if isStored {
        #expect(receiver.events("warning").first?["reason"] as? String == "directory")
        #expect(try scene.received() == ["a.jpg", "b.jpg"])
      } else {
        let expected = change.makes ? "start imagerecv again" : "the directory is no longer where it was"
        #expect(await receiver.shows("\(scene.into): "), "\(receiver.error)")
        #expect(receiver.error.contains(expected), "\(receiver.error)")
        #expect(sender.events("failed").allSatisfy { $0["reason"] as? String == "directory-vanished" })
        if change.makes { #expect(sender.error.contains("start it again"), "\(sender.error)") }
      }
      receiver.send(signal: SIGTERM)
      #expect(await receiver.end() == 143)
      let history = try scene.start("imagerecv", ["--history"], state: "Kitchen")
      #expect(await history.end() == 0, "\(history.error)")
      #expect(history.output.split(separator: "\n").count { $0.contains(scene.into + "/") } == (isStored ? 2 : 0))
      if FileManager.default.fileExists(atPath: trash) { #expect(try scene.received(trash) == []) }
    }
  }
}
