import PiconetEngine
import PiconetWire

/// One engine between an honest peer, which is an engine as well, and hostile ones, whose frames a fuzzer chooses. The
/// fuzzer also chooses the times, the commands, the behaviour of the disks, and the answers of the trust judge.
///
/// Invariants: no trap occurs, every table stays within its limit, and nothing ends without a reply. The honest peer
/// stays connected, and its messages and files arrive as they were sent, whatever the others do.
final class EngineFuzz {
  /// A link from the engine to a hostile peer.
  struct HostileLink {
    let id: LinkID
    let peer: Int
    /// Whether the driver reports bytes that the kernel has taken only on demand.
    var isSlow = false
    var outstanding = 0
    /// The decoder of frames that the engine has sent.
    var decoder = FrameDecoder(frameLimit: WireLimits.largestFrame)
  }

  var input: FuzzInput
  var engine: SessionEngine
  let node: NodeID
  let honest: HonestPeer
  var now = Instant(nanoseconds: 1_000_000_000)
  var effects: [Effect] = []
  var finding: String?

  var links: [LinkID: HostileLink] = [:]
  var nextLink: UInt64 = 100
  var dials: [DialID] = []
  var nextCommand: UInt64 = 1
  var pending: Set<CommandID> = []
  var nextTransfer: UInt64 = 1
  var sources: Set<TransferID> = []
  var stores: Set<TransferID> = []
  var nextStream: UInt64 = 1
  /// Bytes that were written to streams and not taken, and bytes that came in on others' streams and were not read.
  var streamQueued: [StreamID: Int] = [:]
  var streamUnread: [StreamID: Int] = [:]
  /// Requests to sources and stores that have no answer yet.
  var asked: [Effect] = []
  /// Names of associations and members that frames of other peers have used.
  var associations: [AssociationID] = []
  var members: Set<NodeID> = []
  var tunnels: [TunnelID] = []
  var nextTunnel: UInt64 = 1
  var isFinished = false

  static let configuration: EngineConfiguration = {
    var configuration = EngineConfiguration(sessionID: "fuzz", name: "engine")
    configuration.capacity = 5
    configuration.comparesCodes = true
    configuration.removals = .members
    configuration.messageLimit = 4_096
    configuration.messageWindow = 16_384
    configuration.frameLimit = 1_024
    configuration.transferLimit = 3
    configuration.transferWindow = 8_192
    configuration.transferMemory = 32_768
    configuration.smallestTransferWindow = 2_048
    configuration.readSize = 4_096
    configuration.transmitWindow = 8_192
    configuration.handshakeLimit = 4
    configuration.associationLimit = 6
    configuration.sightingLimit = 8
    configuration.transports.append(.relay)
    var relaying = RelayQuotas()
    relaying.tunnels = 4
    relaying.memberRate = 20_000
    configuration.relaying = relaying
    return configuration
  }()
  static let hostileCount = 4
  static let linkLimit = 16

  init(_ bytes: some Collection<UInt8>) {
    var input = FuzzInput(bytes)
    // The honest peer has the smaller or the larger id.
    let isSmaller = input.isTrue()
    node = Self.node(isSmaller ? 60 : 40)
    engine = SessionEngine(identity: LocalIdentity(node: node), configuration: Self.configuration, seed: 1)
    honest = HonestPeer(node: Self.node(50), configuration: Self.configuration)
    self.input = input
  }

  /// Returns a node. Two of the hostile peers have smaller ids than all other nodes, and two have larger ones.
  static func node(_ number: UInt8) -> NodeID { nodes[Int(number)] }
  static func hostileNode(_ index: Int) -> NodeID { hostileNodes[index % hostileCount] }

  private static let nodes: [NodeID] = (0...UInt8.max).map { number in
    let bytes = [UInt8](repeating: number, count: PeerID.byteCount)
    guard let peer = PeerID(bytes: bytes) else { preconditionFailure("an id has \(PeerID.byteCount) bytes") }
    return NodeID(peer: peer, incarnation: Incarnation(rawValue: UInt64(number)))
  }
  private static let hostileNodes = [nodes[10], nodes[20], nodes[80], nodes[90]]

  func run() -> String? {
    connectHonestPeer()
    if !honest.isMember { broken("the honest peer can't connect") }
    var steps = 0
    while !input.isAtEnd, finding == nil, steps < 400 {
      step()
      settle()
      check()
      steps += 1
    }
    if finding == nil { end() }
    return finding
  }

  func broken(_ text: @autoclosure () -> String) { if finding == nil { finding = text() } }

  // MARK: The driver

  func take(_ fact: Fact) {
    let start = effects.count
    engine.handle(fact, at: now, into: &effects)
    var bearable = 64 + 8 * (pending.count + links.count + stores.count + sources.count)
    if case .received(_, let bytes) = fact { bearable += 2 * bytes.count }
    if effects.count - start > bearable { broken("\(effects.count - start) effects of \(fact)") }
  }

  @discardableResult
  func command(_ command: Command) -> CommandID {
    let id = CommandID(rawValue: nextCommand)
    nextCommand += 1
    pending.insert(id)
    take(.commanded(id, command))
    return id
  }

  /// Performs effects until none are left, and lets the honest peer act.
  func settle() {
    var rounds = 0
    engine.flush(at: now, into: &effects)
    repeat {
      let batch = effects
      effects.removeAll(keepingCapacity: true)
      for effect in batch { perform(effect) }
      exchangeWithHonestPeer()
      engine.flush(at: now, into: &effects)
      rounds += 1
      if rounds > 500 { return broken("it does not come to rest") }
    } while !effects.isEmpty
  }

  private func perform(_ effect: Effect) {
    switch effect {
    case .transmit(let link, let bytes): transmit(bytes, on: link)
    case .dial(let dial, _, _): dials.append(dial)
    case .cancelDial(let dial):
      guard let index = dials.firstIndex(of: dial) else { return }
      dials.remove(at: index)
      take(.dialFailed(dial, LinkFailure(.cancelled)))
    case .closeLink(let link, _):
      links[link] = nil
      if link == HonestPeer.link { broken("the link of the honest peer is closed") }
    case .judgeTrust(let link, let node, _, _):
      let judgements: [TrustJudgement] = [.known, .new, .ask, .refused(.identity, detail: "no")]
      take(.trustJudged(link, node == honest.node ? .known : judgements[input.number(below: 16) & 3 & ~1]))
    case .drawNonce(let id): take(.nonceDrawn(id, Self.someNonce))
    case .deriveCode(let id, _, _): take(.codeDerived(id, input.number(below: 16) == 0 ? nil : "123456"))
    case .proveCode(let id, let step): if let finding = find(step) { take(.codeProven(id, finding)) }
    case .readChunks(let id, _, _, _, _), .finishSource(let id):
      if sources.contains(id) { asked.append(effect) } else { broken("reads a source that is closed") }
    case .closeSource(let id):
      if sources.remove(id) == nil { broken("closes a source twice") }
      asked.removeAll { Self.transfer(of: $0) == id }
    case .storeChunk(let id, _), .commitStore(let id, _, _):
      if stores.contains(id) { asked.append(effect) } else { broken("stores without a store") }
    case .discardStore(let id), .keepStore(let id):
      stores.remove(id)
      asked.removeAll { Self.transfer(of: $0) == id }
    case .reply(let id, let reply): replied(id, reply)
    case .deliver(let event): delivered(event)
    case .finished: isFinished = true
    case .streamTaken(let stream, let count):
      streamQueued[stream, default: 0] -= count
      if streamQueued[stream, default: 0] < 0 { broken("takes more of a stream than was written") }
    case .tunnelOpened, .tunnelOffered, .tunnelReceived, .tunnelTaken, .tunnelPassedOn,
      .tunnelEnded:
      tunnelled(effect)
    case .messagesTaken, .chunkRepeated: break
    }
  }

  /// Handles an effect about a tunnel. Tunnels may bring any bytes, which are consumed at once or never.
  private func tunnelled(_ effect: Effect) {
    switch effect {
    case .tunnelOpened(let id, _), .tunnelOffered(let id, _): if tunnels.count < 64 { tunnels.append(id) }
    case .tunnelReceived(let id, let bytes):
      if input.isTrue() { take(.tunnelConsumed(id, byteCount: bytes.count)) }
    case .tunnelEnded(let id, _): tunnels.removeAll { $0 == id }
    default: break
    }
  }

  /// Returns the finding of a proof step. A hostile peer may or may not know the code.
  private func find(_ step: TypedCodeStep) -> TypedCodeFinding? {
    let share = [UInt8](repeating: 4, count: InviteByCode.shareCount)
    let confirmation = [UInt8](repeating: 5, count: InviteByCode.confirmationCount)
    let isRight = input.isTrue()
    switch step {
    case .share: return .share(share)
    case .answer: return isRight ? .answer(share: share, confirmation: confirmation) : .unfit
    case .check: return isRight ? .confirmed(confirmation) : .wrong
    case .confirm: return isRight ? .right : .wrong
    case .end: return nil
    }
  }

  static func transfer(of effect: Effect) -> TransferID? {
    switch effect {
    case .readChunks(let id, _, _, _, _), .finishSource(let id), .storeChunk(let id, _), .commitStore(let id, _, _): id
    default: nil
    }
  }

  private func transmit(_ bytes: Bytes, on id: LinkID) {
    if id == HonestPeer.link {
      honest.arriving.append(bytes)
      return take(.transmitted(id, byteCount: bytes.count))
    }
    guard var link = links[id] else { return broken("transmits on a link that is closed") }
    link.decoder.push(bytes)
    while let frame = try? link.decoder.next() {
      if case .associate(let association, _) = frame { note(association) }
    }
    link.outstanding += bytes.count
    if link.outstanding > Self.configuration.transmitWindow + (600 << 10) { broken("\(link.outstanding) bytes wait") }
    links[id] = link
    if !link.isSlow { tellTransmitted(id) }
  }

  func tellTransmitted(_ id: LinkID) {
    guard var link = links[id], link.outstanding > 0 else { return }
    let count = link.outstanding
    link.outstanding = 0
    links[id] = link
    take(.transmitted(id, byteCount: count))
  }

  func note(_ association: AssociationID) {
    if associations.count < 16 { associations.append(association) }
  }

  private func replied(_ id: CommandID, _ reply: Reply) {
    guard pending.remove(id) != nil else { return broken("command \(id.rawValue) is answered twice: \(reply)") }
    honest.replied(id, reply, self)
  }

  private func delivered(_ event: Event) {
    switch event {
    case .connected(let peer):
      if !members.insert(peer.node).inserted { broken("connected twice") }
    case .disconnected(let node, let ending):
      if members.remove(node) == nil { broken("disconnected from a stranger") }
      if node == honest.node, !isEnding { broken("the honest peer is lost: \(ending)") }
    case .messagesReceived(let node, let messages, _, _):
      if !members.contains(node) { broken("messages of a stranger") }
      if node == honest.node {
        for message in messages { honest.arrived(message, self) }
      } else {
        for message in messages where message.count > Self.configuration.messageLimit { broken("a message too long") }
      }
    case .streamReceived(let stream, let bytes): streamUnread[stream, default: 0] += bytes.count
    case .offerReceived(let id, let from, let offer):
      if from == honest.node { honest.offered(id, offer, self) }
    default: break
    }
  }

  var isEnding = false
}
