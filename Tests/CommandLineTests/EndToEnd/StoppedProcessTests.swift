import Foundation
import Glibc
import TestSupport
import Testing

@testable import PiconetCommandLine

/// Programs that are stopped in the middle of a photo, as by a frozen virtual machine, and go on later than all of
/// their own time limits.
@Suite("A program that is stopped for a while, and goes on")
struct StoppedProcessTests {
  private static let size = 96 << 20

  /// Both are stopped as soon as the photo is offered, so that it can't be over before.
  private func stopped(
    timeout: Int, _ body: (_ sender: ToolProcess, _ receiver: ToolProcess) async throws -> Void
  ) async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver()
      let photo = try scene.sparse("a.jpg", size: Int64(Self.size))
      let sender = try scene.sender("--to", "Kitchen", "--timeout", "\(timeout)", photo)
      let (stops, stop) = AsyncStream<Void>.makeStream()
      sender.once({ $0.contains("\"offered\"") }) {
        receiver.send(signal: SIGSTOP)
        sender.send(signal: SIGSTOP)
        stop.yield()
      }
      try #require(await sender.shows("\"offered\""), "\(sender.error)")
      // A signal to go on that comes before the one to stop would be lost.
      for await _ in stops { break }
      try #require(receiver.events("stored").isEmpty && sender.events("stored").isEmpty)
      try await body(sender, receiver)
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(sender.events("failed").isEmpty, "\(sender.error)")
      #expect(try scene.isSame(photo, scene.into + "/a.jpg"))
    }
  }

  @Test("both are stopped for longer than the sender waits for anything to move: the photo arrives")
  func both() async throws {
    try await stopped(timeout: 6) { sender, receiver in
      // The time in which a program does not run is what this is about.
      try await Task.sleep(for: .seconds(9))
      receiver.send(signal: SIGCONT)
      sender.send(signal: SIGCONT)
    }
  }

  @Test("the sender is stopped for longer than it waits: the receiver keeps the session, and the photo arrives")
  func sender() async throws {
    try await stopped(timeout: 6) { sender, receiver in
      receiver.send(signal: SIGCONT)
      // As above.
      try await Task.sleep(for: .seconds(9))
      sender.send(signal: SIGCONT)
    }
  }

  @Test("the receiver is stopped for longer than the sender waits, which looks for it, and the photo arrives")
  func receiver() async throws {
    try await stopped(timeout: 6) { sender, receiver in
      sender.send(signal: SIGCONT)
      #expect(await sender.shows("can't be reached: waiting for it"), "\(sender.error)")
      receiver.send(signal: SIGCONT)
    }
  }
}
