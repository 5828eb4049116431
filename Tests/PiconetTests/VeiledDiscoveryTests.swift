import PiconetEngine
import PiconetTLS
import PiconetWire
import Testing

@testable import Piconet

/// A source in which a test may report anything.
private final class OpenSource: Discovery {
  let sourceName = "open"
  private(set) var advertised: Advertisement?
  private var handler: ((DiscoveryReport) -> Void)?

  func advertise(_ advertisement: Advertisement?) { advertised = advertisement }
  func search(sessionID: String?) {}
  func setHandler(_ handler: @escaping (DiscoveryReport) -> Void) { self.handler = handler }
  func close() {}
  func report(_ report: DiscoveryReport) { handler?(report) }
}

@Suite("Devices that are visible to those who know them")
struct VeiledDiscoveryTests {
  private let peer = PeerID(bytes: [UInt8](repeating: 7, count: 32))!
  private let other = PeerID(bytes: [UInt8](repeating: 8, count: 32))!

  private func advertisement(_ incarnation: UInt64) -> Advertisement {
    Advertisement(
      peer: peer, incarnation: Incarnation(rawValue: incarnation), name: "Secret", info: ["owner": "Anna"],
      sessionID: "s",
      ports: [.tcp: 4000])
  }

  private func veiled(_ incarnation: UInt64) throws -> Advertisement {
    let source = OpenSource()
    VeiledDiscovery(source, isVeiled: true, candidates: { [] }).advertise(advertisement(incarnation))
    return try #require(source.advertised)
  }

  @Test("nothing of name, key or info is in the air, and nothing that is the same the next time")
  func inTheAir() throws {
    let (one, two) = (try veiled(1), try veiled(2))
    for one in [one, two] {
      #expect(one.name == "" && one.info.isEmpty && one.peer != peer && one.ports == [.tcp: 4000])
    }
    #expect(one.peer != two.peer)
    let source = OpenSource()
    VeiledDiscovery(source, isVeiled: false, candidates: { [] }).advertise(advertisement(1))
    #expect(source.advertised == advertisement(1))
  }

  @Test("who knows the key sees it under its petname, comes and goes; who does not sees nothing")
  func unveiled() throws {
    let veil = try veiled(1)
    for isKnown in [true, false] {
      let source = OpenSource()
      let known = isKnown ? [(other, "Ben"), (peer, "Mum")] : [(other, "Ben")]
      let discovery = VeiledDiscovery(source, isVeiled: false, candidates: { known })
      var reports: [DiscoveryReport] = []
      discovery.setHandler { reports.append($0) }
      discovery.search(sessionID: "s")
      let sighting = Sighting(
        peer: veil.peer, incarnation: veil.incarnation, name: "", info: ["a": "b"],
        addresses: [TransportAddress(kind: .tcp, text: "127.0.0.1:1")])
      source.report(.seen(sighting))
      source.report(.gone(veil.peer, veil.incarnation))
      var seen = sighting
      (seen.peer, seen.name, seen.info) = (peer, "Mum", [:])
      #expect(
        reports == (isKnown ? [.seen(seen), .gone(peer, veil.incarnation)] : [.gone(veil.peer, veil.incarnation)]))
    }
  }

  @Test("a veil of another session, or another incarnation, is nobody's; and others are reported as they are")
  func others() throws {
    let veil = try veiled(1)
    let source = OpenSource()
    let discovery = VeiledDiscovery(source, isVeiled: false, candidates: { [(self.peer, "Mum")] })
    var reports: [DiscoveryReport] = []
    discovery.setHandler { reports.append($0) }
    discovery.search(sessionID: "other")
    var sighting = Sighting(peer: veil.peer, incarnation: veil.incarnation, name: "", info: [:], addresses: [])
    source.report(.seen(sighting))
    discovery.search(sessionID: "s")
    sighting.incarnation = Incarnation(rawValue: 2)
    source.report(.seen(sighting))
    #expect(reports.isEmpty)
    sighting.name = "Hall"
    source.report(.seen(sighting))
    #expect(reports == [.seen(sighting)])
  }
}
