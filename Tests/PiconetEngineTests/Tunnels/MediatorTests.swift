import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Who is asked for a way to a member that is lost")
struct MediatorTests {
  /// The addresses at which the engine looks for a member that is lost.
  private func looksFor(_ lost: PlayedNode, _ engine: TunnelEngine) -> [String] {
    var outcome = engine.side.take(.linkClosed(lost.link, .failed(LinkFailure(.reset))))
    for _ in 0..<10 {
      guard let deadline = engine.side.nextDeadline, outcome.dials.isEmpty else { break }
      outcome += engine.side.wait(deadline - engine.side.now)
    }
    return outcome.dials.flatMap(\.addresses)
  }

  private func way(over relay: UInt8) -> String { TransportAddress(to: node(20), over: node(relay)).text }

  @Test("no member that has had nothing to do with it, though it says that it relays")
  func strangers() {
    let engine = TunnelEngine(members: [1, 2, 20], relays: false)
    #expect(looksFor(engine.members[2], engine).isEmpty)
  }

  @Test("those that introduce it, before it is a member or after that")
  func introducers() {
    let engine = TunnelEngine(members: [1, 2, 3, 20], relays: false)
    engine.members[1].introduces(node(20))
    #expect(looksFor(engine.members[3], engine) == [way(over: 2)])

    let other = TunnelEngine(members: [1, 2, 3], relays: false)
    let silent = TunnelEngine(members: [3], relays: false)
    #expect(silent.engine.accept(node(20), by: silent.members[0], at: []).dials.isEmpty)
    let dial = other.engine.accept(node(20), by: other.members[2], at: [.overIntroducer]).dials.first
    #expect(dial?.addresses == [way(over: 3)])
    let played = other.engine.played(node(20))
    played.associate(dial?.id, TunnelEngine.capabilities)
    played.crosses()
    #expect(other.side.members.contains(node(20)))
    #expect(looksFor(played, other) == [way(over: 3)])
  }

  @Test("those that have relayed a link to it, the last sixteen")
  func relays() {
    var addresses = PeerAddresses(linkedOver: LinkTraits.relayed(by: 0), transports: [.relay])
    for relay in 1...16 as ClosedRange<UInt8> { addresses.linked(over: .relayed(by: relay)) }
    addresses.linked(over: .relayed(by: 5))
    #expect(addresses.mediators == ((1...4).map(node) + (6...16).map(node) + [node(5)]))
  }

  @Test("in a group, all that relay: they know of one another")
  func group() {
    let engine = TunnelEngine(members: [1, 2, 20], relays: false) { $0.membership = .group }
    // One after the other.
    #expect(looksFor(engine.members[2], engine) == [way(over: 1)])
  }
}

extension LinkTraits {
  fileprivate static func relayed(by relay: UInt8) -> LinkTraits {
    TunnelRoute(remote: node(20), relays: [node(relay)], relayCount: 1).traits
  }
}
