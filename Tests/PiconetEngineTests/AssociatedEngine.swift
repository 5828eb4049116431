import PiconetWire
import Testing

@testable import PiconetEngine

/// An engine with an association to one remote side, which is the smaller node and is played by the test.
final class AssociatedEngine {
  var now = Instant(nanoseconds: 1_000_000_000)
  let link = LinkID(rawValue: 1)
  let far: NodeID
  private var engine: SessionEngine
  private(set) var effects: [Effect] = []
  private var nextCommand: UInt64 = 1

  init(
    _ configuration: EngineConfiguration = EngineConfiguration(sessionID: "test", name: "near"),
    limits: PeerLimits = PeerLimits(), capabilities: Capabilities = []
  ) throws {
    let near = try #require(PeerID(bytes: [UInt8](repeating: 9, count: PeerID.byteCount)))
    let peer = try #require(PeerID(bytes: [UInt8](repeating: 1, count: PeerID.byteCount)))
    far = NodeID(peer: peer, incarnation: Incarnation(rawValue: 1))
    engine = SessionEngine(
      identity: LocalIdentity(node: NodeID(peer: near, incarnation: Incarnation(rawValue: 9))),
      configuration: configuration, seed: 1)
    try associate(link, far, limits, capabilities)
  }

  /// Plays a whole handshake, including the association.
  func associate(
    _ link: LinkID, _ far: NodeID, _ limits: PeerLimits = PeerLimits(), _ capabilities: Capabilities = []
  ) throws {
    let hello = Hello(
      incarnation: far.incarnation, name: "far", sessionID: "test", capabilities: capabilities, limits: limits)
    let traits = LinkTraits(kind: .tcp, remoteAddress: "far")
    take(.linkOpened(link, LinkOpening(dial: nil, peer: far.peer, traits: traits)))
    receive(.hello(hello), on: link)
    take(.trustJudged(link, .known))
    let before = engine.census.associations
    receive(.associate(AssociationID(high: 1, low: link.rawValue), received: 0), on: link)
    try #require(engine.census.associations == before + 1)
  }

  /// The remote side invites us, we accept, and it admits us. It sends two sequenced frames, and we send one.
  func becomeMember() throws {
    receive(.invite(Invite(timeout: 30_000, commitment: someCommitment)))
    _ = command(.answerInvitation(far, accept: true, .declined))
    receive(.admit)
    try #require(engine.census.members == 1)
  }

  /// Hands one fact over and flushes; `effects` are then those of this fact.
  func take(_ fact: Fact) {
    effects = []
    engine.handle(fact, at: now, into: &effects)
    for case .drawNonce(let id) in effects {
      let nonce = CodeNonce(bytes: someNonce, commitment: someCommitment)
      engine.handle(.nonceDrawn(id, nonce), at: now, into: &effects)
    }
    engine.flush(at: now, into: &effects)
  }

  func receive(_ frames: Frame..., on link: LinkID? = nil) {
    take(.received(link ?? self.link, frames.flatMap { FrameEncoder.encode($0) }[...]))
  }

  func command(_ command: Command) -> CommandID {
    let id = CommandID(rawValue: nextCommand)
    nextCommand += 1
    take(.commanded(id, command))
    return id
  }

  var census: EngineCensus { engine.census }
  var nextDeadline: Instant? { engine.nextDeadline }

  var transmittedCount: Int {
    effects.reduce(0) { sum, effect in
      if case .transmit(_, let bytes) = effect { return sum + bytes.count }
      return sum
    }
  }

  /// The frames of the last fact's effects.
  func transmittedFrames() throws -> [Frame] {
    var frames: [Frame] = []
    for case .transmit(_, let bytes) in effects {
      var decoder = FrameDecoder(frameLimit: WireLimits.largestFrame)
      decoder.push(bytes)
      while let frame = try decoder.next() { frames.append(frame) }
    }
    return frames
  }
}
