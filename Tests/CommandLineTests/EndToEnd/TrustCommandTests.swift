import Foundation
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("piconet trust")
struct TrustCommandTests {
  private let key = String(repeating: "ab", count: 32)
  private let other = String(repeating: "cd", count: 32)

  @Test("adds, lists, renames, confirms, allows, denies, blocks and forgets, also for programs")
  func walk() async throws {
    try await ToolScene.run { scene in
      #expect(try await scene.trust(state: "a") == "")
      let added = try await scene.trust("add", "Mum's phone", key, state: "a")
      #expect(added.hasPrefix("Mum's phone  fingerprint  send:images  since 20") && added.hasSuffix("  \(key)\n"))
      #expect(try await scene.trust("rename", "Mum's phone", "Mum", state: "a").hasPrefix("Mum  "))
      #expect(try await scene.trust("confirm", "Mum", key.uppercased(), state: "a").contains("  fingerprint  "))
      #expect(
        try await scene.trust("allow", "abababababab", "push", "push:cat", state: "a")
          .contains("  push:cat push:images send:images  "))
      #expect(try await scene.trust("deny", "Mum", "send", "push:cat", state: "a").contains("  push:images  "))
      #expect(try await scene.trust("block", other, state: "a").hasPrefix("cdcdcdcdcdcd  first-use  blocked  "))
      let events = try await scene.trust("--json", state: "a").split(separator: "\n").map {
        try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
      }
      #expect(events.map { $0["peer"] as? String } == [key, other])
      #expect(events.map { $0["name"] as? String } == ["Mum", "cdcdcdcdcdcd"])
      #expect(events.map { $0["rights"] as? [String] } == [["push:images"], ["blocked"]])
      #expect(events.first?["confirmed"] as? String == "fingerprint" && events.first?["since"] is Int)
      try await scene.trust("forget", other, state: "a")
      try await scene.trust("forget", "Mum", state: "a")
      #expect(try await scene.trust("list", state: "a") == "")
    }
  }

  @Test("names are taken as --to takes them: letter case counts only where two differ by nothing else")
  func letterCase() async throws {
    try await ToolScene.run { scene in
      try await scene.trust("add", "Mum's Phone", key, state: "a")
      try await scene.trust("add", "Kitchen", other, state: "a")
      #expect(try await scene.trust("allow", "mum’s phone", "push", state: "a").hasPrefix("Mum's Phone  "))
      #expect(try await scene.trust("block", "KITCHEN", state: "a").contains("  blocked  "))
      #expect(try await scene.trust("unblock", "Kitchen (\(other.prefix(12)))", state: "a").hasPrefix("Kitchen  "))
      #expect(try await scene.trust("names", state: "a") == "Mum's Phone\nKitchen\n")
      try await scene.trust("forget", "kitchen", state: "a")
      #expect(try await scene.trust("names", state: "a") == "Mum's Phone\n")
      let wrong = try scene.start("piconet", ["trust", "forgive", "Nobody"], state: "a")
      #expect(await wrong.end() == 3, "\(wrong.error)")
      for words in [["forgive"], ["forgive", "mum's phone"], ["forgive", "Stranger (9f86d081884c)"]] {
        let trust = try scene.start("piconet", ["trust"] + words, state: "a")
        #expect(await trust.end() == 0, "\(trust.error)")
      }
      let lines = try String(contentsOfFile: "\(scene.folder.path)/state-a/piconet/forgiven", encoding: .utf8)
        .split(separator: "\n").map { $0.split(separator: "\t").last.map(String.init) }
      #expect(lines == ["piconet-forgiven 1", "*", key, "9f86d081884c"])
    }
  }

  @Test("forty that add a device at once all succeed, also where none was known before")
  func forty() async throws {
    try await ToolScene.run { scene in
      let adding = try (100..<140).map { number in
        let digits = String(number)
        let key = String(repeating: "0", count: 61) + digits
        return try scene.start("piconet", ["trust", "add", "Device \(digits)", key], state: "a")
      }
      for trust in adding { #expect(await trust.end() == 0, "\(trust.error)") }
      #expect(try await scene.trust("names", state: "a").split(separator: "\n").count == 40)
    }
  }

  @Test("programs that write at once lose nothing of one another")
  func atOnce() async throws {
    try await ToolScene.run { scene in
      try await scene.trust("add", "First", key, state: "a")
      let digits = (0..<6).map { String(repeating: "e\($0)", count: 32) }
      let adding = try digits.map { try scene.start("piconet", ["trust", "add", "Device \($0)", $0], state: "a") }
      for trust in adding { #expect(await trust.end() == 0, "\(trust.error)") }
      let lines = try await scene.trust(state: "a").split(separator: "\n")
      #expect(Set(lines.compactMap { $0.split(separator: " ").last.map(String.init) }) == Set(digits + [key]))
      #expect(lines.count == 7)
    }
  }

  @Test("an unknown device, a wrong fingerprint and wrong words end with 3, 7 and 2, and change nothing")
  func mistakes() async throws {
    try await ToolScene.run { scene in
      try await scene.trust("add", "Mum", key, state: "a")
      try await scene.trust("add", "Dad", other, state: "a")
      let own = try await scene.fingerprint("a")
      let third = String(repeating: "ef", count: 32)
      let before = try await scene.trust(state: "a")
      for (words, code) in [
        (["rename", "Anna", "Ben"], 3), (["forget", "ababababab"], 3), (["confirm", "Mum", other], 7),
        (["add", "Mum", "abab"], 2), (["rename", "Mum", "dad"], 2), (["allow", "Mum", "fly"], 2),
        (["allow", "Mum"], 2),
        (["add", "Mother", key], 2), (["add", "Me", own], 2), (["block", own], 2), (["add", "all", third], 2),
        (["list", "all"], 2), (["befriend", "Mum"], 2), (["renew"], 2), (["rename", "Mum", "a\u{7}b"], 2),
        (["add", " ", third], 2), (["add", "\u{200B}\u{3164}", third], 2), (["rename", "Mum", "\u{2800}"], 2),
      ] as [([String], Int32)] {
        let trust = try scene.start("piconet", ["trust"] + words, state: "a")
        #expect(await trust.end() == code, "\(words): \(trust.error)")
        #expect(trust.error.hasPrefix("piconet trust: "), "\(trust.error)")
        // A person's mistyped word is no fault of a file.
        #expect(!trust.error.contains("/known-peers"), "\(trust.error)")
      }
      #expect(try await scene.trust(state: "a") == before)
      let blank = try scene.start("piconet", ["trust", "add", " ", third], state: "a")
      #expect(await blank.end() == 2)
      #expect(blank.error.contains("invalid name ' ': needs a character that can be seen"), "\(blank.error)")
    }
  }

  @Test("imagerecv --fingerprint --qr shows the digits, and a code of them below", QRCodeTests.needsLibrary)
  func qrCode() async throws {
    try await ToolScene.run { scene in
      let own = try await scene.fingerprint("a")
      let receiver = try scene.start("imagerecv", ["--fingerprint", "--qr"], state: "a")
      #expect(await receiver.end() == 0, "\(receiver.error)")
      let code = try QRCode(own)
      let lines = receiver.output.split(separator: "\n").map(String.init)
      #expect(lines == [own] + QRCodeDrawing(code: code, hasColours: false).lines)
      let alone = try scene.start("imagerecv", ["--qr"], state: "a")
      #expect(await alone.end() == 2)
    }
  }

  @Test("imagerecv --fingerprint --json shows the digits, and nothing for a camera")
  func fingerprintForPrograms() async throws {
    try await ToolScene.run { scene in
      let own = try await scene.fingerprint("a")
      let receiver = try scene.start("imagerecv", ["--fingerprint", "--json"], state: "a")
      #expect(await receiver.end() == 0, "\(receiver.error)")
      #expect(receiver.output.hasPrefix("{\"event\":\"identity\",\"peer\":\"\(own)\"}\n"), "\(receiver.output)")
      let drawn = try scene.start("imagerecv", ["--fingerprint", "--qr", "--json"], state: "a")
      #expect(await drawn.end() == 2)
    }
  }

  @Test(
    "an identity is exported for its owner alone, restored elsewhere, and renewed; nothing that is there goes unasked")
  func identity() async throws {
    try await ToolScene.run { scene in
      let own = try await scene.fingerprint("a")
      try scene.folder.write("secret", Array("correct horse\nand no more".utf8))
      let (file, secret) = (scene.folder.path + "/key.pem", scene.folder.path + "/secret")
      try await scene.trust("export", "--passphrase-file", secret, file, state: "a")
      let pem = try String(contentsOfFile: file, encoding: .utf8)
      #expect(pem.hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----"))
      let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
      #expect(mode == 0o600)
      for (words, reason) in [
        (["export", file], "--force replaces it"), (["restore", file], "encrypted: give its passphrase with"),
        (["restore", secret], "no key in it"),
        (["restore", "--passphrase-file", file, file], "the passphrase is another one"),
        (["restore", "--passphrase-file", secret, file], "say so with --force"),
      ] as [([String], String)] {
        let trust = try scene.start("piconet", ["trust"] + words, state: "a")
        #expect(await trust.end() == 6, "\(words): \(trust.error)")
        #expect(trust.error.contains(reason), "\(words): \(trust.error)")
      }
      try scene.folder.write("empty", Array("\n".utf8))
      let empty = scene.folder.path + "/empty"
      for words in [["export", file + "2"], ["restore", "--force", file]] {
        let trust = try scene.start("piconet", ["trust", "--passphrase-file", empty] + words, state: "a")
        #expect(await trust.end() == 2)
        #expect(trust.error.contains("/empty: its first line is no passphrase"), "\(trust.error)")
      }
      #expect(try String(contentsOfFile: file, encoding: .utf8) == pem)
      #expect(try await scene.trust("restore", "--passphrase-file", secret, file, state: "b") == own + "\n")
      #expect(try await scene.fingerprint("b") == own)
      let new = try await scene.trust("renew", "--force", state: "a")
      #expect(new != own + "\n")
      #expect(try await scene.fingerprint("a") + "\n" == new)
      try await scene.trust("restore", "--force", "--passphrase-file", secret, file, state: "a")
      #expect(try await scene.fingerprint("a") == own)
    }
  }
}
