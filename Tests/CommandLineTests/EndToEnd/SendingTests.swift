import Foundation
import Glibc
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("imagesend sends to imagerecv")
struct SendingTests {
  @Test("the sample photos are found by name and arrive byte for byte, with the digests that both sides tell")
  func byName() async throws {
    try await ToolScene.run { scene in
      let photos = try ToolScene.photos
      let receiver = try await scene.receiver("--count", "\(photos.count)")
      let sender = try scene.sender("--to", "Kitchen", ToolScene.samples)
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(await receiver.end() == 0, "\(receiver.error)")
      #expect(try scene.received() == ["samples"])
      #expect(try scene.received(scene.into + "/samples") == photos.map { URL(filePath: $0).lastPathComponent })
      for photo in photos {
        #expect(try scene.isSame(photo, scene.into + "/samples/" + URL(filePath: photo).lastPathComponent))
      }
      let sums = [sender, receiver].map { Set($0.events("stored").compactMap { $0["sha256"] as? String }) }
      #expect(sums[0].count == photos.count && sums[0] == sums[1])
      let kinds = sender.events().compactMap { $0["event"] as? String }
      #expect(Array(kinds.prefix(3)) == ["found", "connecting", "connected"])
      #expect(kinds.last == "finished")
      let codes = [sender, receiver].map { $0.events("connected").first?["code"] as? String }
      // Neither program asked a person.
      #expect(codes == [nil, nil] && sender.events("code").isEmpty)
      let own = receiver.events("listening").first?["peer"] as? String
      #expect(sender.events("connected").first?["fingerprint"] as? String == own)
    }
  }

  @Test("a receiver that Ctrl-C ends ends with 130, whether it waited for a number of files or not")
  func endedEarly() async throws {
    try await ToolScene.run { scene in
      let counting = try await scene.receiver("--count", "2")
      let other = try await scene.receiver(name: "Hall", into: try scene.folder.folder("hall"))
      for name in ["Kitchen", "Hall"] {
        let sender = try scene.sender("--to", name, try scene.photo("a.jpg"))
        #expect(await sender.end() == 0, "\(sender.error)")
      }
      for receiver in [counting, other] { #expect(await receiver.shows("\"stored\""), "\(receiver.error)") }
      counting.send(signal: SIGINT)
      #expect(await counting.end() == 130, "\(counting.error)")
      #expect(counting.endSignal == SIGINT, "a shell's loop is to end too")
      #expect(counting.events("finished").first?["exitCode"] as? Int == 130)
      other.send(signal: SIGINT)
      #expect(await other.end() == 130, "\(other.error)")
      #expect(other.endSignal == SIGINT)
      #expect(other.events("finished").first?["exitCode"] as? Int == 130)
      #expect(other.events("finished").first?["stored"] as? Int == 1)
    }
  }

  @Test("--to means a name in other letters too")
  func otherLetters() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--count", "1", name: "Living room")
      let sender = try scene.sender("--to", "living ROOM", try scene.photo("a.jpg"))
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(await receiver.end() == 0)
      #expect(try scene.received() == ["a.jpg"])
    }
  }

  @Test("imagesend names two peers that differ only in letter case, and does not guess; the exact name means one")
  func twoOfOtherLetters() async throws {
    try await ToolScene.run { scene in
      for name in ["Hall", "HALL"] {
        _ = try await scene.receiver(name: name, into: try scene.folder.folder(name), knownTo: [])
      }
      // On a busy machine, a sender that sees one long before the other takes that one, which is a stranger.
      var sender = try scene.sender("--to", "hall", try scene.photo("a.jpg"))
      for _ in 1..<8 where await sender.end() == 7 {
        sender = try scene.sender("--to", "hall", try scene.photo("a.jpg"))
      }
      #expect(await sender.end() == 2, "\(sender.error)")
      #expect(sender.error.contains("several peers are meant by 'hall'"), "\(sender.error)")
      let exact = try scene.sender("--to", "HALL", try scene.photo("b.jpg"))
      #expect(await exact.end() == 7, "a stranger gets nothing from a script")
      #expect(!exact.error.contains("several peers"), "\(exact.error)")
    }
  }

  @Test("without --to the only peer in sight is used, after saying so")
  func only() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--count", "1")
      let sender = try scene.sender(try scene.photo("a.jpg"))
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(sender.error.contains("The only peer in sight is Kitchen ("))
      #expect(await receiver.end() == 0)
    }
  }

  @Test("a photo whose name is not UTF-8, as of old disks, arrives under a repaired one, and goes on where it was")
  func nameOfBytes() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver()
      let album = try scene.folder.folder("album")
      // "Gemälde.jpg" in Latin-1.
      let name = Array(album.utf8) + Array("/Gem".utf8) + [0xE4] + Array("lde.jpg".utf8) + [0]
      let photo = try scene.photo("a.jpg")
      let result = name.withUnsafeBufferPointer { bytes in
        bytes.withMemoryRebound(to: CChar.self) { rename(photo, $0.baseAddress) }
      }
      try #require(result == 0)
      for event in ["stored", "present"] {
        let sender = try scene.sender("--to", "Kitchen", album)
        #expect(await sender.end() == 0, "\(sender.error)")
        #expect(sender.events(event).count == 1, "\(sender.output)")
      }
      #expect(try scene.received(scene.into + "/album") == ["Gem\u{FFFD}lde.jpg"])
      receiver.send(signal: SIGTERM)
      #expect(await receiver.end() == 143)
    }
  }

  @Test("imagesend offers a photo whose name no receiver stores under a repaired name, and says so")
  func repairedName() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--count", "2")
      let unseen = try scene.photo("a\u{200F}\u{200B}.jpg")
      let launcher = try scene.photo("b.desktop")
      let sender = try scene.sender("--to", "Kitchen", unseen, launcher)
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(await receiver.end() == 0, "\(receiver.error)")
      #expect(try scene.received() == ["a.jpg", "b_desktop"])
      #expect(
        sender.error.contains(
          "offered as 'a.jpg', since the name contains characters that change the direction of writing"))
      #expect(sender.error.contains("offered as 'b_desktop', since the name is that of a shortcut"))
    }
  }

  @Test("an address is dialled without searching, and the beginning of a fingerprint names a peer")
  func addressAndFingerprint() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver(knownTo: [])
      let listening = try #require(receiver.events("listening").first)
      let address = try #require((listening["addresses"] as? [String])?.first)
      let peer = try #require(listening["peer"] as? String)
      let first = try scene.sender("--address", address, "--fingerprint", peer, try scene.photo("a.jpg"))
      #expect(await first.end() == 0, "\(first.error)")
      #expect(first.events("found").isEmpty)
      let second = try scene.sender("--to", String(peer.prefix(12)), try scene.photo("b.jpg"))
      #expect(await second.end() == 0, "\(second.error)")
      #expect(try scene.received() == ["a.jpg", "b.jpg"])
    }
  }

  @Test("plain output: the sender names each file, the receiver prints the path of each, nothing of a progress bar")
  func plain() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--count", "1", json: false)
      let sender = try scene.start("imagesend", ["--to", "Kitchen", try scene.photo("a.jpg")], state: "sender")
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(sender.output == "\(scene.folder.path)/a.jpg: stored on Kitchen, 100 kB\n")
      #expect(!sender.error.contains("\u{1B}") && !sender.error.contains("%"))
      #expect(await receiver.end() == 0)
      #expect(receiver.output == "\(scene.into)/a.jpg\n")
    }
  }

  @Test("two senders at once, several files each, all arrive")
  func twoSenders() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--count", "12")
      let files = try (0..<12).map { try scene.photo("\($0).jpg", size: 300_000) }
      let senders = try [0, 6].map { start in
        try scene.start(
          "imagesend", ["--json", "--to", "Kitchen"] + files[start..<start + 6], state: "sender")
      }
      for sender in senders { #expect(await sender.end() == 0, "\(sender.error)") }
      #expect(await receiver.end() == 0, "\(receiver.error)")
      for file in files { #expect(try scene.isSame(file, scene.into + "/" + URL(filePath: file).lastPathComponent)) }
    }
  }

  @Test("--to all reaches two receivers, and each file has an outcome for each")
  func all() async throws {
    try await ToolScene.run { scene in
      let other = scene.folder.path + "/other"
      try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
      _ = try await scene.receiver()
      _ = try await scene.receiver(name: "Hall", into: other)
      // On a busy machine, a sender that sees one long before the other takes that one for all; then another sender has
      // its turn, with other photos.
      for attempt in 1...8 {
        let names = ["a\(attempt).jpg", "b\(attempt).jpg"]
        let photos = try names.map { try scene.photo($0) }
        let sender = try scene.start("imagesend", ["--json", "--to", "all"] + photos, state: "sender")
        #expect(await sender.end() == 0, "\(sender.error)")
        if sender.events("found").count < 2, attempt < 8 { continue }
        #expect(sender.events("stored").count == 4, "\(sender.output)")
        for folder in [scene.into, other] {
          #expect(try scene.received(folder).filter { names.contains($0) } == names)
        }
        break
      }
    }
  }

  @Test("one receiver of two gone: the other gets its files, the worst code counts")
  func partly() async throws {
    try await ToolScene.run { scene in
      _ = try await scene.receiver()
      let sender = try scene.sender(
        "--to", "Kitchen", "--to", "Nowhere", "--timeout", "10", try scene.photo("a.jpg"))
      #expect(await sender.end() == 3, "\(sender.error)")
      #expect(sender.events("stored").count == 1)
      #expect(sender.events("failed").count == 1)
      #expect(try scene.received() == ["a.jpg"])
    }
  }

  @Test("--count ends the receiver after so many files, and tells a sender that has more")
  func count() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--count", "2")
      let files = try (0..<6).map { try scene.photo("\($0).jpg") }
      let sender = try scene.start("imagesend", ["--json", "--to", "Kitchen"] + files, state: "sender")
      #expect([4, 5].contains(await sender.end()), "\(sender.error)")
      #expect(await receiver.end() == 0, "\(receiver.error)")
      #expect(try scene.received().count == 2)
      #expect(sender.events("stored").count == 2)
      #expect(sender.events("failed").count == 4)
    }
  }

  @Test("a name that is taken: rename numbers, skip keeps, overwrite replaces")
  func conflicts() async throws {
    try await ToolScene.run { scene in
      let file = try scene.photo("a.jpg")
      let old = Data("old".utf8)
      for (policy, names, kept) in [
        ("rename", ["a (2).jpg", "a.jpg"], true), ("skip", ["a.jpg"], true), ("overwrite", ["a.jpg"], false),
      ] {
        let into = "\(scene.folder.path)/\(policy)"
        try FileManager.default.createDirectory(atPath: into, withIntermediateDirectories: true)
        try old.write(to: URL(filePath: into + "/a.jpg"))
        let receiver = try await scene.receiver("--on-conflict", policy, name: policy, into: into)
        let sender = try scene.sender("--to", policy, file)
        let code: Int32 = policy == "skip" ? 6 : 0
        #expect(await sender.end() == code, "\(sender.error)")
        let outcome = policy == "skip" ? "skipped" : "stored"
        #expect(await receiver.shows("\"\(outcome)\""), "\(receiver.error)")
        receiver.send(signal: SIGTERM)
        #expect(await receiver.end() == 143, "\(receiver.error)")
        #expect(try scene.received(into) == names)
        #expect(try (Data(contentsOf: URL(filePath: into + "/a.jpg")) == old) == kept)
        #expect(sender.events(outcome).count == 1 && receiver.events(outcome).count == 1)
      }
    }
  }

  @Test("an empty file goes with --any on both sides")
  func empty() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--any", "--count", "1")
      let sender = try scene.sender("--to", "Kitchen", "--any", try scene.photo("empty", size: 0))
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(await receiver.end() == 0)
      #expect(try scene.received() == ["empty"])
    }
  }
}
