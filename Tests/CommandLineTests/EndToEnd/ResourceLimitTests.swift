import Foundation
import Glibc
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("With few descriptors or little memory")
struct ResourceLimitTests {
  /// A folder of so many small photos.
  private func album(_ scene: ToolScene, _ count: Int) throws -> String {
    for number in 0..<count { _ = try scene.photo("album/\(number).jpg", size: 2_000) }
    return scene.folder.path + "/album"
  }

  /// The options of a sender that does not search, since it knows where the receiver listens.
  private func words(_ receiver: ToolProcess, _ album: String) throws -> [String] {
    let key = try #require(receiver.fingerprint)
    let address = try #require((receiver.events("listening").first?["addresses"] as? [String])?.first)
    return ["--json", "--fingerprint", key, "--address", address, album]
  }

  @Test("imagesend sends every photo, fewer at once", arguments: [16, 32, 64])
  func sender(limit: Int) async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver()
      let sender = try scene.start(
        "imagesend", try words(receiver, try album(scene, 120)), state: "sender", limits: "ulimit -n \(limit)")
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(sender.events("stored").count == 120)
    }
  }

  @Test("imagerecv stores every photo, also of two senders, fewer at once", arguments: [24, 32, 64])
  func receiver(limit: Int) async throws {
    try await ToolScene.run { scene in
      let album = try album(scene, 120)
      for sender in ["sender", "other"] { try scene.introduce("Kitchen", as: "Kitchen", to: sender) }
      let receiver = try scene.start(
        "imagerecv",
        ["--name", "Kitchen", "--directory", scene.into, "--json", "--accept", "all"], state: "Kitchen",
        limits: "ulimit -n \(limit)")
      try #require(await receiver.shows("\"listening\""), "\(receiver.error)")
      let words = try words(receiver, album)
      let senders = [
        try scene.start("imagesend", words, state: "sender"),
        try scene.start("imagesend", words + [try scene.photo("large.jpg", size: 3 << 20)], state: "other"),
      ]
      for sender in senders { #expect(await sender.end() == 0, "\(sender.error)") }
      #expect(try scene.received("\(scene.into)/album").count == 120)
      #expect(try scene.received().contains("large.jpg"))
    }
  }

  @Test(
    "below what any run needs both say so at once, and name the limit",
    arguments: [
      ("imagesend", "ulimit -n 12", "only 12 files may be open"), ("imagerecv", "ulimit -n 16", "only 16 files may be"),
      ("imagesend", "ulimit -v 60000", "the limit on memory is 61 MB"),
      ("imagerecv", "ulimit -v 60000", "the limit on memory is 61 MB"),
    ])
  func tooLittle(program: String, limits: String, words: String) async throws {
    try await ToolScene.run { scene in
      let photo = try scene.photo("a.jpg", size: 2_000)
      let arguments = program == "imagesend" ? ["--to", "Kitchen", photo] : ["--directory", scene.into]
      let process = try scene.start(program, ["--json"] + arguments, state: "one", limits: limits)
      #expect(await process.end() == 6, "\(process.error)")
      #expect(process.error.contains(words), "\(process.error)")
      #expect(process.events("failed").first?["reason"] as? String == "limit")
    }
  }

  @Test("with 250 MB of address space, of which an arena for each thread would take more, photos arrive")
  func addressSpace() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver()
      let sender = try scene.start(
        "imagesend", try words(receiver, try album(scene, 40)), state: "sender", limits: "ulimit -v 250000")
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(sender.events("stored").count == 40)
    }
  }
}
