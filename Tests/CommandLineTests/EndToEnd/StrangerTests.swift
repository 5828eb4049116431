import Foundation
import Piconet
import TestSupport
import Testing

@testable import PiconetCommandLine

/// As in a script: no person can compare codes.
@Suite("Without a person at a terminal imagesend sends to known devices only")
struct StrangerTests {
  @Test("a stranger gets nothing by any of its names: 7 before it is dialled, with the ways to make it known")
  func stranger() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver(knownTo: [])
      let key = try #require(receiver.fingerprint)
      let ways: [([String], Bool)] = [
        (["--to", "Kitchen"], false), (["--to", String(key.prefix(12))], false), (["--to", key], false),
        (["--to", "all"], false), ([], false), (["--yes", "--to", "Kitchen"], true), (["--yes"], true), (["-q"], true),
      ]
      for (words, onTerminal) in ways {
        let sender = try scene.start(
          "imagesend", ["--json"] + words + [try scene.photo("a.jpg")], state: "sender", onTerminal: onTerminal)
        #expect(await sender.end() == 7, "\(words): \(sender.error)")
        let who = "imagesend: Kitchen: the device of this name in sight (\(key.prefix(12))) is not known here"
        let line = sender.unbrokenError.split(whereSeparator: \.isNewline).first { $0.hasPrefix(who) } ?? ""
        for way in ["--fingerprint F", "--code", "piconet trust add NAME F", "on a terminal"] {
          #expect(line.contains(way), "\(words): \(sender.error)")
        }
        #expect(line.count <= 3 * 80, "three lines of a terminal: \(line.count)")
        // What a device says of itself is no fingerprint for the user to give back to the program.
        #expect(!sender.error.contains(key.prefix(16)))
        #expect(!sender.error.contains(FirstContact.prompt) && !sender.error.contains("Sending to"))
        #expect(sender.events("connecting").isEmpty)
        #expect(sender.events("failed").compactMap { $0["reason"] as? String } == ["not-confirmed"])
      }
      #expect(receiver.events().count == 1, "it listens, and hears of nobody: \(receiver.output)")
      #expect(try await scene.trust(state: "sender") == "")
      #expect(try scene.received().isEmpty)
    }
  }

  @Test("after one contact by fingerprint, or with yes on a terminal, a script sends by name; after once it does not")
  func afterOneContact() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver(knownTo: [])
      let byHand = try scene.sender(
        "--to", "Kitchen", "--fingerprint", try #require(receiver.fingerprint), try scene.photo("0.jpg"), state: "given"
      )
      #expect(await byHand.end() == 0, "\(byHand.error)")
      for (state, answer) in [("yes", "y\n"), ("once", "o\n")] {
        let asked = try scene.start(
          "imagesend", ["--to", "Kitchen", try scene.photo("\(state).jpg")], state: state, onTerminal: true)
        #expect(await asked.shows(FirstContact.prompt), "\(asked.error)")
        asked.type(answer)
        #expect(await asked.end() == 0, "\(asked.error)")
      }
      for (state, code) in [("given", 0), ("yes", 0), ("once", 7)] as [(String, Int32)] {
        for whom in [["--to", "Kitchen"], []] {
          let script = try scene.start("imagesend", whom + [try scene.photo("0.jpg")], state: state)
          #expect(await script.end() == code, "\(state): \(script.error)")
        }
      }
    }
  }

  @Test("of several receivers the known ones get their files, the status is 7, and the remedy is printed once")
  func several() async throws {
    try await ToolScene.run { scene in
      _ = try await scene.receiver()
      for name in ["Attic", "Cellar"] {
        _ = try await scene.receiver(name: name, into: try scene.folder.folder(name), knownTo: [])
      }
      for (name, whom) in [("a.jpg", ["all"]), ("b.jpg", ["Kitchen", "Attic", "Cellar"])] {
        let words = ["--json"] + whom.flatMap { ["--to", $0] } + [try scene.photo(name)]
        var sender = try scene.start("imagesend", words, state: "sender")
        // On a busy machine, a sender that sees one long before the others takes that one for all.
        for _ in 1..<8 where await sender.end() != nil && sender.events("found").count < 3 {
          sender = try scene.start("imagesend", words, state: "sender")
        }
        #expect(await sender.end() == 7, "\(sender.error)")
        #expect(sender.error.contains("Attic: the device of this name") && sender.error.contains("Cellar: the device"))
        #expect(sender.error.components(separatedBy: "--fingerprint F").count == 2, "\(sender.error)")
        #expect(sender.events("failed").count == 2)
        #expect(sender.events("connecting").count == 1)
      }
      #expect(try scene.received() == ["a.jpg", "b.jpg"])
      for name in ["Attic", "Cellar"] { #expect(try scene.received(scene.folder.path + "/" + name).isEmpty) }
    }
  }

  @Test("a stranger beside a known device of its name does not get the photo, nor keep it from the known one")
  func namesake() async throws {
    try await ToolScene.run { scene in
      let other = try scene.folder.folder("other")
      _ = try await scene.receiver(state: "impostor", into: other, knownTo: [])
      _ = try await scene.receiver()
      let sender = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(try scene.received() == ["a.jpg"] && scene.received(other).isEmpty)
    }
  }

  @Test("imagesend says of a stranger with a name like a known device's that it is not that device")
  func lookalike() async throws {
    try await ToolScene.run { scene in
      try scene.introduce("mum", as: "Mum", to: "sender")
      let other = try await scene.receiver(name: "Мum", state: "other", knownTo: [])
      let key = try #require(other.fingerprint)
      let sender = try scene.sender("--to", "Мum", try scene.photo("a.jpg"))
      #expect(await sender.end() == 7, "\(sender.error)")
      #expect(sender.error.contains("in sight (\(key.prefix(12)), not the known 'Mum')"), "\(sender.error)")
      #expect(try scene.received().isEmpty)
    }
  }

  @Test("a stranger that has the name of a known device in other letters is not taken for it, however it is typed")
  func otherLetters() async throws {
    try await ToolScene.run { scene in
      try scene.introduce("mum", as: "Mum", to: "sender")
      let other = try await scene.receiver(name: "mum", state: "other", knownTo: [])
      let key = try #require(other.fingerprint)
      for name in ["mum", "MUM"] {
        let sender = try scene.sender("--to", name, "--timeout", "10", try scene.photo("a.jpg"))
        #expect(await sender.end() == 7, "\(sender.error)")
        let who = "the 'mum' in sight (\(key.prefix(12))) is not the device that is known as 'Mum'"
        #expect(sender.error.contains(who), "\(sender.error)")
        #expect(!sender.error.contains("did you mean"), "\(sender.error)")
      }
      #expect(try scene.received().isEmpty)
    }
  }

  @Test("with --yes imagesend shows no list to pick from, as without a terminal: several in sight end with 2")
  func noList() async throws {
    try await ToolScene.run { scene in
      for name in ["Attic", "Cellar"] { _ = try await scene.receiver(name: name) }
      // On a busy machine, a sender that sees one long before the other takes that one.
      for attempt in 1...8 {
        let sender = try scene.start(
          "imagesend", ["--yes", try scene.photo("a.jpg")], state: "sender", onTerminal: true)
        try #require(await !sender.shows("Enter sends"), "a list is shown")
        if await sender.end() == 0, attempt < 8 { continue }
        #expect(await sender.end() == 2, "\(sender.error)")
        #expect(sender.error.contains("choose with --to:"), "\(sender.error)")
        break
      }
    }
  }

  @Test("another program of this device needs no introduction")
  func ownKey() async throws {
    try await ToolScene.run { scene in
      _ = try await scene.receiver(state: "sender", knownTo: [])
      let sender = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(try scene.received() == ["a.jpg"])
    }
  }

  @Test("the handshake judges anew by the same rule; with a code every device gets that far, and has to prove it there")
  func handshake() throws {
    let key = String(repeating: "0f", count: 32)
    let given = try #require(PeerID(hexadecimal: key))
    for (words, policy) in [
      (["--yes"], .remembered), (["-q"], .remembered), (["--code=271828", "--yes"], .firstUse),
      (["--fingerprint", key, "--yes"], .pinned([given])),
    ] as [([String], TrustPolicy)] {
      let invocation = try OptionParser.parse(
        (words + ["a.jpg"]).map { Array($0.utf8) }, table: imagesendOptions, initial: ImageSendArguments(),
        posixlyCorrect: false)
      guard case .run(let arguments) = invocation else {
        Issue.record("\(words)")
        continue
      }
      var configuration = NodeConfiguration(sessionID: "photos", name: "Phone")
      let console = Console(program: "imagesend", json: false, verbosity: arguments.verbosity)
      FirstContact(arguments, .nobody, console).prepare(&configuration)
      #expect(configuration.trust == policy, "\(words)")
    }
  }
}
