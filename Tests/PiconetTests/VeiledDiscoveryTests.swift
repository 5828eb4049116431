import PiconetEngine
import PiconetTLS
import PiconetWire
import Testing

@testable import Piconet

/// A source in which a test may report anything.
private final class OpenSource: Discovery {
  let sourceName = "open"
  private(set) var advertised: NodeAdvertisement?
  private var handler: ((DiscoveryReport) -> Void)?

  func advertise(_ advertisement: NodeAdvertisement?) { advertised = advertisement }
  func search(sessionID: String?) {}
  func setHandler(_ handler: @escaping (DiscoveryReport) -> Void) { self.handler = handler }
  func close() {}
  func report(_ report: DiscoveryReport) { handler?(report) }
}

/// A clock that a test moves, with one timer.
private final class HandTime {
  private(set) var now = Instant(nanoseconds: 0)
  /// How long each look at the clock takes, like the work in between.
  var passing = Duration.zero
  private(set) var deadline: Instant?
  weak var discovery: VeiledDiscovery?

  var time: VeiledDiscovery.Time {
    VeiledDiscovery.Time(
      now: {
        self.now = self.now + self.passing
        return self.now
      }, wake: { self.deadline = $0 })
  }

  /// Goes on to the deadline. Returns false without a deadline.
  func step() -> Bool {
    guard let due = deadline else { return false }
    (now, deadline) = (max(now, due), nil)
    discovery?.lookForOwners()
    return true
  }
}

@Suite("Devices that are visible to those who know them")
struct VeiledDiscoveryTests {
  private let peer = PeerID(bytes: [UInt8](repeating: 7, count: 32))!
  private let other = PeerID(bytes: [UInt8](repeating: 8, count: 32))!

  private func advertisement(_ incarnation: UInt64) -> NodeAdvertisement {
    NodeAdvertisement(
      peer: peer, incarnation: Incarnation(rawValue: incarnation), name: "Secret", info: ["owner": "Anna"],
      sessionID: "s",
      ports: [.tcp: 4000])
  }

  private func discovery(
    of source: OpenSource, _ known: [(PeerID, String)] = [], isVeiled: Bool = false, _ time: HandTime = HandTime()
  ) -> VeiledDiscovery {
    let discovery = VeiledDiscovery(source, isVeiled: isVeiled, candidates: { known }, time: time.time)
    time.discovery = discovery
    return discovery
  }

  private func veiled(_ incarnation: UInt64) throws -> NodeAdvertisement {
    let source = OpenSource()
    discovery(of: source, isVeiled: true).advertise(advertisement(incarnation))
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
    discovery(of: source).advertise(advertisement(1))
    #expect(source.advertised == advertisement(1))
  }

  @Test("a device that knows the key sees the peer come and go under its petname; a device that does not sees nothing")
  func unveiled() throws {
    let veil = try veiled(1)
    for isKnown in [true, false] {
      let source = OpenSource()
      let known = isKnown ? [(other, "Ben"), (peer, "Mum")] : [(other, "Ben")]
      let discovery = self.discovery(of: source, known)
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

  @Test("a veil of another session, or another incarnation, names no device; and others are reported as they are")
  func others() throws {
    let veil = try veiled(1)
    let source = OpenSource()
    let discovery = self.discovery(of: source, [(peer, "Mum")])
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

  @Test("a name that a stranger gives a veil hides the device neither before nor after, whichever is looked at first")
  func namedVeil() throws {
    let veil = try veiled(1)
    let address = TransportAddress(kind: .tcp, text: "127.0.0.1:1")
    func sighting(_ name: String, _ others: [String] = []) -> Sighting {
      Sighting(
        peer: veil.peer, incarnation: veil.incarnation, name: name, info: [:], addresses: [address], otherNames: others)
    }
    let owner = Sighting(
      peer: peer, incarnation: veil.incarnation, name: "Mum", info: [:], addresses: [address])
    for (sightings, expected) in [
      ([sighting("Eve")], [.seen(owner)]), ([sighting("Eve", ["Mallory"])], [.seen(owner)]),
      ([sighting("", ["Eve"])], [.seen(owner)]),
      ([sighting(""), sighting("", ["Eve"]), sighting("Eve")], [.seen(owner), .seen(owner), .seen(owner)]),
    ] as [([Sighting], [DiscoveryReport])] {
      let source = OpenSource()
      let discovery = self.discovery(of: source, [(other, "Ben"), (peer, "Mum")])
      var reports: [DiscoveryReport] = []
      discovery.setHandler { reports.append($0) }
      discovery.search(sessionID: "s")
      for sighting in sightings { source.report(.seen(sighting)) }
      #expect(reports == expected)
      source.report(.gone(veil.peer, veil.incarnation))
      #expect(reports.last == .gone(peer, veil.incarnation))
    }
  }

  @Test("a veil with a name that has to wait for its turn is taken back under that name once its owner is known")
  func namedVeilThatWaits() throws {
    let veil = try veiled(1)
    let known = (10_000..<15_000).map { number in
      (PeerID(bytes: (0..<32).map { UInt8(truncatingIfNeeded: number >> ($0 % 2 * 8)) })!, "Peer \(number)")
    }
    let (source, time) = (OpenSource(), HandTime())
    let discovery = self.discovery(of: source, known + [(peer, "Mum")], time)
    var reports: [DiscoveryReport] = []
    discovery.setHandler { reports.append($0) }
    discovery.search(sessionID: "s")
    // Takes the whole period.
    source.report(
      .seen(Sighting(peer: other, incarnation: veil.incarnation, name: "", info: [:], addresses: [])))
    var named = Sighting(peer: veil.peer, incarnation: veil.incarnation, name: "Eve", info: [:], addresses: [])
    source.report(.seen(named))
    #expect(reports == [.seen(named)])
    named.addresses = [TransportAddress(kind: .tcp, text: "127.0.0.1:1")]
    source.report(.seen(named))
    #expect(reports.count == 2 && reports.last == .seen(named))
    reports = []
    #expect(time.step())
    var owner = named
    (owner.peer, owner.name) = (peer, "Mum")
    #expect(reports == [.gone(veil.peer, veil.incarnation), .seen(owner)], "with what was last known of it")
    source.report(.gone(veil.peer, veil.incarnation))
    #expect(reports.last == .gone(peer, veil.incarnation))
  }

  @Test("an advertisement without a name hides no device that is seen under its own, and each name is looked at once")
  func namelessKey() throws {
    let (source, time) = (OpenSource(), HandTime())
    let discovery = self.discovery(of: source, [(other, "Ben")], time)
    var reports: [DiscoveryReport] = []
    discovery.setHandler { reports.append($0) }
    discovery.search(sessionID: "s")
    var sighting = Sighting(peer: peer, incarnation: Incarnation(rawValue: 1), name: "", info: [:], addresses: [])
    source.report(.seen(sighting))
    #expect(reports.isEmpty)
    sighting.otherNames = ["Carol", "Hall"]
    var named = sighting
    (named.name, named.otherNames) = ("Carol", ["Hall"])
    source.report(.seen(sighting))
    #expect(reports == [.seen(named)])
    // A sighting that flickers costs no more.
    for number in 0..<5_000 {
      sighting.addresses = [TransportAddress(kind: .tcp, text: "127.0.0.1:\(number)")]
      source.report(.seen(sighting))
    }
    #expect(reports.count == 5_001 && time.deadline == nil)
    // Without its names it is out of sight.
    sighting.otherNames = []
    source.report(.seen(sighting))
    #expect(reports.last == .gone(peer, sighting.incarnation))
  }

  @Test("of a flood of invented veils only so many are looked at in a tenth of a second; the honest one has its turn")
  func flood() throws {
    let veil = try veiled(1)
    let known = (0..<1024).map { number in
      (PeerID(bytes: (0..<32).map { UInt8(truncatingIfNeeded: number >> ($0 % 2 * 8)) })!, "Peer \(number)")
    }
    let (source, time) = (OpenSource(), HandTime())
    let discovery = self.discovery(of: source, known + [(peer, "Mum")], time)
    var seen: [String] = []
    discovery.setHandler { if case .seen(let sighting) = $0 { seen.append(sighting.name) } }
    discovery.search(sessionID: "s")
    let invented = (0..<60).map { number in
      Sighting(
        peer: other, incarnation: Incarnation(rawValue: UInt64(number)), name: "", info: [:], addresses: [])
    }
    for sighting in invented { source.report(.seen(sighting)) }
    source.report(
      .seen(Sighting(peer: veil.peer, incarnation: veil.incarnation, name: "", info: [:], addresses: [])))
    // A flood of changes does not put it off.
    for sighting in invented { source.report(.seen(sighting)) }
    #expect(seen.isEmpty)
    // However long the work of a period takes, it is no more.
    time.passing = .milliseconds(500)
    #expect(time.step() && seen.isEmpty)
    time.passing = .zero
    var periods = 1
    while seen.isEmpty, time.step() { periods += 1 }
    // Four of 1,025 HMACs each begin in a period, and four had their turn in the first. Those wait again, at the end.
    #expect(seen == ["Mum"] && periods == 15)
    // Once its owner is known, a change is told at once.
    var moved = Sighting(peer: veil.peer, incarnation: veil.incarnation, name: "", info: [:], addresses: [])
    moved.addresses = [TransportAddress(kind: .tcp, text: "127.0.0.1:1")]
    source.report(.seen(moved))
    #expect(seen == ["Mum", "Mum"])
    // What is gone is not looked for.
    for sighting in invented { source.report(.gone(sighting.peer, sighting.incarnation)) }
    #expect(!time.step() || time.deadline == nil)
    discovery.close()
    #expect(time.deadline == nil)
  }
}
