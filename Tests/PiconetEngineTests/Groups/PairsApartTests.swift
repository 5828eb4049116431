import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Nodes that were left because the group has no place for them")
struct PairsApartTests {
  @Test("are remembered for a minute, and no more than 256 of them")
  func remembered() {
    var apart = PairsApart()
    let start = Instant(nanoseconds: 0)
    let nodes = (0..<300).map {
      NodeID(peer: node(1).peer, incarnation: Incarnation(rawValue: UInt64($0)))
    }
    for node in nodes { apart.leave([node], at: start) }
    #expect(nodes.filter { apart.wasLeft($0, at: start) } == Array(nodes.suffix(256)))
    #expect(apart.wasLeft(nodes[299], at: start + .milliseconds(59_999)))
    #expect(!apart.wasLeft(nodes[299], at: start + .seconds(60)))
    apart.leave([nodes[0]], at: start + .seconds(60))
    #expect(nodes.filter { apart.wasLeft($0, at: start) } == [nodes[0]])
  }
}
