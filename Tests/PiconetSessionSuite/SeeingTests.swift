import Foundation
import PiconetEngine
import TestSupport
import Testing

@testable import Piconet

extension SessionSuite {
  @Suite("Statistics, pings and traces", .timeLimit(.minutes(15)))
  struct SeeingTests {
    @Test(
      "a ping tells the round trip, and both sides' statistics count the same messages", arguments: SuiteTransport.all)
    func pingAndStatistics(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, onServer) = try await pair.connect()
          let roundTrip = try await pair.client.session.ping(onClient, timeout: transport.patience)
          #expect(roundTrip > .zero && roundTrip < transport.patience)
          for _ in 0..<10 { try await onClient.send([UInt8](repeating: 1, count: 100)) }
          for _ in 0..<5 { try await onServer.send([UInt8](repeating: 1, count: 50)) }
          #expect(await pair.server.session.take(10).count == 10)
          #expect(await pair.client.session.take(5).count == 5)
          // The answers come behind the messages of both sides.
          _ = try await pair.client.session.ping(onClient, timeout: transport.patience)
          _ = try await pair.server.session.ping(onServer, timeout: transport.patience)
          let near = try #require(await pair.client.session.statistics(for: onClient))
          let far = try #require(await pair.server.session.statistics(for: onServer))
          #expect(near.sent.messages == MemberStatistics.Count(frames: 10, bytes: 1_030))
          #expect(far.received.messages == near.sent.messages)
          #expect(far.sent.messages == MemberStatistics.Count(frames: 5, bytes: 260))
          #expect(near.received.messages == far.sent.messages)
          for side in [near, far] {
            #expect(side.transport == transport.kind)
            // An acknowledgement goes after 64 frames, or 64 KiB.
            #expect((1...64).contains(side.unacknowledgedFrames) && side.unacknowledgedBytes > 0)
            #expect(side.queuedBytes == 0)
            #expect(side.retransmitted.frames == 0 && side.unreliableDropped == 0 && side.unreliableLate == 0)
            #expect(side.sendCredit > 0 && side.receiveCredit > 0 && side.age > .zero)
          }
          #expect(try #require(near.roundTrip).count >= 2)
        }
      }
    }

    @Test(
      "statistics outlive a link: without a link they say so, and what was sent again is counted",
      arguments: SuiteTransport.breakable)
    func acrossLinks(over transport: SuiteTransport) async throws {
      let patient: @Sendable (inout NodeConfiguration) -> Void = { $0.disconnectTimeout = transport.silence * 8 }
      try await SuiteWorld.run(transport) { world in
        try await world.pair(server: patient, client: patient) { pair in
          let (onClient, onServer) = try await pair.connect(breakable: true)
          try await world.silence()
          try await onClient.send([1])
          // By both sides: what waits on a link that one side still has could arrive over it, and would not be sent
          // again.
          try await world.until("the silence is noticed") { onClient.transport == nil && onServer.transport == nil }
          let without = try #require(await pair.client.session.statistics(for: onClient))
          #expect(without.transport == nil && without.remoteAddress == nil && without.roundTrip == nil)
          #expect(without.unacknowledgedFrames >= 1 && without.unacknowledgedBytes > 0)
          try await world.endSilence()
          #expect(await pair.server.session.messages.first()?.bytes == [1])
          _ = try await pair.client.session.ping(onClient, timeout: transport.patience)
          let after = try #require(await pair.client.session.statistics(for: onClient))
          #expect(after.transport == transport.kind && after.age > without.age)
          #expect(after.retransmitted.frames >= 1 && after.retransmitted.bytes >= 3)
          #expect(after.sent.messages.frames >= 1)
        }
      }
    }

    @Test(
      "a node's trace, links lost and found included, replays into the same", arguments: SuiteTransport.breakable)
    func replays(over transport: SuiteTransport) async throws {
      let folder = try TemporaryFolder()
      let traces = [folder.path + "/server", folder.path + "/client"]
      try await SuiteWorld.run(transport) { world in
        try await world.pair(
          server: { $0.trace = TraceSettings(path: traces[0]) }, client: { $0.trace = TraceSettings(path: traces[1]) }
        ) { pair in
          let (onClient, onServer) = try await pair.connect(breakable: true)
          for round in UInt8(0)..<3 {
            try await onClient.send([round])
            #expect(await pair.server.session.messages.first()?.bytes == [round])
            try await onServer.send([round])
            #expect(await pair.client.session.messages.first()?.bytes == [round])
            if round < 2 { try await world.cut() }
          }
        }
      }
      for trace in traces {
        let replay = try Replay.run(file: trace)
        #expect(replay.difference == nil && replay.ending == "complete", "\(String(describing: replay.difference))")
        #expect(replay.facts > 20 && replay.effects > 20)
      }
    }
  }
}
