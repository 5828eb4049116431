import Foundation
import Glibc
import Piconet
import Testing

@testable import PiconetCommandLine

@Suite("A file is resumed after a program was killed", .timeLimit(.minutes(10)))
struct ResumptionTests {
  /// A large file of which no two pieces are alike, most of it holes.
  private func film(_ scene: ToolScene, size: Int) throws -> String {
    let path = try scene.sparse("film.jpg", size: Int64(size))
    let file = try #require(FileHandle(forUpdatingAtPath: path))
    for place in stride(from: 4096, to: size - 8, by: 64 << 10) {
      try file.seek(toOffset: UInt64(place))
      try file.write(contentsOf: withUnsafeBytes(of: place &* 0x9E37_79B9) { Data($0) })
    }
    try file.close()
    return path
  }

  /// How much of the file the receiver says it has.
  private func done(_ tool: ToolProcess) -> Int { tool.events("progress").compactMap { $0["done"] as? Int }.last ?? 0 }

  /// Sends a signal to one side as soon as the receiver says that it has so many bytes.
  private func send(_ signal: Int32, to tool: ToolProcess, onceThereAre count: Int, at receiver: ToolProcess) {
    receiver.once { output in
      output.matches(of: /"done":(\d+)/).last.flatMap { Int($0.1) }.map { $0 >= count } ?? false
    } act: {
      tool.send(signal: signal)
    }
  }

  /// Sends an interrupted file once more.
  /// - Returns: the sender, which has ended, and where the file went on.
  private func sendAgain(_ path: String, _ scene: ToolScene) async throws -> (sender: ToolProcess, resumed: Int) {
    let sender = try scene.sender("--to", "Kitchen", path)
    #expect(await sender.end(within: .seconds(300)) == 0, "\(sender.error)")
    let stored = try #require(sender.events("stored").first)
    return (sender, try #require(stored["resumedFrom"] as? Int, "it began anew: \(stored)"))
  }

  @Test(
    "kill -9 of the receiver, or the sender, in mid-file: sent again, only the rest goes over the wire",
    arguments: [true, false])
  func killed(receiverDies: Bool) async throws {
    let size = 300 << 20
    try await ToolScene.run { scene in
      let path = try film(scene, size: size)
      var receiver = try await scene.receiver()
      // One that is gone is waited for as long as that.
      let first = try scene.sender("--to", "Kitchen", "--timeout", "5", path)
      let victim = receiverDies ? receiver : first
      send(SIGKILL, to: victim, onceThereAre: 4 << 20, at: receiver)
      #expect(await victim.end() == 137)
      let before = done(receiver)
      if receiverDies {
        #expect(await first.end() == 5, "\(first.error)")
        receiver = try await scene.receiver()
      } else {
        // Sent again at once: the receiver still looks for the dead sender, but the new one does not wait for that.
        #expect(await receiver.shows("\"suspended\""), "\(receiver.error)")
      }
      #expect(try scene.received().filter { !$0.hasPrefix(".piconet-resume-") } == [])
      let (_, resumed) = try await sendAgain(path, scene)
      #expect(resumed >= (before >> 20) << 20 && resumed < size && resumed % (1 << 20) == 0, "\(resumed) of \(before)")
      // What the receiver takes for granted is what the sender leaves out.
      #expect(await receiver.shows("\"resumedFrom\":\(resumed)"))
      #expect(try scene.isSame(path, scene.into + "/film.jpg"))
      #expect(try scene.received() == ["film.jpg"])
      receiver.send(signal: SIGTERM)
      #expect(await receiver.end() != nil)
      #expect(!receiver.error.contains("kept for"), "it is whole: \(receiver.error)")
    }
  }

  @Test(
    "Ctrl-C at the receiver, or the sender, in mid-file: the same goes on where it stopped, and both say so",
    arguments: [true, false])
  func interrupted(receiverEnds: Bool) async throws {
    let size = 300 << 20
    try await ToolScene.run { scene in
      let path = try film(scene, size: size)
      var receiver = try await scene.receiver()
      // One that is gone is waited for as long as that.
      let first = try scene.sender("--to", "Kitchen", "--timeout", "5", path)
      send(SIGINT, to: receiverEnds ? receiver : first, onceThereAre: 4 << 20, at: receiver)
      #expect(await first.end() == (receiverEnds ? 5 : 130), "\(first.error)")
      #expect(
        first.error.contains(
          "Run the same command again: what is stored is not sent again, and a large file goes on where it stopped"))
      #expect(await receiver.shows("\"failed\""), "\(receiver.error)")
      // Each side names the other one only for what that has done.
      if receiverEnds {
        #expect(await receiver.shows(": interrupted here\n"), "\(receiver.error)")
        #expect(first.error.contains("Kitchen: the program there was ended\n"), "\(first.error)")
      } else {
        #expect(await receiver.shows(": broken off on the other side\n"), "\(receiver.error)")
        #expect(first.error.contains("film.jpg: interrupted\n"), "\(first.error)")
      }
      if !receiverEnds { receiver.send(signal: SIGINT) }
      #expect(await receiver.end() == 130, "\(receiver.error)")
      #expect(await receiver.shows("What has arrived of a large file is kept for 7 days"), "\(receiver.error)")
      #expect(try scene.received().filter { !$0.hasPrefix(".piconet-resume-") } == [])
      receiver = try await scene.receiver("--count", "1")
      let (second, resumed) = try await sendAgain(path, scene)
      #expect(resumed >= 4 << 20 && resumed < size && resumed % (1 << 20) == 0, "\(resumed)")
      #expect(await receiver.end() == 0, "\(receiver.error)")
      #expect(try scene.isSame(path, scene.into + "/film.jpg"))
      #expect(try scene.received() == ["film.jpg"], "nothing stale is left")
      #expect(!second.error.contains("again") && !receiver.error.contains("kept for"))
    }
  }

  @Test("a receiver that is killed ends the sender with a hint that the same command goes on")
  func hint() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver()
      let sender = try scene.sender("--to", "Kitchen", "--timeout", "5", try film(scene, size: 300 << 20))
      send(SIGKILL, to: receiver, onceThereAre: 2 << 20, at: receiver)
      #expect(await sender.end() == 5)
      #expect(
        sender.error.hasSuffix(
          "Run the same command again: what is stored is not sent again, and a large file goes on where it stopped\n"),
        "\(sender.error)"
      )
    }
  }

  @Test("a transfer that the sender gives up as stalled goes on where it stopped, and the sender says so")
  func stalled() async throws {
    let size = 16 << 20
    try await ToolScene.run { scene in
      let path = try film(scene, size: size)
      try await scene.withNode("Kitchen") { node in
        try await node.setAvailable(true)
        let directory = try await node.receivingDirectory(at: scene.into)
        var offers = node.session.offers.makeAsyncIterator()
        let first = try scene.sender(
          "--to", "Kitchen", "--fingerprint", node.id.peer.description, "--timeout", "15", path)
        let offer = try #require(await offers.next())
        // The disk takes nothing before the transfer is paused: then no more comes than the sender may send at first.
        let isPaused = DispatchSemaphore(value: 0)
        let slow = try await offer.startStoring(in: directory) { _ in isPaused.wait(timeout: .now() + 60) == .success }
        // A program that takes nothing more while its connection is fine.
        slow.pause()
        isPaused.signal()
        for await progress in slow.changes where progress.stored >= 1 << 20 { break }
        #expect(slow.progress.stored < size)
        #expect(await first.end() == 5, "\(first.error)")
        #expect(first.events("failed").first?["reason"] as? String == "timed-out")
        #expect(
          first.error.contains(
            "Run the same command again: what is stored is not sent again, and a large file goes on where it stopped"))
        await #expect(throws: PiconetError.self) { try await slow.result }
        let second = try scene.sender("--to", "Kitchen", "--timeout", "240", path)
        let again = try #require(await offers.next())
        let file = try await again.store(in: directory)
        #expect(file.resumedFrom >= 1 << 20 && file.resumedFrom < size)
        #expect(await second.end(within: .seconds(300)) == 0, "\(second.error)")
        #expect(try scene.isSame(path, file.path))
        #expect(try scene.received() == ["film.jpg"])
      }
    }
  }

  @Test("a file that was changed after the death begins anew")
  func changed() async throws {
    try await ToolScene.run { scene in
      let path = try film(scene, size: 300 << 20)
      let receiver = try await scene.receiver()
      let first = try scene.sender("--to", "Kitchen", path)
      send(SIGKILL, to: first, onceThereAre: 2 << 20, at: receiver)
      #expect(await receiver.shows("\"failed\""), "\(receiver.error)")
      let file = try #require(FileHandle(forUpdatingAtPath: path))
      try file.seek(toOffset: 100)
      try file.write(contentsOf: Data("other".utf8))
      try file.close()
      let second = try scene.sender("--to", "Kitchen", path)
      #expect(await second.end(within: .seconds(300)) == 0, "\(second.error)")
      #expect(second.events("stored").first?["resumedFrom"] == nil)
      #expect(try scene.isSame(path, scene.into + "/film.jpg"))
    }
  }
}
