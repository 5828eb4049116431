import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("The discovery table")
struct DiscoveryTableTests {
  private func table(limit: Int = 10, preference: [TransportKind] = [.tcp, .l2cap, .rfcomm]) -> DiscoveryTable {
    DiscoveryTable(ownNode: node(99), limit: limit, preference: preference)
  }

  private func seen(
    _ byte: UInt8, name: String = "Ada", info: [String: String] = [:], at addresses: [TransportAddress] = []
  ) -> DiscoveryReport {
    .seen(
      Sighting(
        peer: peer(byte), incarnation: Incarnation(rawValue: UInt64(byte)), name: name, info: info,
        addresses: addresses))
  }

  private func gone(_ byte: UInt8) -> DiscoveryReport { .gone(peer(byte), Incarnation(rawValue: UInt64(byte))) }

  private func summary(
    _ byte: UInt8, name: String = "Ada", others: [String] = [], info: [String: String] = [:],
    at addresses: [TransportAddress] = []
  ) -> PeerSummary {
    PeerSummary(node: node(byte), name: name, info: info, addresses: addresses, otherNames: others)
  }

  @Test("a peer is found with its first sighting only")
  func foundOnce() {
    var table = table()
    #expect(table.report(seen(1, at: [tcp("a")]), source: "one") == .found(summary(1, at: [tcp("a")])))
    #expect(table.report(seen(1, at: [tcp("a")]), source: "one") == nil)
    #expect(table.report(seen(1, at: [tcp("a")]), source: "two") == nil)
    #expect(table.count == 1)
  }

  @Test("a peer is lost with its last source only")
  func lostWithTheLastSource() {
    var table = table()
    _ = table.report(seen(1), source: "one")
    _ = table.report(seen(1), source: "two")
    #expect(table.report(gone(1), source: "one") == nil)
    #expect(table.report(gone(1), source: "one") == nil)
    #expect(table.report(gone(1), source: "two") == .lost(node(1)))
    #expect(table.report(gone(1), source: "two") == nil)
    #expect(table.count == 0)
  }

  @Test("the goodbye of a source that never saw the peer means nothing")
  func strangersGoodbye() {
    var table = table()
    _ = table.report(seen(1), source: "one")
    #expect(table.report(gone(1), source: "two") == nil)
    #expect(table.report(gone(2), source: "one") == nil)
    #expect(table.count == 1)
  }

  @Test("an address that came or went changes a peer, and only that")
  func addressesChangeIt() {
    var table = table()
    _ = table.report(seen(1, at: [tcp("a")]), source: "one")
    #expect(
      table.report(seen(1, at: [tcp("b")]), source: "two") == .changed(summary(1, at: [tcp("a"), tcp("b")])))
    #expect(table.report(seen(1, at: [tcp("b"), tcp("a")]), source: "two") == nil)
    #expect(table.report(seen(1), source: "one") == .changed(summary(1, at: [tcp("b"), tcp("a")])))
    #expect(table.report(gone(1), source: "one") == nil)
  }

  @Test("name and info are those of the source that saw the peer first; the names of all are there, each once")
  func firstSourceNames() {
    var table = table()
    _ = table.report(seen(1, name: "Ada", info: ["k": "1"]), source: "one")
    #expect(
      table.report(seen(1, name: "Bob", info: ["k": "2"]), source: "two")
        == .changed(summary(1, name: "Ada", others: ["Bob"], info: ["k": "1"])))
    #expect(
      table.report(seen(1, name: "Eve"), source: "one") == .changed(summary(1, name: "Eve", others: ["Bob"])))
    #expect(table.report(gone(1), source: "one") == .changed(summary(1, name: "Bob", info: ["k": "2"])))
  }

  @Test("the other names of one source keep out none of another, and names that change nothing are no change")
  func otherNames() {
    func seen(_ name: String, _ others: [String]) -> DiscoveryReport {
      .seen(
        Sighting(
          peer: peer(1), incarnation: Incarnation(rawValue: 1), name: name, info: [:], addresses: [],
          otherNames: others))
    }
    let many = (1...30).map { "Zed \($0)" }
    var table = table()
    _ = table.report(seen("Zed", many), source: "one")
    _ = table.report(seen("Carol", ["Zed"] + many), source: "two")
    let names = table.summary(of: node(1))?.names ?? []
    #expect(names.first == "Zed" && names.contains("Carol") && names.count == Sighting.nameLimit)
    #expect(table.report(seen("Zed", many), source: "one") == nil)
    #expect(table.report(seen("Carol", ["Zed"] + many), source: "two") == nil)
  }

  @Test("addresses come in the order of the transports, then of the sources, each once")
  func addressesInOrder() {
    var table = table(preference: [.l2cap, .tcp])
    let l2cap = TransportAddress(kind: .l2cap, text: "a")
    let rfcomm = TransportAddress(kind: .rfcomm, text: "a")
    _ = table.report(seen(1, at: [tcp("b"), rfcomm, tcp("a")]), source: "one")
    _ = table.report(seen(1, at: [tcp("a"), tcp("c"), l2cap]), source: "two")
    #expect(table.summary(of: node(1))?.addresses == [l2cap, tcp("b"), tcp("a"), tcp("c")])
  }

  @Test("our own sighting is not a peer")
  func ownNode() {
    var table = table()
    #expect(table.report(seen(99), source: "one") == nil)
    #expect(table.count == 0)
  }

  @Test("another program on our own device is a peer")
  func ownDevice() {
    var table = table()
    let other = Sighting(peer: peer(99), incarnation: Incarnation(rawValue: 1), name: "", info: [:], addresses: [])
    #expect(table.report(.seen(other), source: "one") != nil)
  }

  @Test("a restarted peer is another peer")
  func restart() {
    var table = table()
    _ = table.report(seen(1), source: "one")
    let again = Sighting(peer: peer(1), incarnation: Incarnation(rawValue: 77), name: "Ada", info: [:], addresses: [])
    #expect(table.report(.seen(again), source: "one") != nil)
    #expect(table.count == 2)
    #expect(table.report(gone(1), source: "one") == .lost(node(1)))
  }

  @Test("beyond the limit first come is first served, and a place that is free is taken")
  func limit() {
    var table = table(limit: 2)
    #expect(table.report(seen(1), source: "one") != nil)
    #expect(table.report(seen(2), source: "one") != nil)
    #expect(table.report(seen(3), source: "one") == nil)
    #expect(table.report(gone(3), source: "one") == nil)
    #expect(table.report(seen(1, name: "Eve"), source: "one") == .changed(summary(1, name: "Eve")))
    #expect(table.count == 2)
    #expect(table.report(gone(2), source: "one") == .lost(node(2)))
    #expect(table.report(seen(3), source: "one") == .found(summary(3)))
  }

  @Test("a node that only an ended source saw is lost, in the order of the nodes")
  func sourceEnded() {
    var table = table(limit: 100)
    for byte: UInt8 in [7, 3, 9, 1, 5] { _ = table.report(seen(byte), source: "one") }
    _ = table.report(seen(5), source: "two")
    _ = table.report(seen(3, at: [tcp("a")]), source: "two")
    // The addresses of 3 were merged already, so the end of its first source changes nothing.
    #expect(table.sourceEnded("one") == [.lost(node(1)), .lost(node(7)), .lost(node(9))])
    #expect(table.count == 2)
    #expect(table.sourceEnded("one") == [])
    #expect(table.sourceEnded("two") == [.lost(node(3)), .lost(node(5))])
  }

  @Test("transports of a peer that we don't use are told, and are no way to it")
  func otherTransports() {
    var table = table(preference: [.l2cap])
    let rfcomm = TransportAddress(kind: .rfcomm, text: "00:11:22:33:44:55/5")
    let change = table.report(seen(1, at: [rfcomm, tcp("a")]), source: "one")
    guard case .found(let found)? = change else {
      Issue.record("not found")
      return
    }
    #expect(found.addresses.isEmpty && found.otherKinds == [.tcp, .rfcomm])
    let both = table.report(seen(1, at: [TransportAddress(kind: .l2cap, text: "a/1"), rfcomm]), source: "one")
    guard case .changed(let changed)? = both else {
      Issue.record("not changed")
      return
    }
    #expect(changed.addresses.count == 1 && changed.otherKinds == [.rfcomm])
  }
}
