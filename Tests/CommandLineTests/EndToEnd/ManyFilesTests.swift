import Foundation
import Glibc
import Piconet
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("What is shown of many files")
struct ManyFilesTests {
  /// A folder of twelve photos, two more than get a line each, a film and a text.
  private func album(_ scene: ToolScene) throws -> String {
    let album = try scene.folder.folder("album")
    for number in 10..<22 {
      try FileManager.default.moveItem(
        atPath: try scene.photo("\(number).jpg", size: 2_000), toPath: "\(album)/\(number).jpg")
    }
    try scene.folder.write("album/film.avi", Array("RIFF\0\0\0\0AVI LIST".utf8))
    try scene.folder.write("album/notes.txt", Array("notes".utf8))
    return album
  }

  private let leftOut = "left out, of other kinds: 1 video, 1 other file (--any sends them)\r\n"

  @Test("on a terminal they are counted, not listed, on both sides, and the end says what became of them")
  func onTerminal() async throws {
    try await ToolScene.run { scene in
      let receiver = try scene.start(
        "imagerecv", ["--name", "Kitchen", "--directory", scene.into, "--accept", "all", "--count", "12"],
        state: "Kitchen", onTerminal: true, outputOnTerminal: true)
      #expect(await receiver.shows("listening on"), "\(receiver.error)")
      try scene.introduce("Kitchen", as: "Kitchen", to: "sender")
      let sender = try scene.start(
        "imagesend", ["--to", "Kitchen", try album(scene)], state: "sender", onTerminal: true, outputOnTerminal: true)
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(!sender.error.contains(": stored"), "\(sender.error)")
      #expect(sender.error.contains("\u{1B}[J12 stored; 24 kB in "), "\(sender.error)")
      #expect(sender.error.hasSuffix(leftOut), "\(sender.error)")
      #expect(await receiver.end() == 0, "\(receiver.error)")
      #expect(receiver.error.components(separatedBy: "\(scene.into)/album/").count == 11, "\(receiver.error)")
      #expect(receiver.error.contains("are counted; -v lists them\r\n"), "\(receiver.error)")
      #expect(receiver.error.contains(": 12 stored; 24 kB in "), "\(receiver.error)")
    }
  }

  @Test("more than ten thousand arrive, every one", .enabled(if: isLongRun, "--all"))
  func tenThousand() async throws {
    try await ToolScene.run { scene in
      let (count, album) = (10_100, try scene.folder.folder("album"))
      for number in 0..<count {
        try Data("GIF89a\u{1}\0\u{1}\0\(number)".utf8).write(to: URL(filePath: "\(album)/\(number).gif"))
      }
      let receiver = try await scene.receiver("--count", "\(count)")
      let sender = try scene.sender("--to", "Kitchen", album)
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(await receiver.end() == 0, "\(receiver.error)")
      for number in 0..<count {
        let stored = try Data(contentsOf: URL(filePath: "\(scene.into)/album/\(number).gif"))
        #expect(stored.dropFirst(10) == Data("\(number)".utf8))
      }
    }
  }

  /// Gives a device the digests of as many files as one may have, none of which is seen again.
  private func fillDigests(_ scene: ToolScene, _ state: String) throws {
    let cache = SHA256Digest.Cache()
    let descriptor = open(try scene.folder.write("other", [1]), O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    var status = stat()
    try #require(fstat(descriptor, &status) == 0)
    (status.st_mtim, status.st_ctim) = (timespec(), timespec())
    let digest = try #require(SHA256Digest(bytes: [UInt8](repeating: 1, count: 32)))
    for number in 0..<SHA256Digest.Cache.limit {
      status.st_ino = ino_t(number)
      cache.note(digest, of: status, lookedAt: SHA256Digest.Cache.now, in: descriptor)
    }
    #expect(cache.count == SHA256Digest.Cache.limit)
    #expect(DigestCacheFile(in: LocalPath(scene.cacheHome(state) + "/piconet"), cache: cache).save() == nil)
  }

  @Test(
    "a folder of many is stored, and passed over when it is there, in less than 64 MiB on either side, with as many digests as there may be"
  )
  func littleMemory() async throws {
    let count = isLongRun ? 100_000 : 2_000
    try await ToolScene.run { scene in
      let album = try scene.folder.folder("album")
      for number in 0..<count {
        let folder = "\(album)/\(number / 1_000)"
        if number.isMultiple(of: 1_000) { _ = try scene.folder.folder("album/\(number / 1_000)") }
        try Data("GIF89a\u{1}\0\u{1}\0\(number)".utf8).write(to: URL(filePath: "\(folder)/\(number).gif"))
      }
      for state in ["sender", "Kitchen"] { try fillDigests(scene, state) }
      let receiver = try scene.start(
        "imagerecv", ["--name", "Kitchen", "--directory", scene.into, "--accept", "all"], state: "Kitchen",
        output: "/dev/null")
      #expect(await receiver.shows("listening on"), "\(receiver.error)")
      try scene.introduce("Kitchen", as: "Kitchen", to: "sender")
      for outcome in ["stored", "already there"] {
        let sender = try scene.start("imagesend", ["--to", "Kitchen", album], state: "sender", output: "/dev/null")
        var most = 0
        while sender.isRunning {
          most = max(most, sender.peakMemory)
          try await Task.sleep(for: .milliseconds(20))
        }
        #expect(await sender.end() == 0, "\(sender.error)")
        #expect(sender.error.contains("\(HumanFigures.count(count)) \(outcome)"), "\(sender.error)")
        #expect((1..<65_536).contains(most), "the sender had \(most) KiB")
        #expect((1..<65_536).contains(receiver.peakMemory), "the receiver had \(receiver.peakMemory) KiB")
      }
    }
  }

  @Test("those that are there take one frame for many of them, with one that is not there among them")
  func fewFrames() async throws {
    let count = 3_000
    try await ToolScene.run { scene in
      let album = try scene.folder.folder("album")
      for number in 0..<count {
        try Data("GIF89a\u{1}\0\u{1}\0\(number)".utf8).write(to: URL(filePath: "\(album)/\(number).gif"))
      }
      try FileManager.default.copyItem(atPath: album, toPath: "\(scene.into)/album")
      // In the middle of them, as names are sorted.
      let other = URL(filePath: "\(scene.into)/album/2000.gif")
      try Data("GIF89a\u{1}\0\u{1}\0-000".utf8).write(to: other)
      let receiver = try await scene.receiver()
      let sender = try scene.start("imagesend", ["-v", "--to", "Kitchen", album], state: "sender", output: "/dev/null")
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(sender.error.contains("1 stored, 2,999 already there"), "\(sender.error)")
      // What the connection was like: "sent 1.2 kB in 34 frames; received 5 kB in 67 frames; ...".
      let figures = try #require(
        sender.error.firstMatch(of: /sent [^;\n]* in ([0-9]+) frames?; received [^;\n]* in ([0-9]+) frames?;/),
        "\(sender.error)")
      let frames = try #require(Int(figures.1)) + #require(Int(figures.2))
      #expect((1..<count / 3).contains(frames), "\(figures.0)")
      #expect(try Data(contentsOf: other).suffix(4) == Data("-000".utf8))
      let stored = try Data(contentsOf: URL(filePath: "\(scene.into)/album/2000 (2).gif"))
      #expect(stored.suffix(4) == Data("2000".utf8))
      receiver.terminate()
      _ = await receiver.end()
      #expect(receiver.events("finished").first?["present"] as? Int == count - 1, "\(receiver.error)")
      #expect(receiver.events("finished").first?["stored"] as? Int == 1)
    }
  }

  @Test("a pipe gets a line of each, and so does a terminal with -v")
  func listed() async throws {
    try await ToolScene.run { scene in
      let album = try album(scene)
      let receiver = try await scene.receiver("--count", "24", json: false)
      for (onTerminal, words) in [(false, []), (true, ["-v"])] as [(Bool, [String])] {
        let sender = try scene.start(
          "imagesend", words + ["--to", "Kitchen", album], state: "sender", onTerminal: onTerminal,
          outputOnTerminal: onTerminal)
        #expect(await sender.end() == 0, "\(sender.error)")
        let lines = (sender.output + sender.unbrokenError).components(separatedBy: "on Kitchen")
        #expect(lines.count == 13, "\(sender.error)")
      }
      #expect(await receiver.end() == 0, "\(receiver.error)")
      #expect(receiver.output.split(separator: "\n").count == 24)
    }
  }

  @Test("a receiver that says no gets no line for each file: the reason stands at the end, with the first of them")
  func declined() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver(accept: nil, json: false, onTerminal: true)
      let sender = try scene.start(
        "imagesend", ["--to", "Kitchen", try album(scene)], state: "sender", onTerminal: true, outputOnTerminal: true)
      #expect(await receiver.shows("Accept?"), "\(receiver.error)")
      receiver.type("n\n")
      #expect(await sender.end() == 4, "\(sender.error)")
      #expect(!sender.error.contains("not sent"), "\(sender.error)")
      // Undoes the line breaks of the terminal.
      let end = sender.error.replacing("\r\n    ", with: " ")
      #expect(end.contains("12 failed\r\n\(leftOut)  12: the other side has declined ("), "\(sender.error)")
      #expect(end.hasSuffix("/album/12.jpg and 9 more)\r\n"), "\(sender.error)")
    }
  }

  @Test("a directory without photos says what is in it, in the last event too")
  func noImages() async throws {
    try await ToolScene.run { scene in
      try scene.folder.write("films/a.avi", Array("RIFF\0\0\0\0AVI LIST".utf8))
      let sender = try scene.sender("--to", "Kitchen", scene.folder.path + "/films")
      #expect(await sender.end() == 6, "\(sender.error)")
      #expect(sender.error.hasSuffix("left out, of other kinds: 1 video (--any sends them)\n"))
      #expect(sender.events("finished").first?["leftOut"] as? Int == 1)
    }
  }
}
