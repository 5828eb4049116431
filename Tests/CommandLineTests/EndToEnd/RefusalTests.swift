import Foundation
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("imagesend and imagerecv refuse")
struct RefusalTests {
  @Test("imagesend that finds no such peer ends with 3 at the timeout, and lists the peers in sight")
  func noSuchPeer() async throws {
    try await ToolScene.run { scene in
      _ = try await scene.receiver()
      let sender = try scene.sender("--to", "Nowhere", "--timeout", "5", try scene.photo("a.jpg"))
      #expect(await sender.end() == 3)
      #expect(sender.error.contains("no peer called 'Nowhere' was found within 5 s; in sight:\n  Kitchen ("))
      #expect(sender.events("failed").first?["reason"] as? String == "no-such-peer")
    }
  }

  @Test("imagesend names peers of a similar name while it searches, and at the timeout")
  func nearlySo() async throws {
    try await ToolScene.run { scene in
      _ = try await scene.receiver(name: "Living room")
      let sender = try scene.sender("--to", "livng room", "--timeout", "5", try scene.photo("a.jpg"))
      #expect(await sender.shows("Looking for 'livng room'..."), "\(sender.error)")
      #expect(
        await sender.shows("'livng room' is not in sight yet; did you mean 'Living room'?"), "\(sender.error)")
      #expect(await sender.end() == 3)
      #expect(
        sender.error.contains("was found within 5 s (did you mean 'Living room'?); in sight:\n  Living room ("),
        "\(sender.error)")
    }
  }

  @Test("imagesend that sees no peer asks whether imagerecv runs there, and points to piconet doctor")
  func isItRunning() async throws {
    try await ToolScene.run { scene in
      let sender = try scene.sender("--to", "Kitchen", "--timeout", "10", try scene.photo("a.jpg"))
      #expect(await sender.shows("Nobody is in sight yet: is imagerecv running there"), "\(sender.error)")
      #expect(await sender.end() == 3)
      #expect(sender.error.contains("within 10 s; is imagerecv running there, on this network?"), "\(sender.error)")
      #expect(sender.error.contains("'piconet doctor'"))
    }
  }

  @Test("imagesend ends with 3 if it sees no peer, and if nothing listens at an address, which it names once")
  func nobody() async throws {
    try await ToolScene.run { scene in
      let sender = try scene.sender("--timeout", "0.5", try scene.photo("a.jpg"))
      #expect(await sender.end() == 3)
      let anybody = String(repeating: "0f", count: 32)
      let dialler = try scene.sender("--address", "127.0.0.1:1", "--fingerprint", anybody, try scene.photo("a.jpg"))
      #expect(await dialler.end() == 3, "\(dialler.error)")
      let reason = "tcp: nothing listens there (connect: Connection refused)"
      #expect(dialler.error.contains("127.0.0.1:1: unreachable: \(reason)\n"), "\(dialler.error)")
      let message = dialler.events("failed").first?["message"] as? String
      #expect(message == "unreachable: tcp: 127.0.0.1:1: nothing listens there (connect: Connection refused)")
    }
  }

  @Test("several in sight and no terminal to pick at is a usage error that lists them; so are two of one name")
  func ambiguous() async throws {
    try await ToolScene.run { scene in
      var keys: [String] = []
      for state in ["one", "two"] {
        let receiver = try await scene.receiver(
          state: state, into: try scene.folder.folder(state), knownTo: [])
        keys.append(try #require(receiver.fingerprint))
      }
      for arguments in [[], ["--to", "Kitchen"]] {
        // On a busy machine, a sender that sees one long before the other takes that one, which is a stranger.
        var sender = try scene.start("imagesend", arguments + [try scene.photo("a.jpg")], state: "sender")
        for _ in 1..<8 where await sender.end() == 7 {
          sender = try scene.start("imagesend", arguments + [try scene.photo("a.jpg")], state: "sender")
        }
        #expect(await sender.end() == 2)
        #expect(sender.error.components(separatedBy: "\n  Kitchen (").count == 3, "\(sender.error)")
        // Whatever they are called, a script would send them nothing.
        #expect(sender.error.contains("none of them is known here: give the fingerprint"), "\(sender.error)")
      }
      for (name, arguments) in [("b.jpg", ["--to", "Kitchen"]), ("c.jpg", [])] as [(String, [String])] {
        let words = arguments + ["--fingerprint", keys[1], try scene.photo(name)]
        var sender = try scene.start("imagesend", words, state: "given")
        for _ in 1..<8 where await sender.end() == 7 {
          sender = try scene.start("imagesend", words, state: "given")
        }
        #expect(await sender.end() == 0, "\(sender.error)")
      }
      #expect(try scene.received(scene.folder.path + "/two") == ["b.jpg", "c.jpg"])
      #expect(try scene.received(scene.folder.path + "/one").isEmpty)
    }
  }

  @Test("a wrong option ends with 2")
  func usage() async throws {
    try await ToolScene.run { scene in
      let sender = try scene.sender("--nonsense")
      #expect(await sender.end() == 2)
      let receiver = try scene.start("imagerecv", ["--count", "none"], state: "r")
      #expect(await receiver.end() == 2)
    }
  }

  @Test(
    "--accept known refuses an unknown sender with 4, also after --accept all, and takes it once a person has said so")
  func known() async throws {
    try await ToolScene.run { scene in
      let strict = try await scene.receiver(accept: "known")
      let refused = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
      #expect(await refused.end() == 4, "\(refused.error)")
      #expect(await strict.shows("\"declined\""))
      #expect(strict.events("declined").first?["reason"] as? String == "not-known")
      strict.send(signal: SIGTERM)
      #expect(await strict.end() == 143)
      let open = try await scene.receiver("--count", "1", accept: "all")
      let first = try scene.sender("--to", "Kitchen", try scene.photo("b.jpg"))
      #expect(await first.end() == 0, "\(first.error)")
      #expect(await open.end() == 0)
      #expect(try await scene.trust(state: "Kitchen") == "")
      // Without a terminal `known` is the default.
      let again = try await scene.receiver("--count", "1", accept: nil)
      #expect(await again.shows("only known peers that may push are accepted"))
      // A prompt that no person sees is no help.
      for way in ["--code", "piconet trust add NAME F", "piconet trust allow NAME push", "piconet trust identity"] {
        #expect(await again.shows(way), "\(way): \(again.error)")
      }
      #expect(!again.error.contains("answer 'yes'"))
      let key = try await scene.fingerprint("sender")
      try await scene.trust("add", "Phone", key, state: "Kitchen")
      // The sender is known, but may not push; the running receiver follows what `trust` changes.
      let mute = try scene.sender("--to", "Kitchen", try scene.photo("c.jpg"))
      #expect(await mute.end() == 4, "\(mute.error)")
      #expect(await again.shows("\"declined\""), "\(again.error)")
      #expect(again.events("declined").map { $0["reason"] as? String } == ["not-allowed"])
      try await scene.trust("allow", "Phone", "push", state: "Kitchen")
      let second = try scene.sender("--to", "Kitchen", try scene.photo("c.jpg"))
      #expect(await second.end() == 0, "\(second.error)")
      #expect(await again.end() == 0)
      #expect(try scene.received() == ["b.jpg", "c.jpg"])
    }
  }

  @Test("another key under a remembered name ends with 7 on either side, and says what to do")
  func keyChanged() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--count", "1", knownTo: [])
      let kitchen = try await scene.fingerprint("Kitchen")
      let sender = try scene.sender("--fingerprint", kitchen, try scene.photo("a.jpg"))
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(await receiver.end() == 0)
      let impostor = try await scene.receiver(state: "impostor", knownTo: [])
      let wary = try scene.sender("--to", "Kitchen", "--timeout", "10", try scene.photo("b.jpg"))
      #expect(await wary.end() == 7, "\(wary.error)")
      #expect(wary.error.contains("is not the device that was remembered under this name; if you are sure"))
      #expect(!wary.error.contains("\\n"), "for a person: \(wary.error)")
      #expect(wary.events("failed").first?["reason"] as? String == "identity")
      impostor.send(signal: SIGTERM)
      #expect(await impostor.end() == 143)
      // And the receiver knows the sender's name, with another key.
      let careful = try await scene.receiver(knownTo: ["stranger"])
      try await scene.trust("add", "Phone", try await scene.fingerprint("sender"), state: "Kitchen")
      let stranger = try scene.sender(
        "--name", "Phone", "--to", "Kitchen", try scene.photo("b.jpg"), state: "stranger")
      #expect(await stranger.end() == 7, "\(stranger.error)")
      #expect(!stranger.error.contains("known-peers"))
      #expect(await careful.shows("was turned away: "), "\(careful.error)")
      #expect(
        careful.error.contains(
          "If you are sure that all is well, forget the old key: piconet trust forget "))
      careful.send(signal: SIGTERM)
      #expect(await careful.end() == 143)
      #expect(careful.events("failed").isEmpty, "it is no failure of the receiver")
      let declined = try #require(careful.events("declined").first)
      #expect(declined["reason"] as? String == "identity")
      #expect((declined["message"] as? String)?.contains("is not the device that was remembered") == true)
      #expect(try scene.received() == ["a.jpg"])
    }
  }

  @Test("a damaged line of the known peers is reported once, with its place, and stays as it is; the others count")
  func damagedKnownPeers() async throws {
    try await ToolScene.run { scene in
      try await scene.trust("add", "Phone", try await scene.fingerprint("sender"), state: "Kitchen")
      try await scene.trust("allow", "Phone", "push", state: "Kitchen")
      let path = scene.knownPeers("Kitchen")
      let known = try String(contentsOfFile: path, encoding: .utf8)
      try Data(("half a line\n" + known).utf8).write(to: URL(filePath: path))
      let again = try await scene.receiver("--count", "2", accept: "known")
      for name in ["b.jpg", "c.jpg"] {
        let sender = try scene.sender("--to", "Kitchen", try scene.photo(name))
        #expect(await sender.end() == 0, "\(sender.error)")
        #expect(sender.events("warning").isEmpty)
      }
      #expect(await again.end() == 0)
      #expect(
        again.error.components(separatedBy: "imagerecv: warning: \(path):1: damaged line, passed over: ").count == 2)
      let warning = try #require(again.events("warning").first)
      #expect(again.events("warning").count == 1)
      #expect(warning["path"] as? String == path && warning["line"] as? Int == 1)
      #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix("half a line\n"))
    }
  }

  @Test("a table that was cut ends every program with 6, names the file, and lets no blocked device in")
  func cutKnownPeers() async throws {
    try await ToolScene.run { scene in
      let sender = try await scene.fingerprint("sender")
      try await scene.trust("add", "Other", String(repeating: "ab", count: 32), state: "Kitchen")
      try await scene.trust("block", sender, state: "Kitchen")
      let path = scene.knownPeers("Kitchen")
      let text = try String(contentsOfFile: path, encoding: .utf8)
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      for kept in [0, 1, 3, 4] {
        try Data(lines[..<kept].map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: path))
        #expect(chmod(path, 0o600) == 0)
        for arguments in [["--directory", scene.into, "--accept", "all"]] {
          let receiver = try scene.start("imagerecv", arguments, state: "Kitchen")
          #expect(await receiver.end() == 6, "\(kept): \(receiver.error)")
          #expect(receiver.unbrokenError.contains("\(path): a part is missing: "), "\(receiver.error)")
          #expect(receiver.unbrokenError.contains("put back the former file, '\(path).former'"), "\(receiver.error)")
        }
      }
      try Data(text.utf8).write(to: URL(filePath: path))
      #expect(try await scene.trust(state: "Kitchen").contains("  blocked  "))
    }
  }

  @Test("a file that is no image needs --any on both sides")
  func notAnImage() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver()
      try scene.folder.write("notes.txt", Array("hello".utf8))
      let notes = scene.folder.path + "/notes.txt"
      let careful = try scene.sender("--to", "Kitchen", notes, try scene.photo("a.jpg"))
      #expect(await careful.end() == 6)
      #expect(careful.events("stored").count == 1)
      #expect(careful.events("failed").first?["reason"] as? String == "not-an-image")
      #expect(careful.error.contains("1 stored, 1 failed (not offered); "), "\(careful.error)")
      let bold = try scene.sender("--to", "Kitchen", "--any", notes, try scene.photo("b.jpg"))
      #expect(await bold.end() == 4, "\(bold.error)")
      #expect(bold.events("stored").count == 1)
      #expect(bold.events("failed").first?["reason"] as? String == "not-wanted")
      #expect(bold.error.contains("1 stored, 1 failed; "), "\(bold.error)")
      #expect(await receiver.shows("\"failed\""), "\(receiver.error)")
      receiver.send(signal: SIGTERM)
      #expect(await receiver.end() == 143)
      #expect(receiver.events("failed").first?["reason"] as? String == "not-wanted")
      #expect(receiver.events("failed").first?["exitCode"] as? Int == 4)
      #expect(try scene.received() == ["a.jpg", "b.jpg"])
    }
  }

  @Test("a file above --max-size is refused with 4 and the others arrive")
  func tooLarge() async throws {
    try await ToolScene.run { scene in
      _ = try await scene.receiver("--max-size", "50k")
      let sender = try scene.sender(
        "--to", "Kitchen", try scene.photo("large.jpg"), try scene.photo("small.jpg", size: 10_000))
      #expect(await sender.end() == 4, "\(sender.error)")
      #expect(sender.events("failed").first?["reason"] as? String == "too-large")
      #expect(try scene.received() == ["small.jpg"])
    }
  }

  @Test("a directory that is missing or not writable ends imagerecv with 6 at once")
  func directory() async throws {
    try await ToolScene.run { scene in
      let missing = try scene.start("imagerecv", ["--directory", "\(scene.folder.path)/none"], state: "r")
      #expect(await missing.end() == 6)
      #expect(missing.error.components(separatedBy: "/none").count == 2, "\(missing.error)")
      #expect(missing.error.contains("/none: there is no such directory; imagerecv does not create it, mkdir does"))
      let file = try scene.start("imagerecv", ["--directory", try scene.photo("a.jpg")], state: "r")
      #expect(await file.end() == 6)
      if geteuid() != 0 {
        chmod(scene.into, 0o500)
        let locked = try scene.start("imagerecv", ["--directory", scene.into], state: "r")
        #expect(await locked.end() == 6)
      }
    }
  }
}
