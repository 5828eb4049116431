import PiconetEngine
import PiconetWire

/// The honest peer of a fuzzed engine: an engine of its own, connected by one link that delivers everything in order.
/// The two send each other messages and a file, while the other peers send anything.
final class HonestPeer {
  static let link = LinkID(rawValue: 1)
  static let fileSize: UInt64 = 5_000
  static let offerCommand = CommandID(rawValue: 1 << 40)
  static let outgoing = TransferID(rawValue: 1 << 40)

  let node: NodeID
  var engine: SessionEngine
  /// Bytes on their way to it.
  var arriving: [Bytes] = []
  var effects: [Effect] = []
  var isMember = false

  // Counts of messages, each of which begins with its number.
  var sent = 0
  var got = 0
  var sentBack = 0
  var gotBack = 0
  var wrong: String?
  /// The cost of the honest peer's messages that the engine's application has not taken yet.
  var unconsumed = 0

  /// Our file at the engine's side, and the engine's file at ours.
  var incomingThere: TransferID?
  var incomingHere: TransferID?
  var storedRemotely = StoredContent()
  var storedLocally = StoredContent()
  var isStoredRemotely = false
  var isStoredLocally = false

  /// The received part of the file, compared as it came.
  struct StoredContent {
    private(set) var count = 0
    private var isRight = true
    var isWhole: Bool { isRight && count == HonestPeer.content.count }

    mutating func append(_ bytes: Bytes) {
      isRight = isRight && bytes.elementsEqual(HonestPeer.content.dropFirst(count).prefix(bytes.count))
      count += bytes.count
    }
  }

  init(node: NodeID, configuration: EngineConfiguration) {
    self.node = node
    engine = SessionEngine(identity: LocalIdentity(node: node), configuration: configuration, seed: 2)
  }

  func take(_ fact: Fact, at now: Instant) {
    engine.handle(fact, at: now, into: &effects)
    engine.flush(at: now, into: &effects)
  }

  func owns(_ transfer: TransferID) -> Bool { transfer == incomingThere || transfer == Self.outgoing }

  /// The bytes of both files. Each byte follows from its position.
  static let content = (0..<fileSize).map { UInt8(truncatingIfNeeded: $0 &* 31) }

  static func content(_ offset: UInt64, _ count: Int) -> ArraySlice<UInt8> {
    content.dropFirst(Int(clamping: offset)).prefix(count)
  }

  /// Returns this many bytes: those of the file, as far as it goes. Offers to hostile peers may be longer.
  private static func bytes(_ offset: UInt64, _ count: Int) -> Bytes {
    let known = content(offset, count)
    return known.count == count ? known : [UInt8](repeating: 1, count: count)[...]
  }

  static func chunkFrames(_ number: UInt64, offset: UInt64, count: Int, frameCount: Int) -> Bytes {
    let full = frameCount - FrameEncoder.chunkHeaderCount(transfer: number, payloadCount: frameCount)
    var frames: [UInt8] = []
    var done = 0
    while done < count {
      let part = min(full, count - done)
      FrameEncoder.append(.chunk(transfer: number, bytes(offset + UInt64(done), part)), to: &frames)
      done += part
    }
    return frames[...]
  }

  static func message(_ number: Int, size: Int) -> Bytes {
    var bytes = [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
    bytes += [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: max(0, size - 2))
    return bytes[...]
  }

  static func number(of message: Bytes) -> Int? {
    message.withUnsafeBufferPointer { bytes in
      guard bytes.count >= 2 else { return nil }
      let number = Int(bytes[0]) << 8 | Int(bytes[1])
      return bytes.dropFirst(2).allSatisfy { $0 == bytes[1] } ? number : nil
    }
  }

  // MARK: Events of the engine for its application

  func arrived(_ message: Bytes, _ fuzz: EngineFuzz) {
    if Self.number(of: message) != got { fuzz.broken("message \(got) of the honest peer is not what came") }
    got += 1
    unconsumed += message.count + WireLimits.messageCost
  }

  func offered(_ id: TransferID, _ offer: ResourceOffer, _ fuzz: EngineFuzz) {
    incomingThere = id
    if offer.size != Self.fileSize { fuzz.broken("the honest peer's offer was changed") }
  }

  func replied(_ id: CommandID, _ reply: Reply, _ fuzz: EngineFuzz) {
    guard id == Self.offerCommand, !fuzz.isEnding else { return }
    if case .stored = reply { return }
    fuzz.broken("the file for the honest peer ends with \(reply)")
  }

  var verdict: String? {
    if let wrong { return wrong }
    if got != sent { return "\(got) of \(sent) messages of the honest peer came" }
    if gotBack != sentBack { return "\(gotBack) of \(sentBack) messages came to the honest peer" }
    if !isStoredRemotely || !storedRemotely.isWhole { return "the honest peer's file is wrong" }
    if !isStoredLocally || !storedLocally.isWhole { return "the file for it is wrong" }
    return nil
  }
}
