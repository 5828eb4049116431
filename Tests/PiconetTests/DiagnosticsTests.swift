import Foundation
import TestSupport
import Testing

@testable import Piconet

@Suite("Seeing what goes on", .timeLimit(.minutes(15)))
struct DiagnosticsTests {
  @Test("a ping tells the round trip, and statistics count what both sides have sent")
  func pingAndStatistics() async throws {
    try await NodePair.run { pair in
      let (onClient, onServer) = try await pair.connect()
      let roundTrip = try await pair.client.session.ping(onClient)
      #expect(roundTrip > .zero && roundTrip < .seconds(10))
      for _ in 0..<10 { try await onClient.send([UInt8](repeating: 1, count: 100)) }
      var count = 0
      for await _ in pair.server.session.messages {
        count += 1
        if count == 10 { break }
      }
      // The answer comes behind the messages: by then the kernel has taken them.
      _ = try await pair.client.session.ping(onClient)
      let near = try #require(await pair.client.session.statistics(for: onClient))
      let far = try #require(await pair.server.session.statistics(for: onServer))
      #expect(near.sent.messages == MemberStatistics.Count(frames: 10, bytes: 1_030))
      #expect(far.received.messages == near.sent.messages)
      #expect(near.sent.bytes > 1_030)
      // Those two, and a heartbeat if the machine is slow.
      #expect(near.roundTrip.map { $0.count >= 2 } == true)
      #expect(near.transport == .tcp)
      #expect(near.queuedBytes == 0 && near.age > .zero)
    }
  }

  @Test("statistics name the transport, count all frames, and have the unreliable messages that never got to the loop")
  func transportFramesAndDrops() async throws {
    try await NodePair.run { pair in
      let (onClient, _) = try await pair.connect()
      // Far more than the queue holds, faster than the loop takes them.
      let message = [UInt8](repeating: 1, count: 16_000)
      for _ in 0..<10_000 { try await onClient.send(message, mode: .unreliable) }
      let refused = onClient.budgets[0].droppedCount
      _ = try await pair.client.session.ping(onClient)
      let figures = try #require(await pair.client.session.statistics(for: onClient))
      #expect(figures.transport == .tcp)
      #expect(refused > 0 && figures.unreliableDropped >= refused)
      #expect(figures.sent.unreliable.frames + figures.unreliableDropped == 10_000)
      #expect(figures.sent.frames == figures.sent.controlFrames + figures.sent.unreliable.frames)
    }
  }

  @Test("a member that has left can't be pinged, and has no statistics")
  func nothingOfWhoHasLeft() async throws {
    try await NodePair.run { pair in
      let (onClient, _) = try await pair.connect()
      await onClient.disconnect()
      let error = try await #require(throws: PiconetError.self) { try await pair.client.session.ping(onClient) }
      #expect(error.code == .notConnected)
      #expect(await pair.client.session.statistics(for: onClient) == nil)
    }
  }

  @Test("a recorded node replays into the same effects, with its contents and without", arguments: [false, true])
  func recordedNodesReplay(isRedacted: Bool) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/trace"
    let secret = Array("a word that nobody says by chance".utf8)
    var trace = TraceSettings(path: path)
    trace.isRedacted = isRedacted
    try await NodePair.run(client: { $0.trace = trace }) { pair in
      let (onClient, onServer) = try await pair.connect()
      try await onClient.send(secret)
      for await _ in pair.server.session.messages { break }
      try await onServer.send(secret)
      for await _ in pair.client.session.messages { break }
    }
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let bytes = try Data(contentsOf: URL(filePath: path))
    #expect((bytes.range(of: Data(secret)) == nil) == isRedacted)
    let replay = try Replay.run(file: path)
    #expect(replay.difference == nil)
    #expect(replay.ending == "complete" && replay.isRedacted == isRedacted)
    #expect(replay.facts > 10 && replay.effects > 10)
    // What a crash leaves behind is read as far as it goes.
    try bytes.prefix(bytes.count - 3).write(to: URL(filePath: path))
    let cut = try Replay.run(file: path)
    #expect(cut.ending == nil && cut.difference == nil && cut.cutCount > 0)
    // Changed bytes are another matter.
    var changed = bytes
    changed[bytes.count / 2] ^= 4
    try changed.write(to: URL(filePath: path))
    let error = try #require(throws: PiconetError.self) { try Replay.run(file: path) }
    #expect(error.code == .invalidArgument && error.detail.contains("the trace is damaged at byte "), "\(error)")
  }

  @Test("a file that is no trace is refused, and a node does not start if its trace can't be written")
  func refusals() async throws {
    let folder = try TemporaryFolder()
    let other = try folder.write("other", Array("something else".utf8))
    #expect(try #require(throws: PiconetError.self) { try Replay.run(file: other) }.code == .invalidArgument)
    let missing = folder.path + "/missing"
    #expect(try #require(throws: PiconetError.self) { try Replay.run(file: missing) }.code == .sourceUnreadable)
    #expect(
      try #require(throws: PiconetError.self) { try Replay.run(file: folder.path) }.code == .sourceUnreadable,
      "a folder can't be read")
    var configuration = NodeConfiguration(sessionID: "test", name: "A")
    configuration.discovers = false
    configuration.trace = TraceSettings(path: missing + "/trace")
    let error = await #expect(throws: PiconetError.self) { try await Node(configuration) }
    #expect(error?.code == .invalidArgument)
  }
}
