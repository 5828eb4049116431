import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("A peer that asks and never takes the answers")
struct DeafPeerTests {
  private let start = Instant(nanoseconds: 1_000_000_000)
  private let link = LinkID(rawValue: 1)

  /// An engine with one association, over a link that the far side, the smaller node, has dialled.
  private func associatedEngine(_ outstanding: inout Int) throws -> SessionEngine {
    let near = try #require(PeerID(bytes: [UInt8](repeating: 9, count: PeerID.byteCount)))
    let far = try #require(PeerID(bytes: [UInt8](repeating: 1, count: PeerID.byteCount)))
    let node = NodeID(peer: near, incarnation: Incarnation(rawValue: 9))
    let nonce = [UInt8](repeating: 3, count: CodePart.byteCount)
    var engine = SessionEngine(
      identity: LocalIdentity(node: node), configuration: EngineConfiguration(scope: "test", name: "near"), seed: 1)
    var effects: [Effect] = []
    let hello = Hello(
      incarnation: Incarnation(rawValue: 1), name: "far", scope: "test", code: .commitment(nonce))
    let traits = LinkTraits(kind: .tcp, remoteAddress: "far")
    let facts: [Fact] = [
      .linkOpened(link, LinkOpening(dial: nil, peer: far, traits: traits, nonce: nonce, commitment: nonce)),
      .received(link, FrameEncoder.encode(.hello(hello))[...]),
      .received(link, FrameEncoder.encode(.codeReveal(nonce: nonce))[...]),
      .codeDerived(link, "123456"), .trustJudged(link, .known),
      .received(link, FrameEncoder.encode(.associate(AssociationID(high: 1, low: 2), received: 0))[...]),
    ]
    for fact in facts { engine.handle(fact, at: start, into: &effects) }
    engine.flush(at: start, into: &effects)
    let associations = engine.census.associations
    try #require(associations == 1)
    outstanding = transmitted(effects)
    return engine
  }

  private func transmitted(_ effects: [Effect]) -> Int {
    effects.reduce(0) { sum, effect in
      if case .transmit(link, let bytes) = effect { return sum + bytes.count }
      return sum
    }
  }

  @Test("a flood of pings fills the window and the control limit, then the link ends")
  func pingFloodEndsTheLink() throws {
    var outstanding = 0
    var engine = try associatedEngine(&outstanding)
    let configuration = EngineConfiguration(scope: "test", name: "near")
    let pings = Array(repeatElement(FrameEncoder.encode(.ping(VariableInteger.max)), count: 1_000).joined())
    var isClosed = false
    for _ in 0..<100 where !isClosed {
      var effects: [Effect] = []
      engine.handle(.received(link, pings[...]), at: start, into: &effects)
      engine.flush(at: start, into: &effects)
      outstanding += transmitted(effects)
      isClosed = effects.contains(.closeLink(link, flush: true))
      #expect(outstanding <= configuration.transmitWindow + Link.controlLimit + 2 * pings.count)
    }
    #expect(isClosed)
    let census = engine.census
    #expect(census.links == 0)
    #expect(census.associations == 0)
  }

  @Test("control frames go again once the far side has taken what was before them")
  func controlFramesGoOnceThereIsRoom() throws {
    var outstanding = 0
    var engine = try associatedEngine(&outstanding)
    let pings = Array(repeatElement(FrameEncoder.encode(.ping(VariableInteger.max)), count: 1_000).joined())
    var effects: [Effect] = []
    while engine.census.queuedBytes == 0 {
      effects = []
      engine.handle(.received(link, pings[...]), at: start, into: &effects)
      engine.flush(at: start, into: &effects)
      outstanding += transmitted(effects)
      try #require(outstanding < 10 << 20)
    }
    effects = []
    engine.handle(.transmitted(link, byteCount: outstanding), at: start, into: &effects)
    engine.flush(at: start, into: &effects)
    #expect(transmitted(effects) > 0)
    let queued = engine.census.queuedBytes
    #expect(queued == 0)
  }
}
