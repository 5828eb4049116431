import PiconetWire
import Testing

@testable import PiconetEngine

/// What one or more facts brought about.
struct Outcome {
  var effects: [Effect] = []
  /// The frames handed to links, in order.
  var frames: [Frame] = []

  /// All events except changes of states, which follow from the others.
  var events: [Event] {
    effects.compactMap { effect in
      if case .deliver(.stateChanged) = effect { return nil }
      if case .deliver(let event) = effect { return event }
      return nil
    }
  }

  /// The changes of one peer's state, in order.
  func conditions(of peer: NodeID) -> [PeerCondition] {
    effects.compactMap { effect in
      if case .deliver(.stateChanged(peer, _, let condition)) = effect { return condition }
      return nil
    }
  }

  func replies(to command: UInt64) -> [Reply] {
    effects.compactMap { effect in
      if case .reply(CommandID(rawValue: command), let reply) = effect { return reply }
      return nil
    }
  }

  var closedLinks: [LinkID] {
    effects.compactMap { effect in
      if case .closeLink(let link, _) = effect { return link }
      return nil
    }
  }

  /// The reason of the close frame.
  var closeReason: Reason? {
    for case .close(let reason, _) in frames { return reason }
    return nil
  }

  static func += (left: inout Outcome, right: Outcome) {
    left.effects += right.effects
    left.frames += right.frames
  }
}

/// One engine with the simplest driver: all that is transmitted is with the kernel at once, codes and trust are
/// answered as set, disks answer at once.
final class Side {
  let node: NodeID
  var now = seconds(1)
  private(set) var engine: SessionEngine
  /// Every effect since the start.
  private(set) var log = Outcome()

  var code: String? = "123456"
  var judgement = TrustJudgement.known
  /// The byte that the last nonce was made of; each nonce has another one.
  private var nonces: UInt8 = 0
  /// The commitment to the last nonce.
  var lastCommitment: [UInt8] { commitment(to: [UInt8](repeating: nonces, count: Invite.nonceCount)) }
  /// False: the caller answers `drawNonce`, `deriveCode` and `judgeTrust`.
  var answersHandshake = true
  /// False: the caller answers what sources and stores are asked.
  var answersDisk = true
  /// False: the caller answers the store's last step.
  var answersCommit = true
  /// False: the caller says what has reached the kernel.
  var takesAll = true
  /// What the caller has to answer.
  private(set) var unanswered: [Effect] = []
  private(set) var storedCounts: [TransferID: UInt64] = [:]
  private var decoders: [LinkID: FrameDecoder] = [:]
  private var nextCommand: UInt64 = 1_000

  init(_ node: NodeID, _ configuration: EngineConfiguration = configuration(), seed: UInt64 = 1) {
    self.node = node
    engine = SessionEngine(identity: LocalIdentity(node: node), configuration: configuration, seed: seed)
  }

  var census: EngineCensus { engine.census }
  var nextDeadline: Instant? { engine.nextDeadline }
  func statistics(of node: NodeID) -> AssociationStatistics? { engine.statistics(of: node, at: now) }
  /// The transfers that its engine holds, of all peers.
  var outgoing: [TransferSender] { engine.associations.values.flatMap { $0.transfers.outgoing.values } }
  var incoming: [TransferReceiver] { engine.associations.values.flatMap { $0.transfers.incoming.values } }
  var members: [NodeID] { engine.associations.values.filter(\.isMember).map(\.node).sorted() }

  /// Takes facts in one batch, flushes, and answers what the driver has to answer, until nothing is left to do.
  @discardableResult
  func take(_ facts: Fact...) -> Outcome { take(facts) }

  @discardableResult
  func take(_ facts: [Fact]) -> Outcome {
    var outcome = Outcome()
    var waiting = facts
    repeat {
      var effects: [Effect] = []
      for fact in waiting { engine.handle(fact, at: now, into: &effects) }
      engine.flush(at: now, into: &effects)
      if let next = engine.earliestDeadline, engine.nextDeadline.map({ $0 > next }) ?? true {
        Issue.record("waits until \(engine.nextDeadline as Any), and something in it until \(next)")
      }
      waiting = effects.compactMap { answer($0, &outcome.frames) }
      outcome.effects += effects
    } while !waiting.isEmpty
    log += outcome
    return outcome
  }

  @discardableResult
  func command(_ command: Command, id: UInt64? = nil) -> Outcome {
    nextCommand += 1
    return take(.commanded(CommandID(rawValue: id ?? nextCommand), command))
  }

  /// Lets time pass, and meets the deadlines within it one after the other.
  @discardableResult
  func wait(_ duration: Duration) -> Outcome {
    var outcome = Outcome()
    let end = now + duration
    while let next = engine.nextDeadline, next <= end {
      now = max(now, next)
      outcome += take(.deadlineReached)
      if let again = engine.nextDeadline, again <= now { break }
    }
    now = max(now, end)
    return outcome
  }

  var hasUnanswered: Bool { !unanswered.isEmpty }

  /// From here on, only what comes counts.
  func forgetLog() { log = Outcome() }

  func takeUnanswered() -> Effect? { unanswered.isEmpty ? nil : unanswered.removeFirst() }

  private func answer(_ effect: Effect, _ frames: inout [Frame]) -> Fact? {
    switch effect {
    case .transmit(let link, let bytes):
      decode(bytes, on: link, &frames)
      return takesAll ? .transmitted(link, byteCount: bytes.count) : nil
    case .drawNonce, .deriveCode, .judgeTrust:
      if answersHandshake { return fact(answering: effect) }
      unanswered.append(effect)
    case .readChunks, .finishSource, .storeChunk, .commitStore:
      var isCommit = false
      if case .commitStore = effect { isCommit = true }
      if answersDisk, answersCommit || !isCommit { return fact(answering: effect) }
      unanswered.append(effect)
    default: break
    }
    return nil
  }

  private func decode(_ bytes: Bytes, on link: LinkID, _ frames: inout [Frame]) {
    var decoder = decoders[link] ?? FrameDecoder(frameLimit: WireLimits.largestFrame)
    decoder.push(bytes)
    while let frame = try? decoder.next() { frames.append(frame) }
    decoders[link] = decoder
  }

  /// What a driver answers if all goes well.
  func fact(answering effect: Effect) -> Fact? {
    switch effect {
    case .drawNonce(let id):
      nonces &+= 1
      let nonce = [UInt8](repeating: nonces, count: Invite.nonceCount)
      return .nonceDrawn(id, CodeNonce(bytes: nonce, commitment: commitment(to: nonce)))
    case .deriveCode(let id, _, let inputs):
      return .codeDerived(id, inputs.commitment == commitment(to: inputs.inviterNonce) ? code : nil)
    case .judgeTrust(let link, _, _, _): return .trustJudged(link, judgement)
    case .readChunks(let id, let number, _, let payloadCount, let frameCount):
      let frames = chunkFrames(number, payloadCount: payloadCount, frameCount: frameCount)
      return .chunksRead(id, frames: frames, payloadCount: payloadCount)
    case .finishSource(let id): return .sourceFinished(id, someDigest)
    case .storeChunk(let id, let bytes):
      storedCounts[id, default: 0] += UInt64(bytes.count)
      return .chunkStored(id, upTo: storedCounts[id] ?? 0)
    case .commitStore(let id, _, _): return .committed(id, name: Array("stored".utf8))
    default: return nil
    }
  }

  private func chunkFrames(_ number: UInt64, payloadCount: Int, frameCount: Int) -> Bytes {
    // A header is shorter before the payload of a frame than before as many bytes as the frame has.
    let longest = FrameEncoder.chunkHeaderCount(transfer: number, payloadCount: frameCount)
    let header = FrameEncoder.chunkHeaderCount(transfer: number, payloadCount: frameCount - longest)
    let full = frameCount - header
    var frames: [UInt8] = []
    var left = payloadCount
    while left > 0 {
      let count = min(left, full)
      FrameEncoder.append(.chunk(transfer: number, bytes(count)), to: &frames)
      left -= count
    }
    return frames[...]
  }
}
