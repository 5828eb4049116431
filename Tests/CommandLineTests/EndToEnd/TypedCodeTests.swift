import Foundation
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("A typed code lets a sender in where no person can be asked")
struct TypedCodeTests {
  /// The code that a receiver shows.
  private func code(of receiver: ToolProcess) async throws -> String {
    try #require(await receiver.shows("\"code-set\""))
    return try #require(receiver.events("code-set").first?["code"] as? String)
  }

  /// Another code of as many digits.
  private func other(than code: String, _ number: Int = 1) -> String {
    let value = ((Int(code) ?? 0) + number) % 1_000_000
    return String(String(1_000_000 + value).dropFirst())
  }

  @Test("with the code that the receiver shows a photo arrives; without one, and with a wrong one, nothing does")
  func shown() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--code", "--count", "1", accept: nil)
      let code = try await code(of: receiver)
      #expect(code.count == 6)
      #expect(await receiver.shows("Type it on the other device"))
      let photo = try scene.photo("a.jpg")

      let without = try scene.sender("--to", "Kitchen", photo)
      #expect(await without.end() == ExitCode.refused.rawValue, "\(without.error)")
      #expect(without.events("failed").first?["reason"] as? String == "code-needed")

      let wrong = try scene.sender("--to", "Kitchen", "--code", other(than: code), photo, state: "stranger")
      #expect(await wrong.end() == ExitCode.identity.rawValue, "\(wrong.error)")
      #expect(wrong.events("failed").first?["reason"] as? String == "wrong-code")
      #expect(await receiver.shows("\"code-failed\""))
      let failed = receiver.events("code-failed").first
      #expect(failed?["left"] as? Int == 2 && failed?["reason"] as? String == "wrong-code")
      #expect(try scene.received().isEmpty)

      let right = try scene.sender("--to", "Kitchen", "--code=\(code)", photo, state: "newcomer")
      #expect(await right.end() == 0, "\(right.error)")
      #expect(await receiver.end() == 0, "\(receiver.error)")
      #expect(try scene.received() == ["a.jpg"])
      // The code is only on the receiver's own screen.
      #expect(!right.output.contains(code) && !right.error.contains(code))
    }
  }

  @Test("the right code typed in the pause after a wrong one works: imagesend waits, and says so")
  func pause() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--code=271828", "--count", "1", accept: nil)
      let photo = try scene.photo("a.jpg")
      // The second pause lasts four seconds, so even a slow machine sends the right code before its end.
      for left in [2, 1] {
        let wrong = try scene.sender("--to", "Kitchen", "--code=000000", photo)
        #expect(await wrong.end() == ExitCode.identity.rawValue, "\(wrong.error)")
        #expect(wrong.error.contains("is not the other device's code"), "\(wrong.error)")
        #expect(await receiver.shows("\"left\":\(left)"), "\(receiver.error)")
      }
      let right = try scene.sender("--to", "Kitchen", "--code=271828", photo)
      #expect(await right.end() == 0, "\(right.error)")
      #expect(right.error.contains("Kitchen takes no code for "), "\(right.error)")
      #expect(right.events("connecting").count == 1 && right.events("connected").count == 1, "\(right.events())")
      #expect(await receiver.end() == 0, "\(receiver.error)")
      #expect(receiver.events("code-failed").count == 2 && receiver.events("stored").count == 1)
    }
  }

  @Test("three wrong tries end a code that was given, and the receiver with it")
  func over() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--code=31415926", accept: nil)
      let photo = try scene.photo("a.jpg")
      var tries = 0
      while tries < 3 {
        let sender = try scene.sender("--to", "Kitchen", "--code=000000", photo, state: "stranger \(tries)")
        #expect(await sender.end() == ExitCode.identity.rawValue, "\(sender.error)")
        // After each try, the receiver takes no code from there for a while.
        if sender.error.contains("it is not the other device's code") { tries += 1 }
      }
      #expect(await receiver.end() == ExitCode.identity.rawValue, "\(receiver.error)")
      #expect(receiver.events("code-failed").compactMap { $0["left"] as? Int } == [2, 1, 0])
      #expect(receiver.error.contains("the code is over after three wrong tries"))
      #expect(try scene.received().isEmpty)
    }
  }

  @Test("three wrong tries end a generated code, and its person is told how to end the pause for the sender")
  func madeAndOver() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--code", accept: nil)
      let code = try #require(receiver.events("code-set").first?["code"] as? String)
      let photo = try scene.photo("a.jpg")
      var tries = 0
      var state = ""
      while tries < 3 {
        state = "stranger \(tries)"
        let sender = try scene.sender("--to", "Kitchen", "--code", other(than: code), photo, state: state)
        #expect(await sender.end() == ExitCode.identity.rawValue, "\(sender.error)")
        if sender.error.contains("it is not the other device's code") { tries += 1 }
      }
      #expect(await receiver.shows("the code is over after three wrong tries; "), "\(receiver.error)")
      let key = try await scene.fingerprint(state)
      #expect(receiver.error.contains("'piconet trust forgive \(key.prefix(12))' ends the pause"), "\(receiver.error)")
    }
  }

  @Test("a code is refused if the receiver has set none: 4")
  func noneSet() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver(knownTo: [])
      let sender = try scene.sender("--to", "Kitchen", "--code=271828", try scene.photo("a.jpg"))
      #expect(await sender.end() == ExitCode.refused.rawValue, "\(sender.error)")
      #expect(sender.error.contains("no code is set there (leave --code away"), "\(sender.error)")
      #expect(sender.events("failed").first?["reason"] as? String == "not-available")
      #expect(receiver.events("stored").isEmpty)
    }
  }

  @Test("both sides read the code from a file, and say when the file has no code")
  func files() async throws {
    try await ToolScene.run { scene in
      try scene.folder.write("code", Array("271 828\n".utf8))
      try scene.folder.write("none", Array("a secret\n".utf8))
      let receiver = try await scene.receiver(
        "--code-file", scene.folder.path + "/code", "--count", "1", accept: nil, knownTo: [])
      let photo = try scene.photo("a.jpg")
      let none = try scene.sender("--to", "Kitchen", "--code-file", scene.folder.path + "/none", photo)
      #expect(await none.end() == ExitCode.usage.rawValue)
      #expect(none.error.contains("no code of 6 to 16 digits"))
      let missing = try scene.sender("--to", "Kitchen", "--code-file", scene.folder.path + "/missing", photo)
      #expect(await missing.end() == ExitCode.localFile.rawValue, "\(missing.error)")
      let listening = try scene.start("imagerecv", ["--code-file", scene.folder.path + "/missing"], state: "b")
      #expect(await listening.end() == ExitCode.localFile.rawValue, "\(listening.error)")
      let sender = try scene.sender("--to", "Kitchen", "--code-file", scene.folder.path + "/code", photo)
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(await receiver.end() == 0, "\(receiver.error)")
      #expect(receiver.events("code-set").isEmpty && !receiver.error.contains("271"))
    }
  }

  @Test("a code lets a script send to an address, and both sides know each other from then on")
  func remembered() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--code=271828", accept: nil, knownTo: [])
      let address = try #require((receiver.events("listening").first?["addresses"] as? [String])?.first)
      let first = try scene.sender("--address", address, "--code=271828", "--name", "Phone", try scene.photo("a.jpg"))
      #expect(await first.end() == 0, "\(first.error)")
      try #require(await receiver.shows("Remembered as 'Phone'"), "\(receiver.error)")
      let ours = try await scene.trust(state: "sender")
      #expect(ours.hasPrefix("Kitchen  code  send:images  since ") && ours.contains("  at \(address)  "), "\(ours)")
      let theirs = try await scene.trust(state: "Kitchen")
      #expect(theirs.hasPrefix("Phone  code  push:images send:images  since "), "\(theirs)")
      // Without the code, while it is still set: the keys are enough.
      for (whom, photo) in [("--address=\(address)", "b.jpg"), ("--to=Kitchen", "c.jpg")] {
        let again = try scene.sender(whom, "--name", "Phone", try scene.photo(photo))
        #expect(await again.end() == 0, "\(again.error)")
      }
      #expect(try scene.received() == ["a.jpg", "b.jpg", "c.jpg"])
    }
  }

  @Test("a blocked key is refused with the right code, and a code changes nothing about which key has to answer")
  func blocked() async throws {
    try await ToolScene.run { scene in
      try await scene.trust("add", "Thief", try await scene.fingerprint("thief"), state: "Kitchen")
      try await scene.trust("block", "Thief", state: "Kitchen")
      let receiver = try await scene.receiver("--code=271828", accept: nil, knownTo: [])
      let photo = try scene.photo("a.jpg")
      let blocked = try scene.sender("--to", "Kitchen", "--code=271828", photo, state: "thief")
      #expect(await blocked.end() == ExitCode.identity.rawValue, "\(blocked.error)")
      #expect(await receiver.shows("this device is blocked"), "\(receiver.error)")
      let address = try #require((receiver.events("listening").first?["addresses"] as? [String])?.first)
      let other = try scene.sender(
        "--address", address, "--code=271828", "--fingerprint", String(repeating: "0f", count: 32), photo)
      #expect(await other.end() == ExitCode.identity.rawValue, "\(other.error)")
      let key = try await scene.fingerprint("Kitchen")
      let wrong = try scene.sender("--address", address, "--code=271829", "--fingerprint", key, photo)
      #expect(await wrong.end() == ExitCode.identity.rawValue, "\(wrong.error)")
      #expect(wrong.events("failed").first?["reason"] as? String == "wrong-code")
      #expect(try await scene.trust(state: "sender") == "")
      #expect(await receiver.shows("\"code-failed\""), "\(receiver.error)")
      #expect(receiver.events("code-failed").compactMap { $0["left"] as? Int } == [2])
      #expect(try scene.received().isEmpty)
    }
  }

  @Test("a code beside what it can't go with is a usage error")
  func usage() async throws {
    try await ToolScene.run { scene in
      let photo = try scene.photo("a.jpg")
      for (words, why) in [
        (["imagesend", "--code=271828", "--to", "all", photo], "--code is the code of one device"),
        (["imagesend", "--code=271828", "--to", "a", "--to", "b", photo], "--code is the code of one device"),
        (
          ["imagesend", "--to", "a", "--to", "b", "--address=[::1]:4000", photo], "--address is where one device is"
        ),
        (["imagesend", "--to", "all", "--address=[::1]:4000", photo], "--address is where one device is"),
        (
          [
            "imagesend", "--to", String(repeating: "a", count: 64), "--fingerprint", String(repeating: "b", count: 64),
            photo,
          ],
          "--to and --fingerprint name two different keys"
        ),
        (["imagerecv", "--visible=0"], "expected 'all', 'known' or a TIME greater than 0 with its unit, such as 90s"),
        (["imagesend", "--code", "--yes", photo], "with --yes nobody is asked for the code"),
        (["imagerecv", "--code", "--accept=all"], "--accept all everybody"),
        (["imagerecv", "--code", "--visible=known"], "--visible known hides from them"),
      ] as [([String], String)] {
        let tool = try scene.start(words[0], Array(words.dropFirst()), state: "sender")
        #expect(await tool.end() == ExitCode.usage.rawValue, "\(words)")
        #expect(tool.error.contains(why), "\(words): \(tool.error)")
      }
    }
  }

  @Test("imagesend asks for no code without a terminal")
  func nobodyToAsk() async throws {
    try await ToolScene.run { scene in
      let sender = try scene.sender("--to", "Kitchen", "--code", try scene.photo("a.jpg"))
      #expect(await sender.end() == ExitCode.usage.rawValue)
      #expect(sender.error.contains("there is no terminal to ask for the code on"))
    }
  }

  @Test("on a terminal the code is asked for until it is one")
  func asked() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--code=271828", "--count", "1", accept: nil, knownTo: [])
      let sender = try scene.start(
        "imagesend", ["--to", "Kitchen", "--code", try scene.photo("a.jpg")], state: "sender", onTerminal: true)
      try #require(await sender.shows("Code of the other device:"))
      sender.type("27182\n")
      try #require(await sender.shows("A code is 6 to 16 digits"))
      sender.type("271 828\n")
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(!sender.error.contains(FirstContact.prompt), "the code is the answer")
      #expect(await receiver.end() == 0, "\(receiver.error)")
    }
  }
}
