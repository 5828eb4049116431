import Foundation
import Glibc
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("A receiver that is not there yet, or not any more")
struct ReturningReceiverTests {
  private func album(_ scene: ToolScene, _ count: Int) throws -> String {
    for number in 1..<count { _ = try scene.photo("album/\(number).jpg", size: 400_000 + number) }
    // It is far from its end when the photos are there.
    _ = try scene.sparse("album/z.jpg", size: BadWeatherTests.large / 2)
    return scene.folder.path + "/album"
  }

  @Test("killed in the middle and started again, it is found again, and gets the rest: each photo once")
  func killed() async throws {
    try await ToolScene.run { scene in
      let album = try album(scene, 20)
      let first = try await scene.receiver()
      let sender = try scene.sender("--to", "Kitchen", "--timeout", "60", album)
      #expect(await sender.shows("\"stored\""), "\(sender.error)")
      first.send(signal: SIGKILL)
      #expect(await first.end() == 137)
      #expect(await sender.shows("can't be reached"), "\(sender.error)")
      let second = try await scene.receiver()
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(sender.error.contains("Kitchen is there: going on"), "\(sender.error)")
      #expect(sender.events("failed").isEmpty, "\(sender.output)")
      #expect(sender.events("stored").count + sender.events("present").count == 20)
      #expect(try scene.received(scene.into + "/album").count == 20)
      #expect(second.isRunning)
    }
  }

  @Test("the same at an address, where nothing tells that it is back")
  func atAddress() async throws {
    try await ToolScene.run { scene in
      let album = try album(scene, 20)
      let first = try await scene.receiver("--listen", "127.0.0.1:\(scene.port)")
      let address = try #require((first.events("listening").first?["addresses"] as? [String])?.first)
      let sender = try scene.sender(
        "--address", address, "--fingerprint", try #require(first.fingerprint), "--timeout", "60", album)
      #expect(await sender.shows("\"stored\""), "\(sender.error)")
      first.send(signal: SIGKILL)
      #expect(await first.end() == 137)
      #expect(await sender.shows("waiting for it"), "\(sender.error)")
      _ = try await scene.receiver("--listen", "127.0.0.1:\(scene.port)")
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(sender.events("failed").isEmpty, "\(sender.output)")
      #expect(try scene.received(scene.into + "/album").count == 20)
    }
  }

  @Test("one that does not come back is given up after --timeout, and each file that is left has failed")
  func goneForGood() async throws {
    try await ToolScene.run { scene in
      let album = try album(scene, 20)
      let receiver = try await scene.receiver()
      let sender = try scene.sender("--to", "Kitchen", "--timeout", "8", album)
      #expect(await sender.shows("\"stored\""), "\(sender.error)")
      receiver.send(signal: SIGKILL)
      #expect(await sender.end() == 5, "\(sender.error)")
      #expect(sender.events("stored").count + sender.events("failed").count == 20)
      #expect(sender.error.contains("Run the same command again"), "\(sender.error)")
    }
  }

  @Test(
    "with --wait a sender waits for a receiver that is started later, by name and at an address, and Ctrl-C ends it")
  func wait() async throws {
    try await ToolScene.run { scene in
      try scene.introduce("Kitchen", as: "Kitchen", to: "sender")
      let photo = try scene.photo("a.jpg")
      let byName = try scene.sender("--wait", "--timeout", "1", "--to", "Kitchen", photo)
      let inCapitals = try scene.sender("--wait", "--to", "KITCHEN", photo)
      let impatient = try scene.sender("--wait", "200ms", "--to", "Kitchen", photo)
      #expect(await impatient.end() == 3, "\(impatient.error)")
      #expect(impatient.error.contains("was found within 0.2 s"), "\(impatient.error)")
      let nobody = try scene.sender("--wait", "--to", "Nobody", photo)
      #expect(await nobody.shows("Looking for 'Nobody'"), "\(nobody.error)")
      nobody.send(signal: SIGINT)
      #expect(await nobody.end() == 130, "\(nobody.error)")
      #expect(byName.isRunning, "\(byName.error)")
      _ = try await scene.receiver()
      #expect(await byName.end() == 0, "\(byName.error)")
      #expect(await inCapitals.end() == 0, "\(inCapitals.error)")
      // Names match in any letter case, so imagesend suggests no other name.
      #expect(!inCapitals.error.contains("did you mean"), "\(inCapitals.error)")
      #expect(try scene.received() == ["a.jpg"])
    }
  }
}
