import Foundation
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("What the programs say of a connection that breaks, and of its figures")
struct SuspensionTests {
  /// Sends a photo through a relay that breaks in the middle of it, and is mended once both sides have said so.
  private func broken(json: Bool, _ body: (ToolScene, ToolProcess, ToolProcess) async throws -> Void) async throws {
    try await ToolScene.run { scene in
      let options = json ? ["--json"] : ["-v"]
      let receiver = try scene.start(
        "imagerecv",
        ["--name", "Kitchen", "--directory", scene.into, "--accept", "all", "--count", "1", "--listen", "127.0.0.1:0"]
          + options, state: "Kitchen")
      #expect(await receiver.shows(json ? "\"listening\"" : "listening on"), "\(receiver.error)")
      let place =
        try json
        ? #require((receiver.events("listening").first?["addresses"] as? [String])?.first)
        : #require(receiver.error.split(separator: "\n").first?.split(separator: " ").last.map(String.init))
      let port = try #require(place.split(separator: ":").last.flatMap { UInt16($0) })
      let relay = try Relay(to: port, breakingAfter: 2_000_000)
      defer { relay.close() }
      let photo = try scene.photo("a.jpg", size: 8_000_000)
      let sender = try scene.start(
        "imagesend",
        ["--name", "Phone", "--address", relay.address, "--fingerprint", try await scene.fingerprint("Kitchen"), photo]
          + options, state: "sender")
      let words = json ? "\"suspended\"" : "searching for another way"
      #expect(await sender.shows(words), "\(sender.error)")
      #expect(await receiver.shows(words), "\(receiver.error)")
      relay.mend()
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(await receiver.end() == 0, "\(receiver.error)")
      #expect(try scene.isSame(photo, scene.into + "/a.jpg"))
      try await body(scene, sender, receiver)
    }
  }

  @Test("both tell a person that the other can't be reached, that they search, and when it is reached again")
  func people() async throws {
    try await broken(json: false) { _, sender, receiver in
      for (tool, other) in [(sender, "Kitchen"), (receiver, "Phone")] {
        let lines = tool.error.split(separator: "\n")
        let lost = try #require(lines.firstIndex { $0.hasPrefix("\(other) can't be reached: ") }, "\(tool.error)")
        #expect(lines[lost].hasSuffix("; searching for another way"))
        let found = try #require(lines.lastIndex { $0.hasPrefix("\(other) is reached again, over tcp") })
        #expect(lost < found)
      }
    }
  }

  @Test("each program writes an event for it")
  func programs() async throws {
    try await broken(json: true) { _, sender, receiver in
      for (tool, other) in [(sender, "Kitchen"), (receiver, "Phone")] {
        let kinds = tool.events().compactMap { $0["event"] as? String }
        let lost = try #require(kinds.firstIndex(of: "suspended"))
        #expect(try #require(kinds.lastIndex(of: "resumed")) > lost)
        let suspended = tool.events()[lost]
        #expect(suspended["name"] as? String == other)
        #expect(suspended["reason"] as? String == "link-failed" || suspended["reason"] as? String == "left")
        #expect((suspended["message"] as? String)?.isEmpty == false)
        #expect(tool.events("resumed").last?["transport"] as? String == "tcp")
      }
    }
  }

  @Test("with -v both tell the figures of the connection when it is over")
  func figures() async throws {
    try await broken(json: false) { _, sender, receiver in
      for (tool, other) in [(sender, "Kitchen"), (receiver, "Phone")] {
        let lines = tool.error.split(separator: "\n").filter { $0.hasPrefix("\(other): ") }
        #expect(lines.contains { $0.hasPrefix("\(other): connection: tcp, ") }, "\(tool.error)")
        #expect(lines.contains { $0.contains("; received ") && $0.contains("; sent again ") })
        // What was under way when it ended says nothing of what has arrived.
        #expect(!tool.error.contains("not acknowledged") && !tool.error.contains(": queued "))
      }
    }
  }
}
