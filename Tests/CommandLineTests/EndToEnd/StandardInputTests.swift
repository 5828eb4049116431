import Foundation
import Glibc
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("imagesend reads standard input")
struct StandardInputTests {
  private func temporaries(_ folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.hasPrefix("piconet.") }
  }

  @Test("- is stored as stdin with the extension of its kind, as --as says, and beside files that are named")
  func dash() async throws {
    try await ToolScene.run { scene in
      _ = try await scene.receiver()
      let photo = try scene.photo("a.jpg", size: 3_000_000)
      let plain = try scene.start(
        "imagesend", ["--to", "Kitchen", "--json", "-"], state: "sender", input: photo,
        variables: ["TMPDIR": scene.folder.path])
      #expect(await plain.end() == 0, "\(plain.error)")
      for event in ["offered", "stored"] {
        #expect(plain.events(event).first?["file"] as? String == "stdin.jpg", "\(plain.output)")
      }
      let told = try scene.start(
        "imagesend", ["--to", "Kitchen", "-"], state: "sender", input: try scene.photo("c.jpg"))
      #expect(await told.end() == 0, "\(told.error)")
      #expect(told.output.hasPrefix("stdin.jpg: stored as 'stdin (2).jpg' on Kitchen, "), "\(told.output)")
      #expect(try scene.isSame(photo, scene.into + "/stdin.jpg"))
      let named = try scene.start(
        "imagesend", ["--to", "Kitchen", "--json", "--as", "letter.jpg", "-", photo, "-"], state: "sender",
        input: try scene.photo("b.jpg"))
      #expect(await named.end() == 0, "\(named.error)")
      #expect(named.events("stored").contains { $0["file"] as? String == "letter.jpg" }, "\(named.output)")
      #expect(!named.events("stored").contains { $0["file"] as? String == "-" }, "\(named.output)")
      #expect(try Set(scene.received()) == ["stdin.jpg", "stdin (2).jpg", "letter.jpg", "a.jpg"])
      #expect(temporaries(scene.folder.path) == [])
    }
  }

  @Test("with --on-conflict skip the same content again is success, and other content is skipped with 6")
  func skip() async throws {
    try await ToolScene.run { scene in
      _ = try await scene.receiver("--on-conflict", "skip")
      let (photo, other) = (try scene.photo("a.jpg", size: 300_000), try scene.photo("b.jpg", size: 300_001))
      for (input, status, outcome) in [(photo, 0, "stored"), (photo, 0, "present"), (other, 6, "skipped")]
        as [(String, Int32, String)]
      {
        let sender = try scene.start("imagesend", ["--to", "Kitchen", "--json", "-"], state: "sender", input: input)
        #expect(await sender.end() == status, "\(sender.error)")
        #expect(sender.events(outcome).count == 1, "\(outcome): \(sender.events())")
      }
      #expect(try scene.received() == ["stdin.jpg"] && scene.isSame(photo, scene.into + "/stdin.jpg"))
    }
  }

  @Test("imagesend reports input that it can't send, with 6 or 2, before it searches for a peer")
  func wrong() async throws {
    try await ToolScene.run { scene in
      let text = scene.folder.path + "/text"
      try "no photo".write(toFile: text, atomically: true, encoding: .utf8)
      let cases: [([String], String, Int32, String)] = [
        (["-"], text, 6, "-: not a photo or video"), (["-"], "/dev/null", 6, "-: the file is empty"),
        (["-"], scene.folder.path, 6, "Is a directory"), (["--as", "a.jpg", text], text, 2, "give - as the file"),
        (["--as", "a/b.jpg", "-"], text, 2, "without folders"),
      ]
      for (words, input, status, message) in cases {
        let tool = try scene.start("imagesend", ["--to", "Kitchen"] + words, state: "sender", input: input)
        #expect(await tool.end() == status, "\(words): \(tool.error)")
        #expect(tool.error.contains(message), "\(words): \(tool.error)")
      }
      let full = try scene.start(
        "imagesend", ["--to", "Kitchen", "-"], state: "sender", input: text, variables: ["TMPDIR": "/nonexistent"])
      #expect(await full.end() == 6 && full.error.contains("no file can be made in /nonexistent"), "\(full.error)")
      let terminal = try scene.start("imagesend", ["--to", "Kitchen", "-"], state: "sender", onTerminal: true)
      #expect(await terminal.end() == 2 && terminal.error.contains("standard input is a terminal"), "\(terminal.error)")
    }
  }

  @Test("Ctrl-C ends it while nothing comes, and leaves no file")
  func interrupted() async throws {
    try await ToolScene.run { scene in
      let pipe = scene.folder.path + "/pipe"
      try #require(mkfifo(pipe, 0o600) == 0)
      // Held open, so that there is no end of input.
      let writer = open(pipe, O_RDWR | O_CLOEXEC)
      defer { close(writer) }
      let tool = try scene.start(
        "imagesend", ["--to", "Kitchen", "-"], state: "sender", input: pipe, variables: ["TMPDIR": scene.folder.path])
      #expect(await tool.shows("Reading standard input"), "\(tool.error)")
      tool.send(signal: SIGINT)
      #expect(await tool.end() == 130, "\(tool.error)")
      #expect(temporaries(scene.folder.path) == [])
    }
  }
}
