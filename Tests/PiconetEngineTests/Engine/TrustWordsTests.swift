import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Words of the trust judge")
struct TrustWordsTests {
  @Test("why a peer is not trusted is told to our user, and not to the peer")
  func refusalKeepsLocalWords() throws {
    let ours = try #require(PeerID(bytes: [UInt8](repeating: 9, count: PeerID.byteCount)))
    let theirs = try #require(PeerID(bytes: [UInt8](repeating: 1, count: PeerID.byteCount)))
    let nonce = [UInt8](repeating: 3, count: CodePart.byteCount)
    let start = Instant(nanoseconds: 1_000_000_000)
    let link = LinkID(rawValue: 1)
    var engine = SessionEngine(
      identity: LocalIdentity(node: NodeID(peer: ours, incarnation: Incarnation(rawValue: 9))),
      configuration: EngineConfiguration(scope: "test", name: "near"), seed: 1)
    var effects: [Effect] = []
    let hello = Hello(incarnation: Incarnation(rawValue: 1), name: "far", scope: "test", code: .commitment(nonce))
    let opening = LinkOpening(
      dial: nil, peer: theirs, traits: LinkTraits(kind: .tcp, remoteAddress: "far"), nonce: nonce, commitment: nonce)
    let facts: [Fact] = [
      .linkOpened(link, opening), .received(link, FrameEncoder.encode(.hello(hello))[...]),
      .received(link, FrameEncoder.encode(.codeReveal(nonce: nonce))[...]), .codeDerived(link, "123 456"),
      .trustJudged(link, .refused(.identity, detail: "see /home/anna/known-peers")),
    ]
    for fact in facts { engine.handle(fact, at: start, into: &effects) }
    var sent: [UInt8] = []
    for case .transmit(link, let bytes) in effects { sent += bytes }
    var decoder = FrameDecoder(frameLimit: 16_381)
    decoder.push(sent[...])
    var last: Frame?
    while let frame = try decoder.next() { last = frame }
    #expect(last == .close(.identity, detail: "this device is not trusted there"))
  }
}
