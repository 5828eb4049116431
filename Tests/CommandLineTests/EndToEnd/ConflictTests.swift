import Foundation
import Glibc
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("Photos of one name, and photos that are stored already")
struct ConflictTests {
  private func write(_ text: String, _ path: String) throws {
    try FileManager.default.createDirectory(
      atPath: URL(filePath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
    try Data([0xFF, 0xD8, 0xFF, 0xE0] + Array(text.utf8)).write(to: URL(filePath: path))
  }

  private func text(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: path)).dropFirst(4), as: UTF8.self)
  }

  @Test("another photo of the name and size: beside it, left out with 6, or in its place; the same one is success")
  func policies() async throws {
    try await ToolScene.run { scene in
      try write("new", scene.folder.path + "/a.jpg")
      for (policy, code, contents) in [
        ("rename", 0, ["a.jpg": "old", "a (2).jpg": "new"]), ("skip", 6, ["a.jpg": "old"]),
        ("overwrite", 0, ["a.jpg": "new"]),
      ] as [(String, Int32, [String: String])] {
        let into = "\(scene.folder.path)/\(policy)"
        try write("old", into + "/a.jpg")
        let receiver = try await scene.receiver("--on-conflict", policy, name: policy, into: into)
        for round in 0..<2 {
          let sender = try scene.sender("--to", policy, scene.folder.path + "/a.jpg")
          #expect(await sender.end() == code, "\(sender.error)")
          let kind = policy == "skip" ? "skipped" : round == 0 ? "stored" : "present"
          #expect(sender.events(kind).count == 1, "\(policy) \(round): \(sender.events())")
        }
        receiver.send(signal: SIGTERM)
        #expect(await receiver.end() == 143)
        #expect(try Set(scene.received(into)) == Set(contents.keys))
        for (name, content) in contents { #expect(try text("\(into)/\(name)") == content) }
      }
    }
  }

  @Test("a live photo and its sidecar stay together beside another photo of the name, also in a repeated command")
  func groups() async throws {
    try await ToolScene.run { scene in
      let from = scene.folder.path + "/from"
      let heic = Array("\0\0\0\u{18}ftypheic\0\0\0\0mif1heic".utf8)
      let film = Array("\0\0\0\u{14}ftypqt  \0\0\0\0qt  ".utf8)
      for (path, bytes) in [
        ("\(scene.folder.path)/kept/IMG_9.HEIC", heic + [1]), ("\(from)/IMG_9.HEIC", heic + [2]),
        ("\(from)/IMG_9.MOV", film), ("\(from)/IMG_9.HEIC.xmp", Array("<x:xmpmeta>".utf8)),
      ] {
        try FileManager.default.createDirectory(
          atPath: URL(filePath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(filePath: path))
      }
      let into = "\(scene.folder.path)/kept"
      let receiver = try await scene.receiver(name: "kept", into: into)
      // The film alone, then all that is in the folder, and again.
      for (path, stored, present) in [("IMG_9.MOV", 1, 0), ("IMG_9.HEIC", 2, 1), ("IMG_9.HEIC", 0, 3)] {
        let sender = try scene.sender("--to", "kept", "\(from)/\(path)")
        #expect(await sender.end() == 0, "\(sender.error)")
        #expect(sender.events("stored").count == stored, "\(sender.events())")
        #expect(sender.events("present").count == present, "\(sender.events())")
      }
      receiver.send(signal: SIGTERM)
      #expect(await receiver.end() == 143)
      #expect(
        try Set(scene.received(into))
          == ["IMG_9.HEIC", "IMG_9 (2).HEIC", "IMG_9 (2).MOV", "IMG_9 (2).HEIC.xmp"])
    }
  }

  @Test("two photos of one command never meet, whatever the receiver does with names that are taken")
  func neverMeet() async throws {
    try await ToolScene.run { scene in
      let from = scene.folder.path + "/from"
      for (path, content) in [("holiday/strand.jpg", "1"), ("other/strand.jpg", "2"), ("other/STRAND.jpg", "3")] {
        try write(content, "\(from)/\(path)")
      }
      let folders = ["\(from)/holiday", "\(from)/other"]
      for (name, options, expected) in [
        ("kept", [], ["holiday/strand.jpg", "other/STRAND.jpg", "other/strand.jpg"]),
        ("flat", ["--flat"], ["STRAND (2).jpg", "strand (2).jpg", "strand.jpg"]),
      ] as [(String, [String], [String])] {
        let into = "\(scene.folder.path)/\(name)"
        if name == "kept" {
          try write("old", into + "/holiday/strand.jpg")
        } else {
          try write("old", into + "/strand.jpg")
        }
        let receiver = try await scene.receiver("--on-conflict", "overwrite", name: name, into: into)
        let sender = try scene.start(
          "imagesend", ["--json", "--to", name] + options + folders, state: "sender")
        #expect(await sender.end() == 0, "\(sender.error)")
        receiver.send(signal: SIGTERM)
        #expect(await receiver.end() == 143, "\(receiver.error)")
        let there = try FileManager.default.subpathsOfDirectory(atPath: into).filter { $0.hasSuffix(".jpg") }
        let contents = try there.map { try text("\(into)/\($0)") }
        #expect(contents.sorted() == ["1", "2", "3"], "\(there)")
        // Names that differ only in case count as the same: what this command has stored stays beside the other one.
        if name == "kept" { #expect(there.count == expected.count) }
      }
    }
  }

  @Test(
    "whatever comes to a command or leaves it, --flat doubles nothing, and nothing is lost",
    arguments: ["rename", "overwrite", "skip"])
  func flatAgain(policy: String) async throws {
    try await ToolScene.run { scene in
      let into = scene.into
      let receiver = try await scene.receiver("--on-conflict", policy)
      func send(_ folders: [String]) async throws -> ToolProcess {
        let paths = folders.map { "\(scene.folder.path)/\($0)" }
        let sender = try scene.start("imagesend", ["--json", "--to", "Kitchen", "--flat"] + paths, state: "sender")
        #expect(await sender.end() == 0, "\(sender.error)")
        return sender
      }
      for folder in ["099", "100", "101", "102"] {
        for photo in ["1", "2"] { try write("\(folder) \(photo)", "\(scene.folder.path)/\(folder)/IMG_\(photo).jpg") }
      }
      _ = try await send(["100", "101"])
      // Another one comes before them; one leaves; they come in another order. With skip all are to be there already.
      let next =
        policy == "skip"
        ? [["101"], ["101", "100"]] : [["099", "100", "101"], ["100", "101"], ["102", "101", "100"]]
      for folders in next {
        let sender = try await send(folders)
        let there = try scene.received(into).map { try text("\(into)/\($0)") }
        #expect(Set(there).count == there.count, "\(folders): \(there)")
        let expected = folders.flatMap { ["\($0) 1", "\($0) 2"] }
        #expect(Set(there).isSuperset(of: expected), "\(folders): \(there), \(sender.error)")
      }
      receiver.send(signal: SIGTERM)
      #expect(await receiver.end() == 143, "\(receiver.error)")
    }
  }

  @Test(
    "the same command, run again, replaces no photo that is stored under a number",
    arguments: [["100", "102"], ["101", "102", "100"], ["102", "101", "100"]])
  func thereUnderNumber(folders: [String]) async throws {
    try await ToolScene.run { scene in
      let into = scene.into
      let receiver = try await scene.receiver("--on-conflict", "overwrite")
      for folder in ["099", "100", "101", "102"] {
        for photo in 1...3 { try write("\(folder) \(photo)", "\(scene.folder.path)/\(folder)/IMG_\(photo).jpg") }
      }
      // One has left the card, another one has come, whose photos are offered under the numbers of those before.
      for folders in [["099", "100", "101"], folders] {
        let paths = folders.map { "\(scene.folder.path)/\($0)" }
        let sender = try scene.start("imagesend", ["--json", "--to", "Kitchen", "--flat"] + paths, state: "sender")
        #expect(await sender.end() == 0, "\(sender.error)")
        let there = try scene.received(into).map { try text("\(into)/\($0)") }
        let expected = folders.flatMap { folder in (1...3).map { "\(folder) \($0)" } }
        #expect(Set(there).isSuperset(of: expected), "\(folders): \(there), \(sender.events())")
      }
      receiver.send(signal: SIGTERM)
      #expect(await receiver.end() == 143, "\(receiver.error)")
    }
  }

  @Test("links to directories in an album are reported and left out; with --follow-links they are followed, once")
  func links() async throws {
    try await ToolScene.run { scene in
      let from = scene.folder.path + "/from"
      try write("1", from + "/album/a.jpg")
      try write("secret", from + "/secret.jpg")
      #expect(symlink("..", from + "/album/loop") == 0)
      let receiver = try await scene.receiver()
      let sender = try scene.sender("--to", "Kitchen", from + "/album")
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(sender.error.contains("album/loop: a link to a directory, not followed"), "\(sender.error)")
      #expect(try FileManager.default.subpathsOfDirectory(atPath: scene.into).sorted() == ["album", "album/a.jpg"])
      let follower = try scene.sender("--to", "Kitchen", "--follow-links", from + "/album")
      #expect(await follower.end() == 0, "\(follower.error)")
      receiver.send(signal: SIGTERM)
      #expect(await receiver.end() == 143)
      #expect(
        try FileManager.default.subpathsOfDirectory(atPath: scene.into).sorted() == [
          "album", "album/a.jpg", "album/loop", "album/loop/secret.jpg",
        ])
    }
  }

  @Test("a folder that is a link at the receiver is not followed")
  func linkedFolder() async throws {
    try await ToolScene.run { scene in
      try write("1", scene.folder.path + "/album/a.jpg")
      let outside = scene.folder.path + "/outside"
      try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: true)
      #expect(symlink(outside, scene.into + "/album") == 0)
      let receiver = try await scene.receiver("--count", "1")
      let sender = try scene.sender("--to", "Kitchen", scene.folder.path + "/album")
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(await receiver.end() == 0)
      #expect(try scene.received(outside) == [])
      #expect(try scene.received() == ["album", "album (2)"])
      #expect(try text(scene.into + "/album (2)/a.jpg") == "1")
    }
  }

  @Test(
    "a large file that may be the same is compared with progress on both sides, and the time-out of the sender waits")
  func comparing() async throws {
    try await ToolScene.run { scene in
      let path = try scene.sparse("film.jpg", size: 600 << 20)
      try FileManager.default.copyItem(atPath: path, toPath: scene.into + "/film.jpg")
      let receiver = try await scene.receiver("--count", "1")
      let sender = try scene.sender("--to", "Kitchen", path)
      #expect(await sender.end(within: .seconds(300)) == 0, "\(sender.error)")
      #expect(await receiver.end() == 0)
      #expect(sender.events("present").count == 1)
      for side in [sender, receiver] {
        #expect(side.events("progress").contains { $0["phase"] as? String == "comparing" }, "\(side.events())")
      }
      #expect(try scene.received() == ["film.jpg"])
    }
  }
}
