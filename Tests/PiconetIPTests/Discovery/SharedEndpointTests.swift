import PiconetEngine
import PiconetIP
import PiconetRuntime
import PiconetWire
import Testing

/// On interface `lo` of this machine, within session ids of their own.
@Suite("Discoveries that share an endpoint", .timeLimit(.minutes(15)))
struct SharedEndpointTests {
  /// Sendable is right: touched on the loop's thread only.
  private final class Stage: @unchecked Sendable {
    let endpoint: MulticastDNSEndpoint
    var discoveries: [DNSServiceDiscovery] = []
    private var continuations: [AsyncStream<DiscoveryReport>.Continuation] = []

    init(_ loop: EventLoop) {
      endpoint = MulticastDNSEndpoint(loop: loop, options: .init(interfaces: ["lo"], seed: 1))
    }

    /// Adds a discovery; gives it and what it reports.
    func add() -> (DNSServiceDiscovery, AsyncStream<DiscoveryReport>) {
      let discovery = DNSServiceDiscovery(sharing: endpoint)
      let (reports, continuation) = AsyncStream<DiscoveryReport>.makeStream()
      discovery.setHandler { continuation.yield($0) }
      discoveries.append(discovery)
      continuations.append(continuation)
      return (discovery, reports)
    }

    /// Closes all of them, after which nothing is reported.
    func close() {
      for discovery in discoveries { discovery.close() }
      for continuation in continuations { continuation.finish() }
      (discoveries, continuations) = ([], [])
    }
  }

  private func withStage(_ body: (EventLoop, Stage) async throws -> Void) async throws {
    let loop = try EventLoop(name: "discovery")
    defer { loop.stop() }
    let stage = Stage(loop)
    do {
      try await body(loop, stage)
    } catch {
      await loop.perform { stage.close() }
      throw error
    }
    await loop.perform { stage.close() }
  }

  private func sessionID() -> String { "test-\(UInt64.random(in: .min ... .max))" }

  private static func advertisement(_ number: UInt8, _ name: String, _ sessionID: String) throws -> NodeAdvertisement {
    NodeAdvertisement(
      peer: try #require(PeerID(bytes: [UInt8](repeating: 7, count: 32))),
      incarnation: Incarnation(rawValue: UInt64(number)), name: name, info: [:], sessionID: sessionID,
      ports: [.tcp: 4000 + UInt16(number)])
  }

  /// Runs something on the loop that may throw.
  private func on<Value: Sendable>(
    _ loop: EventLoop, _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await loop.perform { Result { try body() } }.get()
  }

  @Test("each sees the others of its session and no other, itself neither; a goodbye of one is heard by the rest")
  func sessions() async throws {
    let (chess, photos) = (sessionID(), sessionID())
    try await withStage { loop, stage in
      let reports = try await on(loop) { () -> [AsyncStream<DiscoveryReport>] in
        try [chess, chess, photos].enumerated().map { index, sessionID in
          let (discovery, reports) = stage.add()
          discovery.advertise(try Self.advertisement(UInt8(index), "Anna", sessionID))
          discovery.search(sessionID: sessionID)
          return reports
        }
      }
      var first = reports[0].makeAsyncIterator()
      var second = reports[1].makeAsyncIterator()
      guard case .seen(let sibling) = await first.next(), case .seen(let other) = await second.next() else {
        Issue.record("not seen")
        return
      }
      #expect(sibling.incarnation.rawValue == 1 && sibling.addresses.first?.text == "127.0.0.1:4001")
      #expect(other.incarnation.rawValue == 0 && other.addresses.first?.text == "127.0.0.1:4000")
      let labels = await loop.perform { stage.discoveries.compactMap(\.instanceLabel) }
      #expect(Set(labels).count == 3, "one key, one name, and no conflict: \(labels)")

      await loop.perform { stage.discoveries[1].close() }
      guard case .gone(_, let incarnation) = await first.next() else {
        Issue.record("not gone")
        return
      }
      #expect(incarnation.rawValue == 1)
      await loop.perform { stage.close() }
      var third = reports[2].makeAsyncIterator()
      #expect(await third.next() == nil, "nobody else is in that session")
    }
  }

  @Test("a discovery that searches beside another gets the known peers at once, and the links are asked nothing")
  func later() async throws {
    let sessionID = sessionID()
    try await withStage { loop, stage in
      let reports = try await on(loop) { () -> AsyncStream<DiscoveryReport> in
        let (advertiser, _) = stage.add()
        advertiser.advertise(try Self.advertisement(1, "Anna", sessionID))
        let (searcher, reports) = stage.add()
        searcher.search(sessionID: sessionID)
        return reports
      }
      var seen = reports.makeAsyncIterator()
      guard case .seen = await seen.next() else {
        Issue.record("not seen")
        return
      }
      let (late, sent) = try await on(loop) { () -> (AsyncStream<DiscoveryReport>, Int) in
        let before = stage.endpoint.statistics.packetsSent
        let (searcher, reports) = stage.add()
        searcher.search(sessionID: sessionID)
        return (reports, stage.endpoint.statistics.packetsSent - before)
      }
      #expect(sent == 0)
      var told = late.makeAsyncIterator()
      guard case .seen(let sighting) = await told.next() else {
        Issue.record("not told")
        return
      }
      #expect(sighting.name == "Anna")
    }
  }

  @Test("the sockets are open as long as a discovery uses them, closed with the last one, and opened again")
  func lifetime() async throws {
    try await withStage { loop, stage in
      #expect(await loop.perform { stage.endpoint.interfaceNames }.isEmpty)
      for _ in 0..<2 {
        try await on(loop) { _ = (stage.add(), stage.add()) }
        #expect(await loop.perform { stage.endpoint.interfaceNames } == ["lo"])
        #expect(await loop.perform { loop.watchCount } >= 2)
        await loop.perform { stage.discoveries[0].close() }
        #expect(await loop.perform { stage.endpoint.interfaceNames } == ["lo"])
        await loop.perform { stage.close() }
        #expect(await loop.perform { stage.endpoint.interfaceNames }.isEmpty)
        #expect(await loop.perform { loop.watchCount } == 0)
      }
    }
  }
}
