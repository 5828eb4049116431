import PiconetDNSSD
import PiconetEngine
import PiconetWire
import Testing

@testable import PiconetIP

@Suite struct SightingTableTests {
  static let peer = [UInt8](repeating: 0xAB, count: 32)

  static func instance(
    _ label: String, incarnation: UInt64 = 1, sessionID: String = "photos", endpoints: [(UInt32, IPAddress)],
    name: String = "Anna"
  ) throws -> ResolvedInstance {
    let text = PeerText(peer: peer, incarnation: incarnation, name: name, session: sessionID, info: ["k": "v"])
    let type = ServiceType.piconet.name
    return try ResolvedInstance(
      name: #require(type.prepending(Array(label.utf8))), text: text.strings(),
      endpoints: endpoints.map {
        .init(interface: InterfaceID(index: $0.0, isIPv6: false), address: $0.1, port: 4000)
      })
  }

  /// lo, and eth0 in networks of which the tests use addresses.
  static let interfaces: InterfaceTable = {
    var table = InterfaceTable()
    table.apply(.link(.init(index: 1, name: "lo", flags: 0x49)))
    table.apply(.link(.init(index: 2, name: "eth0", flags: 0x1041)))
    table.apply(.address(index: 1, .v4(0x7F00_0001), prefix: 8, isUsable: true))
    for (address, prefix) in [
      (IPAddress.v4(0x0A00_00FE), 8), (.v4(0xC0A8_01FE), 24), (.v6(high: 0xFD00_0000_0000_0000, low: 0xFE), 64),
    ] {
      table.apply(.address(index: 2, address, prefix: prefix, isUsable: true))
    }
    return table
  }()

  static func apply(_ report: BrowserReport, to table: inout SightingTable) -> [DiscoveryReport] {
    table.apply(report, interfaces)
  }

  @Test func addressesAreBestFirstOnceAndOnlyWhereTheyBelong() throws {
    var table = SightingTable(sessionID: "photos")
    let linkLocal = IPAddress.v6(high: 0xFE80_0000_0000_0000, low: 1)
    let instance = try Self.instance(
      "Anna",
      endpoints: [
        (2, linkLocal), (2, .v4(0xC0A8_0107)), (2, .v6(high: 0xFD00_0000_0000_0000, low: 7)), (2, .v4(0x7F00_0001)),
        (2, .v4(0xE000_0001)), (1, .v4(0x7F00_0001)), (1, .v4(0x0808_0808)), (2, .v4(0xC0A8_0107)),
      ])
    guard case .seen(let sighting)? = Self.apply(.resolved(instance), to: &table).first else {
      Issue.record("nothing was seen")
      return
    }
    #expect(
      sighting.addresses.map(\.text) == [
        "127.0.0.1:4000", "[fd00::7]:4000", "192.168.1.7:4000", "[fe80::1%eth0]:4000",
      ])
    #expect(sighting.name == "Anna" && sighting.info == ["k": "v"])
  }

  @Test func anotherScopeAndOurselvesAreNotSeenButAnotherIncarnationIs() throws {
    var table = SightingTable(sessionID: "photos")
    let own = try #require(PeerID(bytes: Self.peer))
    _ = table.setOwn(peer: own, incarnation: Incarnation(rawValue: 1))
    let address: [(UInt32, IPAddress)] = [(1, .v4(0x7F00_0001))]
    #expect(try Self.apply(.resolved(Self.instance("a", endpoints: address)), to: &table).isEmpty)
    #expect(
      try Self.apply(.resolved(Self.instance("b", incarnation: 2, sessionID: "x", endpoints: address)), to: &table)
        .isEmpty)
    #expect(try Self.apply(.resolved(Self.instance("c", incarnation: 2, endpoints: address)), to: &table).count == 1)
  }

  @Test func twoInstancesOfOnePeerAreOneSighting() throws {
    var table = SightingTable(sessionID: "photos")
    let first = try Self.instance("Anna", endpoints: [(2, .v4(0x0A00_0001))])
    let second = try Self.instance("Anna (2)", endpoints: [(2, .v4(0x0A00_0002))])
    #expect(Self.apply(.resolved(first), to: &table).count == 1)
    guard case .seen(let both)? = Self.apply(.resolved(second), to: &table).first else {
      Issue.record("no change was seen")
      return
    }
    #expect(both.addresses.map(\.text) == ["10.0.0.1:4000", "10.0.0.2:4000"])
    guard case .seen(let one)? = Self.apply(.removed(first.name), to: &table).first else {
      Issue.record("the peer went with the first of its instances")
      return
    }
    #expect(one.addresses.map(\.text) == ["10.0.0.2:4000"])
    let last = Self.apply(.removed(second.name), to: &table)
    #expect(last == [.gone(one.peer, one.incarnation)])
    #expect(Self.apply(.removed(second.name), to: &table).isEmpty)
  }

  @Test("addresses that another device claims for a peer push none of its own out, nor behind all of them")
  func claimedAddresses() throws {
    for isFirst in [true, false] {
      var table = SightingTable(sessionID: "photos")
      let own = try Self.instance("Zoe", endpoints: [(2, .v4(0x0A00_0001)), (2, .v4(0x0A00_0002))], name: "Anna")
      let spoofed = try Self.instance(
        "A", endpoints: (1...16).map { (2, .v6(high: 0xFD00_0000_0000_0000, low: $0)) }, name: "Mum")
      _ = Self.apply(.resolved(isFirst ? own : spoofed), to: &table)
      guard case .seen(let sighting)? = Self.apply(.resolved(isFirst ? spoofed : own), to: &table).first else {
        Issue.record("no change was seen")
        return
      }
      let texts = sighting.addresses.map(\.text)
      #expect(texts.count == SightingTable.addressLimit)
      #expect(texts.firstIndex(of: "10.0.0.1:4000") == (isFirst ? 0 : 1))
      #expect(texts.firstIndex(of: "10.0.0.2:4000") == (isFirst ? 2 : 3))
      // The first instance decides the name, whatever the other is called, and an update changes nothing about that.
      #expect(sighting.names == (isFirst ? ["Anna", "Mum"] : ["Mum", "Anna"]))
      #expect(Self.apply(.updated(own), to: &table) == [])
    }
  }

  @Test("names that another device claims for a peer hide its own neither before it comes nor after, and are bounded")
  func claimedNames() throws {
    for spoofedFirst in [0, 3, 20] {
      var table = SightingTable(sessionID: "photos")
      var last: Sighting?
      func see(_ label: String, _ name: String, _ address: UInt32) throws {
        let instance = try Self.instance(label, endpoints: [(2, .v4(0x0A00_0000 + address))], name: name)
        if case .seen(let sighting)? = Self.apply(.resolved(instance), to: &table).last { last = sighting }
      }
      for number in 0..<spoofedFirst { try see("s\(number)", "Zed \(number)", 100 + UInt32(number)) }
      try see("Carol", "Carol", 1)
      #expect(last?.names.contains("Carol") == true && last?.addresses.contains { $0.text == "10.0.0.1:4000" } == true)
      #expect(last?.name == (spoofedFirst == 0 ? "Carol" : "Zed 0"))
      #expect(last?.names.count == min(Sighting.nameLimit, spoofedFirst + 1))
      #expect(last?.addresses.count == min(SightingTable.addressLimit, spoofedFirst + 1))
      // Several instances of one name, or without any, are no other names.
      try see("Carol (2)", "Carol", 1)
      try see("nameless", "", 1)
      #expect(last?.names.count == min(Sighting.nameLimit, spoofedFirst + 1))
    }
  }

  @Test("what came late is what the last place changes with")
  func lastPlace() {
    let many = (0..<20).map { "Name \($0)" }
    #expect(Sighting.otherNames([]) == [] && Sighting.otherNames(["a"]) == [])
    #expect(Sighting.otherNames(["a", "", "b", "a", "b"]) == ["b"])
    #expect(Sighting.otherNames(many) == Array(many[1...6]) + ["Name 19"])
    #expect(Sighting.otherNames(many + ["Name 2"]) == ["Name 1"] + many[3...7] + ["Name 2"])
    #expect(Sighting.otherNames(many + ["Name 0", ""]) == Array(many[1...6]) + ["Name 19"])
    #expect(Sighting.otherNames(Array(many.prefix(8))) == Array(many[1...7]))
  }

  @Test func anInstanceThatChangesItsIncarnationIsGoneAndSeen() throws {
    var table = SightingTable(sessionID: "photos")
    let address: [(UInt32, IPAddress)] = [(2, .v4(0x0A00_0001))]
    _ = try Self.apply(.resolved(Self.instance("Anna", incarnation: 1, endpoints: address)), to: &table)
    let reports = try Self.apply(.updated(Self.instance("Anna", incarnation: 2, endpoints: address)), to: &table)
    #expect(reports.count == 2)
    guard case .gone(_, let old)? = reports.first, case .seen(let new)? = reports.last else {
      Issue.record("\(reports)")
      return
    }
    #expect(old.rawValue == 1 && new.incarnation.rawValue == 2)
  }

  @Test func whatCannotBeAdvertisedIsToldBeforehand() throws {
    var advertisement = NodeAdvertisement(
      peer: try #require(PeerID(bytes: Self.peer)), incarnation: Incarnation(rawValue: 1), name: "Anna",
      info: ["k": "v"], sessionID: "photos", ports: [.tcp: 4000])
    #expect(DNSServiceDiscovery.failure(of: advertisement) == nil)
    advertisement.info = ["k": String(repeating: "x", count: 300)]
    #expect(DNSServiceDiscovery.failure(of: advertisement)?.detail.contains("pairTooLong") == true)
    advertisement.info = [:]
    advertisement.sessionID = String(repeating: "x", count: 129)
    #expect(DNSServiceDiscovery.failure(of: advertisement)?.detail.contains("sessionTooLong") == true)
    advertisement.sessionID = "photos"
    advertisement.ports = [:]
    #expect(DNSServiceDiscovery.failure(of: advertisement) != nil)
  }
}
