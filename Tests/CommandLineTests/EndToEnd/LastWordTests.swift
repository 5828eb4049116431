import Foundation
import Piconet
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("A receiver that has all bytes of a photo and does not say that it is stored")
struct LastWordTests {
  @Test(
    "is asked once more: a photo that is there then counts as stored, and any other as timed out",
    arguments: [true, false])
  func lastWord(isThere: Bool) async throws {
    try await ToolScene.run { scene in
      // It is so small that its content is looked at once all of it has come, before it has its name.
      let photo = try scene.photo("a.jpg", size: 3_000)
      try await scene.withNode("Kitchen") { node in
        try await node.setAvailable(true)
        let directory = try await node.receivingDirectory(at: scene.into)
        var offers = node.session.offers.makeAsyncIterator()
        let sender = try scene.sender(
          "--to", "Kitchen", "--fingerprint", node.id.peer.description, "--timeout", "4", photo)
        let isHeld = DispatchSemaphore(value: 0)
        let first = try #require(await offers.next())
        let stored = try await first.startStoring(in: directory) { _ in isHeld.wait(timeout: .now() + 120) == .success }
        #expect(await sender.shows("asking once more"), "\(sender.error)")
        if isThere { isHeld.signal() }
        let second = try #require(await offers.next())
        if isThere { try await second.store(in: directory) }
        #expect(await sender.end() == (isThere ? 0 : 5), "\(sender.error)")
        isHeld.signal()
        _ = try? await stored.result
        #expect(sender.events("stored").count == (isThere ? 1 : 0), "\(sender.output)")
        #expect(sender.events("present").isEmpty, "\(sender.output)")
        if isThere { #expect(sender.events("finished").first?["transferred"] as? Int == 3_000, "\(sender.output)") }
        #expect(sender.events("failed").map { $0["reason"] as? String } == (isThere ? [] : ["timed-out"]))
        #expect(try scene.received().filter { !$0.hasPrefix(".") }.count <= 1)
      }
    }
  }
}
