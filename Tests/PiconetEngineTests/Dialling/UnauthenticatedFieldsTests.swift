import PiconetWire
import Testing

@testable import PiconetEngine

/// Whatever a sighting says, an invitation reaches the key that it is for, at the place where that key is.
@Suite("Fields of sightings that any device can forge")
struct UnauthenticatedFieldsTests {
  private let here = tcp("here")

  /// What a stranger forges in a sighting of the peer, which is at `here`.
  enum Field: String, CaseIterable {
    case incarnation, name, info, address, manyAddresses, port, bluetooth, thousands, earlier, veiledName
  }

  /// How the places behave where the peer is not.
  enum Place: CaseIterable { case silent, resets, refuses, hasAnotherKey }

  private static let own = NodeID(peer: peer(1), incarnation: Incarnation(rawValue: 1))

  private func sighting(
    _ incarnation: UInt64, at addresses: [TransportAddress], from origin: String, name: String = "far"
  ) -> Sighting {
    var sighting = Sighting(
      peer: Self.own.peer, incarnation: Incarnation(rawValue: incarnation), name: name, info: [:], addresses: addresses)
    for address in addresses { sighting.origins[address] = origin }
    return sighting
  }

  private func honest(_ more: [TransportAddress] = []) -> Sighting { sighting(1, at: [here] + more, from: "own") }

  /// The sightings in the order in which they come, and the node that a program chooses then.
  private func scene(_ field: Field) -> (sightings: [Sighting], chosen: NodeID) {
    let spoof = tcp("spoof")
    let other = NodeID(peer: Self.own.peer, incarnation: Incarnation(rawValue: 2))
    switch field {
    case .incarnation: return ([honest(), sighting(2, at: [spoof], from: "spoof")], other)
    case .earlier: return ([sighting(2, at: [spoof], from: "spoof"), honest()], other)
    case .name: return ([honest(), sighting(2, at: [spoof], from: "spoof", name: "another")], other)
    case .veiledName: return ([honest(), sighting(2, at: [spoof], from: "spoof", name: "")], other)
    case .info:
      var marked = sighting(2, at: [spoof], from: "spoof")
      marked.info = ["role": "relay"]
      return ([honest(), marked], other)
    case .address: return ([sighting(1, at: [spoof, here], from: "spoof")], Self.own)
    case .manyAddresses:
      return ([sighting(1, at: (1...15).map { tcp("spoof \($0)") } + [here], from: "spoof")], Self.own)
    case .port: return ([honest(), sighting(2, at: (1...16).map { tcp("spoof:\($0)") }, from: "spoof")], other)
    case .bluetooth:
      return ([honest(), sighting(2, at: [TransportAddress(kind: .l2cap, text: "spoof/1")], from: "spoof")], other)
    case .thousands:
      return (
        [honest()] + (2..<1_000).map { sighting($0, at: [tcp("spoof:\($0)")], from: "spoof") },
        NodeID(peer: Self.own.peer, incarnation: Incarnation(rawValue: 500))
      )
    }
  }

  private func dials(_ outcome: Outcome) -> [(id: DialID, kind: TransportKind, addresses: [TransportAddress])] {
    outcome.effects.compactMap {
      if case .dial(let id, let kind, let addresses) = $0 { (id, kind, addresses) } else { nil }
    }
  }

  /// Plays the places until the peer is dialled where it is.
  /// - Returns: that dial, and how long it took.
  private func dialOfOwn(
    _ side: Side, _ first: Outcome, _ place: Place
  ) -> (dial: DialID, after: Duration)? {
    let start = side.now
    var waiting = dials(first)
    var links: UInt64 = 100
    while side.now - start < .seconds(2) {
      while !waiting.isEmpty {
        let dial = waiting.removeFirst()
        if dial.addresses.contains(here) { return (dial.id, side.now - start) }
        let text = dial.addresses[0].text
        switch place {
        case .silent: break
        case .resets: waiting += dials(side.take(.dialFailed(dial.id, LinkFailure(.reset, "\(text): gone"), at: text)))
        case .refuses: waiting += dials(side.take(.dialFailed(dial.id, LinkFailure(.refused))))
        case .hasAnotherKey:
          links += 1
          let opening = LinkOpening(
            dial: dial.id, peer: peer(77), traits: LinkTraits(kind: dial.kind, remoteAddress: text))
          waiting += dials(side.take(.linkOpened(LinkID(rawValue: links), opening)))
        }
      }
      waiting += dials(side.wait(.milliseconds(10)))
    }
    return nil
  }

  @Test("none diverts an invitation, or delays it by a second", arguments: Field.allCases, Place.allCases)
  func reached(field: Field, place: Place) throws {
    for seed in 1...50 as ClosedRange<UInt64> {
      let side = Side(node(9), configuration { $0.transports = [.tcp, .l2cap] }, seed: seed)
      let (sightings, chosen) = scene(field)
      side.take(sightings.map { .discoveryReported(source: "test", .seen($0)) })
      let first = side.command(.invite(.node(chosen), context: [], timeout: .seconds(30)), id: 1)
      let own = try #require(dialOfOwn(side, first, place), "seed \(seed)")
      #expect(own.after < .seconds(1), "seed \(seed)")
      // The peer answers there, with its own incarnation, and accepts.
      let link = LinkID(rawValue: 1)
      let traits = LinkTraits(kind: .tcp, remoteAddress: here.text)
      side.take(.linkOpened(link, LinkOpening(dial: own.dial, peer: Self.own.peer, traits: traits)))
      let frames: [Frame] = [
        .hello(Hello(incarnation: Self.own.incarnation, name: "far", sessionID: "test")),
        .associate(AssociationID(high: 1, low: 2), received: 0),
      ]
      let outcome = side.take(.received(link, frames.flatMap { FrameEncoder.encode($0) }[...]))
      #expect(outcome.frames.contains { if case .invite = $0 { true } else { false } }, "\(outcome.effects)")
    }
  }

  @Test(
    "a host that passes the handshake on and then stalls, or cuts the link, does not win the next search",
    arguments: [true, false])
  func passesHandshakes(isCut: Bool) throws {
    let side = Side(node(9), configuration { $0.transports = [.tcp] })
    let spoof = tcp("spoof")
    side.take(.discoveryReported(source: "test", .seen(sighting(1, at: [spoof, here], from: "spoof"))))
    let first = try #require(
      dials(side.command(.invite(.node(Self.own), context: [], timeout: .seconds(60)), id: 1)).first)
    #expect(first.addresses.first == spoof)
    let link = LinkID(rawValue: 1)
    let traits = LinkTraits(kind: .tcp, remoteAddress: spoof.text)
    side.take(.linkOpened(link, LinkOpening(dial: first.id, peer: Self.own.peer, traits: traits)))
    var hello = Hello(incarnation: Self.own.incarnation, name: "far", sessionID: "test")
    hello.capabilities = .resume
    let frames: [Frame] = [.hello(hello), .associate(AssociationID(high: 1, low: 2), received: 0)]
    side.take(.received(link, frames.flatMap { FrameEncoder.encode($0) }[...]))
    var again = isCut ? dials(side.take(.linkClosed(link, .ended))) : []
    for _ in 0..<40 where again.isEmpty { again += dials(side.wait(.milliseconds(500))) }
    #expect(again.first?.addresses.first == here)
  }

  @Test("the wanted node is taken where it answers, although other nodes of its key are in sight")
  func wantedFirst() {
    let side = Side(node(9), configuration { $0.transports = [.tcp] })
    for sighting in [honest(), sighting(2, at: [tcp("sibling")], from: "own")] {
      side.take(.discoveryReported(source: "test", .seen(sighting)))
    }
    let first = side.command(.invite(.node(Self.own), context: [], timeout: .seconds(30)), id: 1)
    #expect(dials(first).map(\.addresses) == [[here]])
    #expect(dials(side.wait(.milliseconds(399))).isEmpty)
  }

  @Test("another node of the key that comes in sight meanwhile is dialled as well; one that is introduced is not")
  func learnedMeanwhile() {
    let side = Side(node(9), configuration { $0.transports = [.tcp] })
    side.take(.discoveryReported(source: "test", .seen(sighting(2, at: [tcp("spoof")], from: "spoof"))))
    let chosen = NodeID(peer: Self.own.peer, incarnation: Incarnation(rawValue: 2))
    side.command(.invite(.node(chosen), context: [], timeout: .seconds(30)), id: 1)
    side.wait(.seconds(1))
    let outcome = side.take(.discoveryReported(source: "test", .seen(honest())))
    #expect(dials(outcome).map(\.addresses) == [[here]])
  }

  @Test("an address that refuses before the peer is heard itself ends no attempt in the first second")
  func refusalsBeforeThePeer() throws {
    let side = Side(node(9), configuration { $0.transports = [.tcp] })
    side.take(.discoveryReported(source: "test", .seen(sighting(2, at: [tcp("spoof")], from: "spoof"))))
    let chosen = NodeID(peer: Self.own.peer, incarnation: Incarnation(rawValue: 2))
    let first = side.command(.invite(.node(chosen), context: [], timeout: .seconds(30)), id: 1)
    let dial = try #require(dials(first).first)
    let refused = side.take(.dialFailed(dial.id, LinkFailure(.refused)))
    #expect(refused.replies(to: 1).isEmpty)
    #expect(side.wait(.milliseconds(900)).replies(to: 1).isEmpty)
    let outcome = side.take(.discoveryReported(source: "test", .seen(honest())))
    #expect(dials(outcome).map(\.addresses) == [[here]])
  }

  @Test("the attempt is over after that second if nothing else is heard")
  func refusalsAlone() throws {
    let side = Side(node(9), configuration { $0.transports = [.tcp] })
    side.take(.discoveryReported(source: "test", .seen(honest())))
    let first = side.command(.invite(.node(Self.own), context: [], timeout: .seconds(30)), id: 1)
    side.take(.dialFailed(try #require(dials(first).first).id, LinkFailure(.refused)))
    #expect(side.wait(.milliseconds(999)).replies(to: 1).isEmpty)
    #expect(side.wait(.milliseconds(1)).replies(to: 1).count == 1)
  }
}
