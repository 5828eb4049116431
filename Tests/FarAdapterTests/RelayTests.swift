import PiconetEngine
import PiconetRuntime
import PiconetWire
import Testing

@testable import FarAdapter

@Suite("An adapter elsewhere, used through its agent", .timeLimit(.minutes(15)))
struct RelayTests {
  private static func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
    var random = SeededRandom(seed: seed)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count { withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) } }
    return Array(bytes.prefix(count))
  }

  @Test("bytes arrive whole in both directions at once, whichever side dialled", arguments: [true, false])
  func bothWays(dialledThere: Bool) async throws {
    try await FarScene.run { scene in
      await scene.open()
      let (far, near) = try await scene.connect(dialledThere: dialledThere)
      let (toNear, toFar) = (Self.bytes(1_500_000, seed: 1), Self.bytes(1_500_001, seed: 2))
      await scene.here.perform {
        far.write(toNear)
        near.write(toFar)
      }
      try await scene.until("all has come") {
        await scene.here.perform { near.received.count >= toNear.count && far.received.count >= toFar.count }
      }
      #expect(await scene.here.perform { near.received == toNear && far.received == toFar })
      #expect(await scene.here.perform { far.endpoint.traits.kind == .tcp && far.endpoint.traits.largestWrite == .max })
      #expect(scene.lost == nil)
    }
  }

  @Test("an orderly close delivers what was written before it, and is an orderly end")
  func orderlyClose() async throws {
    try await FarScene.run { scene in
      await scene.open()
      let (far, near) = try await scene.connect(dialledThere: true)
      let bytes = Self.bytes(30_000, seed: 3)
      await scene.here.perform {
        far.write(bytes)
        far.endpoint.close(abort: false)
      }
      try await scene.until("it ends") { await scene.here.perform { near.end != nil } }
      #expect(await scene.here.perform { near.received == bytes && near.end == .end })
    }
  }

  @Test("an orderly close also delivers bytes that wait there because the test does not read yet")
  func orderlyCloseOfWaiting() async throws {
    try await FarScene.run { scene in
      await scene.open()
      let (far, near) = try await scene.connect(dialledThere: true)
      let bytes = Self.bytes(24 << 20, seed: 8)
      await scene.here.perform {
        near.setReads(false)
        far.write(bytes)
      }
      let written = try await scene.rest { far.written }
      await scene.here.perform {
        far.endpoint.close(abort: false)
        near.setReads(true)
      }
      try await scene.until("it ends") { await scene.here.perform { near.end != nil } }
      #expect(await scene.here.perform { near.received[...] == bytes.prefix(written) })
      #expect(await scene.here.perform { near.end } == .end)
    }
  }

  @Test("what the remote side sent before its orderly end is read before the end")
  func orderlyEnd() async throws {
    try await FarScene.run { scene in
      await scene.open()
      let (far, near) = try await scene.connect(dialledThere: false)
      // More than the window.
      let bytes = Self.bytes(40_000, seed: 4)
      await scene.here.perform {
        far.setReads(false)
        near.write(bytes)
      }
      try await scene.until("all is written") { await scene.here.perform { near.written == bytes.count } }
      await scene.here.perform {
        near.endpoint.close(abort: false)
        far.setReads(true)
      }
      try await scene.until("it ends") { await scene.here.perform { far.end != nil } }
      #expect(await scene.here.perform { far.received == bytes && far.end == .end })
    }
  }

  @Test("an aborted link fails with reset on the other side, whichever aborts", arguments: [true, false])
  func abort(abortedThere: Bool) async throws {
    try await FarScene.run { scene in
      await scene.open()
      let (far, near) = try await scene.connect(dialledThere: true)
      let (ending, other) = abortedThere ? (far, near) : (near, far)
      await scene.here.perform { ending.endpoint.close(abort: true) }
      try await scene.until("it ends") { await scene.here.perform { other.end != nil } }
      let end = await scene.here.perform { other.end }
      guard case .failed(let failure)? = end else {
        Issue.record("\(String(describing: end))")
        return
      }
      #expect(failure.code == .reset)
    }
  }

  @Test("an unread link stops the remote side, within bounds; reading lets it go on", arguments: [true, false])
  func backPressure(readerIsFar: Bool) async throws {
    try await FarScene.run { scene in
      await scene.open()
      let (far, near) = try await scene.connect(dialledThere: true)
      let (reader, writer) = readerIsFar ? (far, near) : (near, far)
      let bytes = Self.bytes(24 << 20, seed: 5)
      await scene.here.perform {
        reader.setReads(false)
        writer.write(bytes)
      }
      let written = try await scene.rest { writer.written }
      // At most what the kernel's buffers of one connection hold, and one window.
      #expect(written < 16 << 20)
      await scene.here.perform { reader.setReads(true) }
      try await scene.until("all has come") { await scene.here.perform { reader.received.count >= bytes.count } }
      #expect(await scene.here.perform { reader.received == bytes })
    }
  }

  @Test("one link that the test does not read does not hold up another one")
  func otherLinks() async throws {
    try await FarScene.run { scene in
      await scene.open()
      let (stuck, source) = try await scene.connect(dialledThere: false)
      await scene.here.perform {
        stuck.setReads(false)
        source.write(Self.bytes(8 << 20, seed: 6))
      }
      let (far, near) = try await scene.connect(dialledThere: true)
      let bytes = Self.bytes(500_000, seed: 7)
      await scene.here.perform { near.write(bytes) }
      try await scene.until("all has come") { await scene.here.perform { far.received.count >= bytes.count } }
      #expect(await scene.here.perform { far.received == bytes && stuck.received.isEmpty })
    }
  }

  @Test("a dial fails with the far machine's own reason, and a cancelled one with cancelled")
  func dialFailures() async throws {
    try await FarScene.run { scene in
      await scene.open()
      let nobody = [TransportAddress(kind: .tcp, text: "127.0.0.1:1")]
      let refused = await #expect(throws: LinkFailure.self) { try await scene.dial(nobody, there: true) }
      #expect(refused?.code == .refused && refused?.detail.isEmpty == false)
      let cancelled = await #expect(throws: LinkFailure.self) {
        try await scene.dial(nobody, there: true, cancelling: true)
      }
      #expect(cancelled?.code == .cancelled)
    }
  }

  @Test("the reason why the agent can't listen arrives unchanged")
  func listenFailure() async throws {
    try await FarScene.run(listenFails: LinkFailure(.permission, "EACCES there")) { scene in
      await scene.open()
      let error = await #expect(throws: LinkFailure.self) { try await scene.connect(dialledThere: false) }
      #expect(error == LinkFailure(.permission, "EACCES there"))
      #expect(scene.lost == nil)
    }
  }

  @Test("the far adapter advertises and searches as asked, and its sightings come back")
  func discovery() async throws {
    try await FarScene.run { scene in
      await scene.open()
      let found = Found()
      await scene.here.perform {
        let discovery = scene.far?.discoveries.first
        discovery?.setHandler { found.reports.append($0) }
        discovery?.advertise(Samples.advertisement)
        discovery?.search(sessionID: "session")
        discovery?.setRadioBusy(true)
      }
      try await scene.until("it is told there") { await scene.told.count == 3 }
      #expect(await scene.told == ["advertise Küche", "search session", "busy true"])
      await scene.report(.seen(Samples.sighting))
      await scene.report(.gone(Samples.peer, Samples.sighting.incarnation))
      try await scene.until("it is told here") { await scene.here.perform { found.reports.count == 2 } }
      #expect(
        await scene.here.perform { found.reports } == [
          .seen(Samples.sighting), .gone(Samples.peer, Samples.sighting.incarnation),
        ])
      await scene.shutDownFar()
      #expect(await scene.told.suffix(2) == ["advertise nothing", "search nothing"])
    }
  }

  /// Used on the loop.
  private final class Found: @unchecked Sendable {
    // Sendable is right: used on the loop only.
    var reports: [DiscoveryReport] = []
  }

  @Test("whether the far adapter answers to paging is asked there", arguments: ["paged", "hidden"])
  func paging(sessionID: String) async throws {
    try await FarScene.run { scene in
      await scene.open(sessionID: sessionID)
      #expect(await scene.here.perform { scene.far?.answersPaging() } == (sessionID == "paged"))
    }
  }

  @Test("shut down, the agent has ended everything before the node hears of it, and serves the next one")
  func shutDown() async throws {
    try await FarScene.run { scene in
      for round in 1...3 {
        await scene.open()
        _ = try await scene.connect(dialledThere: true)
        await scene.shutDownFar()
        #expect(scene.endedCount == round)
        try await scene.until("its session is over") { await scene.sessionCount == 0 }
      }
      #expect(scene.lost == nil && scene.lines.isEmpty)
    }
  }
}
