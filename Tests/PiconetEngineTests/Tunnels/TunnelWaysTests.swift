import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Ways of tunnels: their length, loops, and what becomes of them when a way changes")
struct TunnelWaysTests {
  private let id = TunnelID(rawValue: 1)

  private func isOpen(_ number: UInt64, to other: PlayedNode, _ outcome: Outcome) -> Bool {
    other.sent(outcome).contains { if case .offerTunnel = $0 { true } else { false } }
  }

  /// The member's link is lost, and it comes back over another one, with what was sent to it before.
  @discardableResult
  private func comeBack(
    _ member: PlayedNode, _ engine: TunnelEngine, over traits: LinkTraits? = nil, received: UInt64 = 2
  ) -> Outcome {
    let association = AssociationID(high: 5, low: member.link.rawValue)
    engine.side.take(.linkClosed(member.link, .failed(LinkFailure(.reset))))
    if let traits { engine.engine.one.traits = traits }
    member.open(nil, TunnelEngine.capabilities)
    return member.receive(.associate(association, received: received))
  }

  @Test("a relay opens none over more than three relays, itself among them")
  func fourthRelay() {
    for (first, second, isRefused) in [(1, 1, false), (2, 0, false), (2, 1, true), (3, 0, true), (0, 3, true)] {
      let engine = TunnelEngine(members: [])
      engine.engine.one.traits = .relayed(by: 7, count: first)
      let one = engine.join(1)
      engine.engine.one.traits = .relayed(by: 8, count: second)
      let other = engine.join(2)
      let outcome = one.receive(.openTunnel(tunnel: 0, to: other.far))
      #expect(isOpen(0, to: other, outcome) == !isRefused, "\(first) and \(second)")
      #expect(one.sent(outcome).closes == (isRefused ? [.unreachable] : []))
    }
  }

  @Test("a relay opens none to a member that it reaches over the one that asks, nor the other way round")
  func backwards() {
    let engine = TunnelEngine(members: [1])
    engine.engine.one.traits = .relayed(by: 1, count: 1)
    let behind = engine.join(2)
    let one = engine.members[0]
    #expect(one.sent(one.receive(.openTunnel(tunnel: 0, to: behind.far))).closes == [.unreachable])
    #expect(behind.sent(behind.receive(.openTunnel(tunnel: 0, to: one.far))).closes == [.unreachable])
  }

  @Test("an end asks for none over a relay that it reaches over three others, or over the wanted node itself")
  func ofOurOwn() {
    let engine = TunnelEngine(members: [3], relays: false)
    engine.engine.one.traits = .relayed(by: 3, count: 3)
    let far = engine.join(1)
    engine.engine.one.traits = .relayed(by: 3, count: 1)
    let near = engine.join(2)
    for (relay, wanted) in [(far, node(20)), (near, node(3))] {
      let outcome = engine.side.take(.tunnelWanted(id, over: relay.far, to: wanted))
      #expect(relay.sent(outcome).isEmpty && outcome.tunnelFailures.map(\.code) == [.unreachable])
    }
    // Nor is the way looked for there: of the three, one is near enough and leads elsewhere.
    let addresses = engine.side.engine.associations.relayAddresses(of: node(20))
    #expect(addresses == [node(2), node(3)].map { TransportAddress(to: node(20), over: $0) })
    #expect(engine.side.engine.associations.relayAddresses(of: node(3)).isEmpty)
  }

  @Test("an end takes none from the node over which it reaches the relay")
  func loop() {
    let engine = TunnelEngine(members: [3], relays: false)
    engine.engine.one.traits = .relayed(by: 3, count: 1)
    let relay = engine.join(1)
    let outcome = relay.receive(.offerTunnel(tunnel: 6, from: node(3), relays: 2))
    #expect(relay.sent(outcome).closes == [.notAvailable])
  }

  @Test("the way to one of two members that are reached over each other has an end")
  func ring() {
    let engine = TunnelEngine(members: [], relays: false)
    engine.engine.one.traits = .relayed(by: 2, count: 1)
    engine.join(1)
    engine.engine.one.traits = .relayed(by: 1, count: 1)
    engine.join(2)
    #expect(engine.side.engine.associations.relays(to: node(1)).count == Int(WireLimits.relays) + 1)
  }

  @Test(
    "an end's tunnel goes on over another link that is as near, and ends over one with more relays", arguments: [0, 1])
  func deeper(more: Int) {
    let engine = TunnelEngine(members: [], relays: false)
    engine.engine.one.traits = .relayed(by: 7, count: 1)
    let relay = engine.join(1)
    engine.side.take(.tunnelWanted(id, over: relay.far, to: node(3)))
    relay.receive(.tunnelOpened(tunnel: 1, relays: 2))
    let outcome = comeBack(relay, engine, over: .relayed(by: 7, count: 1 + more))
    #expect(outcome.tunnelFailures.map(\.code) == (more == 0 ? [] : [.unreachable]))
    #expect(relay.sent(outcome).closes == (more == 0 ? [] : [.unreachable]))
  }

  @Test("a relay closes both halves where its way to one end has become longer", arguments: [0, 1])
  func deeperAtRelay(changed: Int) throws {
    let engine = TunnelEngine(members: [1, 2])
    try #require(engine.relay() != nil)
    let (moved, other) = (engine.members[changed], engine.members[1 - changed])
    let outcome = comeBack(moved, engine, over: .relayed(by: 7, count: 1))
    #expect(moved.sent(outcome).closes == [.unreachable] && other.sent(outcome).closes == [.unreachable])
    #expect(engine.side.engine.relayed.isEmpty)
  }

  @Test("a relayed tunnel outlives the links under it, of either end, without a byte lost or twice", arguments: [0, 1])
  func outlives(lost: Int) throws {
    let engine = TunnelEngine(members: [1, 2])
    let number = try #require(engine.relay())
    let numbers: [UInt64] = [0, number]
    let (gone, other) = (engine.members[lost], engine.members[1 - lost])
    // What has gone and was not acknowledged, and what comes while there is no link.
    let before = other.receive(.tunnelData(tunnel: numbers[1 - lost], [1, 2, 3]))
    #expect(gone.sent(before).tunnelled == [1, 2, 3])
    let association = AssociationID(high: 5, low: gone.link.rawValue)
    engine.side.take(.linkClosed(gone.link, .failed(LinkFailure(.reset))))
    #expect(gone.sent(other.receive(.tunnelData(tunnel: numbers[1 - lost], [4]))).isEmpty)
    gone.open(nil, TunnelEngine.capabilities)
    let resumed = gone.receive(.associate(association, received: 2))
    #expect(gone.sent(resumed).tunnelled == [1, 2, 3, 4])
    #expect(other.sent(resumed).closes.isEmpty)
    let back = gone.receive(.tunnelData(tunnel: numbers[lost], [5]))
    #expect(other.sent(back) == [.tunnelData(tunnel: numbers[1 - lost], [5])])
    let more = other.receive(.tunnelData(tunnel: numbers[1 - lost], [6]))
    #expect(gone.sent(more).tunnelled == [6])
  }
}

extension LinkTraits {
  /// Of a link over so many relays; over none it is one of a transport.
  fileprivate static func relayed(by relay: UInt8, count: Int) -> LinkTraits {
    if count == 0 { return someTraits }
    return TunnelRoute(remote: node(99), relays: [node(relay)], relayCount: count).traits
  }
}

extension Outcome {
  fileprivate var tunnelFailures: [LinkFailure] {
    effects.compactMap { if case .tunnelEnded(_, let failure) = $0 { failure } else { nil } }
  }
}
