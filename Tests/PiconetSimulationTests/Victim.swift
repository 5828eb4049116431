import PiconetEngine
import PiconetWire

/// One honest engine with a person in front of it. All its links lead to the attacker in the middle.
final class Victim {
  let node: NodeID
  private var engine: SessionEngine
  private let judgement: TrustJudgement
  private var dice: SeededRandom
  /// The middleman's keys and addresses, by link.
  private var links: [LinkID: (far: NodeID, decoder: FrameDecoder)] = [:]
  private var nextLink: UInt64 = 1
  private var nextCommand: UInt64 = 1
  var now = Instant(nanoseconds: 1_000_000_000_000)

  /// What it has said on each link and the middleman has not read yet.
  private(set) var said: [LinkID: [Frame]] = [:]
  /// Nonces that have left it: each gives the middleman one try.
  private(set) var noncesGiven = 0
  private(set) var noncesDrawn = 0
  /// Questions that were on its screen, and invitations of its person.
  private(set) var questions = 0
  /// The code on the screen, and its peer.
  private(set) var screen: (far: NodeID, code: String)?
  private var asked: NodeID?
  private var confirming: NodeID?
  private(set) var members: Set<NodeID> = []
  /// How many codes there are.
  let codeCount: UInt64

  init(_ byte: UInt8, judgement: TrustJudgement, seed: UInt64, codeCount: UInt64) {
    let peer = PeerID(bytes: [UInt8](repeating: byte, count: PeerID.byteCount))!
    node = NodeID(peer: peer, incarnation: Incarnation(rawValue: UInt64(byte)))
    self.judgement = judgement
    self.codeCount = codeCount
    dice = SeededRandom(seed: seed)
    var configuration = EngineConfiguration(sessionID: "s", name: "victim")
    configuration.openInvitations = 1
    engine = SessionEngine(identity: LocalIdentity(node: node), configuration: configuration, seed: seed)
  }

  // MARK: Links

  /// The middleman dials, with this key from this address.
  func accept(_ far: NodeID, from address: String) -> LinkID {
    let link = LinkID(rawValue: nextLink)
    nextLink += 1
    links[link] = (far, FrameDecoder(frameLimit: WireLimits.largestFrame))
    let traits = LinkTraits(kind: .tcp, remoteAddress: address)
    take([.linkOpened(link, LinkOpening(dial: nil, peer: far.peer, traits: traits))])
    receive(.hello(Hello(incarnation: far.incarnation, name: "somebody", sessionID: "s")), on: link)
    if far < node {
      receive(.associate(AssociationID(high: 7, low: link.rawValue), received: 0), on: link)
    } else {
      receive(.associated(received: 0, begun: 1), on: link)
    }
    return link
  }

  func receive(_ frame: Frame, on link: LinkID) {
    guard links[link] != nil else { return }
    take([.received(link, FrameEncoder.encode(frame)[...])])
  }

  func cut(_ link: LinkID) {
    if links.removeValue(forKey: link) != nil { take([.linkClosed(link, .ended)]) }
  }

  /// What it has said since the last reading.
  func read(_ link: LinkID) -> [Frame] { said.removeValue(forKey: link) ?? [] }

  // MARK: The person

  /// The person wants to send something to the peer that the middleman plays.
  func invite(_ far: NodeID) {
    questions += 1
    command(.invite(.node(far), context: [], timeout: .seconds(20)))
  }

  /// The person has looked at both screens.
  func answer(isSame: Bool) {
    guard let screen else { return }
    self.screen = nil
    if asked == screen.far { command(.answerInvitation(screen.far, accept: isSame, .codeMismatch)) }
    if confirming == screen.far { command(.confirm(screen.far, isSame, .codeMismatch)) }
  }

  func wait(_ duration: Duration) {
    let end = now + duration
    while let next = engine.nextDeadline, next <= end {
      now = max(now, next)
      take([.deadlineReached])
      if let again = engine.nextDeadline, again <= now { break }
    }
    now = max(now, end)
  }

  private func command(_ command: Command) {
    nextCommand += 1
    take([.commanded(CommandID(rawValue: nextCommand), command)])
  }

  // MARK: The driver

  private func take(_ facts: [Fact]) {
    var waiting = facts
    repeat {
      var effects: [Effect] = []
      for fact in waiting { engine.handle(fact, at: now, into: &effects) }
      engine.flush(at: now, into: &effects)
      waiting = []
      for effect in effects { perform(effect, &waiting) }
    } while !waiting.isEmpty
  }

  private func perform(_ effect: Effect, _ facts: inout [Fact]) {
    switch effect {
    case .transmit(let link, let bytes):
      facts.append(.transmitted(link, byteCount: bytes.count))
      guard links[link] != nil else { return }
      links[link]?.decoder.push(bytes)
      while let frame = try? links[link]?.decoder.next() {
        switch frame {
        case .codeNonce, .codeReveal: noncesGiven += 1
        case .ping(let token): facts.append(.received(link, FrameEncoder.encode(.pong(token))[...]))
        default: break
        }
        said[link, default: []].append(frame)
      }
    case .closeLink(let link, _): links[link] = nil
    case .judgeTrust(let link, _, _, _): facts.append(.trustJudged(link, judgement))
    case .drawNonce(let id):
      noncesDrawn += 1
      let nonce = Codes.nonce(&dice)
      facts.append(.nonceDrawn(id, CodeNonce(bytes: nonce, commitment: Codes.hash(nonce))))
    case .deriveCode(let id, let link, let inputs):
      let isRevealed = Codes.hash(inputs.inviterNonce) == inputs.commitment
      facts.append(
        .codeDerived(id, isRevealed ? Codes.code(inputs, channel: (node, link), of: codeCount) : nil))
    case .deliver(let event): happened(event, &facts)
    case .reply(_, .code(let code)): if let asked { screen = (asked, code) }
    default: break
    }
  }

  private func happened(_ event: Event, _ facts: inout [Fact]) {
    switch event {
    case .invitationReceived(let peer, _, _, _):
      // The question is on the screen at once.
      questions += 1
      asked = peer.node
      nextCommand += 1
      facts.append(.commanded(CommandID(rawValue: nextCommand), .showCode(peer.node)))
    case .invitationEnded(let far, _): if asked == far { (asked, screen) = (nil, nil) }
    case .codeShown(_, let peer, let code): screen = (peer.node, code)
    case .confirmationNeeded(let peer, let code):
      confirming = peer.node
      screen = (peer.node, code)
    case .connected(let peer): members.insert(peer.node)
    case .disconnected(let far, _): members.remove(far)
    default: break
    }
  }
}

/// Stands for SHA-256 and for a channel's exported key. Every node may compute them, as in the real world, and none in
/// these tests can invert them.
enum Codes {
  static func nonce(_ dice: inout SeededRandom) -> [UInt8] {
    (0..<4).flatMap { _ in
      let word = dice.next()
      return (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) }
    }
  }

  static func hash(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    for lane: UInt64 in 0..<4 {
      var state = 0x9E37_79B9_7F4A_7C15 &* (lane + 1)
      for byte in bytes {
        state = (state ^ UInt64(byte)) &* 0xFF51_AFD7_ED55_8CCD
        state ^= state >> 31
      }
      for shift: UInt64 in [0, 8, 16, 24, 32, 40, 48, 56] { result.append(UInt8(truncatingIfNeeded: state >> shift)) }
    }
    return result
  }

  static func code(_ inputs: CodeInputs, channel: (NodeID, LinkID), of count: UInt64) -> String {
    let exported = hash(channel.0.peer.bytes + [UInt8(truncatingIfNeeded: channel.1.rawValue)])
    let digest = hash(
      exported + inputs.inviter.bytes + inputs.invited.bytes + inputs.inviterNonce + inputs.invitedNonce)
    return "\(digest.prefix(7).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % count)"
  }
}
