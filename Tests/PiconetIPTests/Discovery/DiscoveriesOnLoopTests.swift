import PiconetEngine
import PiconetIP
import PiconetRuntime
import PiconetWire
import Testing

/// On interface `lo` of this machine, within a session id of its own.
@Suite struct DiscoveriesOnLoopTests {
  /// Sendable is right: touched on the loop's thread only.
  private final class Pair: @unchecked Sendable {
    var advertiser: DNSServiceDiscovery?
    var searcher: DNSServiceDiscovery?
    var continuation: AsyncStream<DiscoveryReport>.Continuation?

    func close() {
      advertiser?.close()
      searcher?.close()
      continuation?.finish()
    }
  }

  @Test("two nodes of one process find each other through the runtime's loop, and a goodbye is heard")
  func foundAndGone() async throws {
    let loop = try EventLoop(name: "discovery")
    let pair = Pair()
    let sessionID = "test-\(UInt64.random(in: .min ... .max))"
    let peer = try #require(PeerID(bytes: (0..<32).map { _ in UInt8.random(in: 0...255) }))
    let incarnation = Incarnation(rawValue: 5)
    let (reports, continuation) = AsyncStream<DiscoveryReport>.makeStream()
    loop.execute {
      pair.continuation = continuation
      let advertiser = DNSServiceDiscovery(loop: loop, options: .init(interfaces: ["lo"], seed: 1))
      let searcher = DNSServiceDiscovery(loop: loop, options: .init(interfaces: ["lo"], seed: 2))
      searcher.setHandler { continuation.yield($0) }
      advertiser.setHandler { _ in Issue.record("the advertiser took itself for somebody") }
      (pair.advertiser, pair.searcher) = (advertiser, searcher)
      advertiser.advertise(
        NodeAdvertisement(
          peer: peer, incarnation: incarnation, name: "Anna", info: ["k": "v"], sessionID: sessionID,
          ports: [.tcp: 4000]))
      advertiser.search(sessionID: sessionID)
      searcher.search(sessionID: sessionID)
    }
    for await report in reports {
      switch report {
      case .seen(let sighting):
        #expect(sighting.peer == peer && sighting.name == "Anna" && sighting.info == ["k": "v"])
        #expect(sighting.addresses.first?.text == "127.0.0.1:4000")
        loop.execute { pair.advertiser?.advertise(nil) }
      case .gone(let gone, _):
        #expect(gone == peer)
        loop.execute { pair.close() }
      }
    }
    await loop.perform { pair.close() }
    loop.stop()
  }
}
