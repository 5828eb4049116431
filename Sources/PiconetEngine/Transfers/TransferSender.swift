import PiconetWire

/// The sending side of one resource: offered, read as far as the remote side accepts it, transmitted, and over with the
/// remote side's answer. It is an object that only its association has. Each event changes it here, and returns the
/// consequences.
final class TransferSender {
  enum Phase: Equatable, Sendable {
    /// The remote side has as many open transfers as it accepts. The offer has not been sent.
    case waiting
    /// Offered, not answered yet.
    case offered
    /// Accepted: bytes go out as credit and link allow.
    case sending
    /// All bytes and their digest are sent; the resource is not stored yet.
    case ended
    /// We have given it up. The number is free once the remote side confirms.
    case abandoned
  }

  /// Chunk frames that were read and not yet transmitted.
  private struct Block {
    var frames: Bytes
    var payloadCount: Int
    /// Frames are shorter on slow links.
    var layout: ChunkLayout
  }

  let id: TransferID
  let caller: Caller<ResultKind.Stored>
  let offer: ResourceOffer
  private(set) var phase: Phase = .waiting
  /// The number on the wire, from the offer on.
  private(set) var number: UInt64?
  /// The offset up to which the remote side accepts bytes.
  private var limit: UInt64 = 0
  /// The offset up to which the remote side has stored bytes.
  private var stored: UInt64 = 0
  /// Whether the remote side's acceptance claimed that it has all bytes.
  private var isClaimedComplete = false
  /// Whether that claim was wrong, and the remote side has said so.
  private var hasRestarted = false
  /// How many bytes the remote side has compared before its answer.
  private var comparedCount: UInt64 = 0
  /// The offset up to which the source has been asked for bytes.
  private var readOffset: UInt64 = 0
  /// The framing of the reads under way, in their order.
  private var layouts = FirstInFirstOut<ChunkLayout>()
  /// The number of reads under way whose bytes are no longer wanted, because their link is gone.
  private var staleReads = 0
  /// Set on a new link: nothing is sent before the remote side has stated the offset to continue from.
  private var awaitsPosition = false
  private var blocks = FirstInFirstOut<Block>()
  private var isFinishing = false
  /// Whether our side has paused it.
  private(set) var isPaused = false
  /// Whether the remote side has said that it gives no credit.
  private var isPausedByPeer = false
  private var digest: ResourceDigest?
  /// The offset up to which bytes have gone to the link.
  private var transmitted: UInt64 = 0

  /// The maximum number of reads that may be under way or wait for the link at once. One is sent while the next is
  /// read.
  static let readAhead = 2

  init(id: TransferID, caller: Caller<ResultKind.Stored>, offer: ResourceOffer) {
    self.id = id
    self.caller = caller
    self.offer = offer
  }

  // MARK: The offer

  /// Notes that the offer goes out under this number.
  func offered(as number: UInt64) {
    self.number = number
    phase = .offered
  }

  /// Notes how many bytes of its own content the remote side has compared.
  /// - Returns: whether that is news. The hint may be late, and only progress shows that an answer will come.
  func compared(_ byteCount: UInt64) throws(Breach) -> Bool {
    guard phase == .offered else { return false }
    guard byteCount <= offer.size else { throw Breach("compares more than was offered") }
    guard byteCount > comparedCount else { return false }
    comparedCount = byteCount
    return true
  }

  /// The remote side has the first `offset` bytes, and takes bytes up to `limit`.
  /// - Returns: false if we have given the transfer up meanwhile.
  func accepted(at offset: UInt64, limit: UInt64) throws(Breach) -> Bool {
    if phase == .abandoned { return false }
    guard phase == .offered else { throw Breach("accepts an offer twice") }
    guard offset <= offer.size else { throw Breach("accepts from behind the end") }
    isClaimedComplete = offset == offer.size
    begin(at: offset, limit: limit)
    return true
  }

  /// - Returns: whether this answers the offer. False if we have given up the transfer meanwhile.
  func declined() throws(Breach) -> Bool {
    if phase == .abandoned { return false }
    guard phase == .offered else { throw Breach("declines an offer after its answer") }
    return true
  }

  private func begin(at offset: UInt64, limit: UInt64) {
    phase = .sending
    readOffset = offset
    transmitted = offset
    stored = offset
    self.limit = limit
  }

  // MARK: Reading

  /// Returns the next read, as an offset and a number of bytes, if it is time for a read.
  /// - Parameter layout: the framing of the bytes.
  func nextRead(of readSize: Int, _ layout: ChunkLayout) -> (offset: UInt64, count: Int)? {
    guard phase == .sending, !awaitsPosition, !isPaused,
      layouts.count + staleReads + blocks.count < Self.readAhead
    else { return nil }
    let end = min(limit, offer.size)
    guard readOffset < end else { return nil }
    let count = min(UInt64(readSize), end - readOffset)
    defer {
      readOffset += count
      layouts.append(layout)
    }
    return (readOffset, Int(count))
  }

  /// The outcome for bytes that were read.
  enum Read: Equatable {
    /// The bytes wait for the link.
    case queued
    /// The link of the bytes is gone: they are read again.
    case stale
    /// Nothing of the transfer is sent any more.
    case unwanted
  }

  /// Takes the source's answer to the oldest read.
  func read(_ frames: Bytes, payloadCount: Int) -> Read {
    if staleReads > 0 {
      // Reads are answered in order.
      staleReads -= 1
      return .stale
    }
    guard phase == .sending, let layout = layouts.popFirst() else { return .unwanted }
    blocks.append(Block(frames: frames, payloadCount: payloadCount, layout: layout))
    return .queued
  }

  /// Whether all bytes have been read, and none has to be read again.
  private var isRead: Bool { !awaitsPosition && readOffset == offer.size && layouts.isEmpty }

  /// - Returns: whether the source must be asked for its digest now. All bytes have been read, and it has not been
  ///   asked yet.
  func beginFinishing() -> Bool {
    guard phase == .sending, !isFinishing, isRead else { return false }
    isFinishing = true
    return true
  }

  /// - Returns: false if the source was not asked for the digest.
  func finished(_ digest: ResourceDigest) -> Bool {
    guard isFinishing else { return false }
    self.digest = digest
    return true
  }

  // MARK: Transmission

  /// Takes the first block, or as much of it as the share allows, but at least one frame. The block is cut between
  /// frames, so a message never waits for more than what is under way.
  func takeFrames(_ share: Int) -> (frames: Bytes, count: UInt64)? {
    guard !isPaused, let block = blocks.first else { return nil }
    let layout = block.layout
    let whole = layout.wholeFrames(in: share)
    guard block.frames.count > whole else {
      _ = blocks.popFirst()
      transmitted += UInt64(block.payloadCount)
      return (block.frames, layout.frames(in: block.frames.count))
    }
    let payload = layout.payload(ofFrames: whole)
    transmitted += UInt64(payload)
    var rest = block
    rest.frames = block.frames.dropFirst(whole)
    rest.payloadCount -= payload
    blocks.replaceFirst(rest)
    return (block.frames.prefix(whole), layout.frames(in: whole))
  }

  /// Takes the end, once it can be sent: right after the last chunk.
  func takeEnd() -> Frame? {
    guard phase == .sending, !isPaused, let digest, let number, blocks.isEmpty, isRead else { return nil }
    phase = .ended
    return .end(transfer: number, size: offer.size, digest)
  }

  // MARK: The remote side's frames about it

  /// The consequences of credit.
  struct Credit {
    /// Whether we continue from the stored bytes. The remote side had to state their end, over another link.
    var goesOn = false
    /// Whether a pause has to be told. It was not told before, because everything had been sent.
    var owesPause = false
    /// Whether more is stored than before.
    var hasProgressed = false
  }

  /// Notes that the remote side has stored bytes up to `stored`, and accepts bytes up to `limit`.
  /// - Returns: nil if we have given the transfer up meanwhile.
  func credited(stored: UInt64, limit: UInt64) throws(Breach) -> Credit? {
    switch phase {
    case .abandoned: return nil
    case .waiting, .offered: throw Breach("credit before the offer was accepted")
    case .sending, .ended: break
    }
    guard stored <= transmitted else { throw Breach("has stored bytes that were not sent") }
    var credit = Credit()
    if awaitsPosition {
      credit.goesOn = true
      credit.owesPause = phase == .ended && isPaused
      goOn(from: stored)
    }
    self.limit = max(self.limit, limit)
    if stored > self.stored {
      self.stored = stored
      credit.hasProgressed = true
    }
    return credit
  }

  /// Reads again the bytes that were lost with the link.
  private func goOn(from offset: UInt64) {
    awaitsPosition = false
    phase = .sending
    readOffset = offset
    transmitted = offset
  }

  /// Notes that the remote side has the resource.
  /// - Returns: whether this is the outcome. False if we have given up the transfer meanwhile.
  func completed() throws(Breach) -> Bool {
    switch phase {
    case .abandoned: return false
    case .ended: return true
    case .waiting, .offered, .sending: throw Breach("has stored a transfer before its end")
    }
  }

  /// Whether the remote side may still say that the content it has is something else.
  private var mayRestart: Bool { isClaimedComplete && !hasRestarted }

  /// Restarts the transfer, because the content that the remote side claimed to have is something else. The remote side
  /// has the first `offset` bytes, and accepts bytes up to `limit`.
  /// - Returns: false if we have given the transfer up meanwhile.
  func restarted(at offset: UInt64, limit: UInt64) throws(Breach) -> Bool {
    if phase == .abandoned { return false }
    guard phase == .ended, mayRestart else {
      throw Breach("restarts a transfer that it did not claim to have, or has not got to the end of")
    }
    guard offset <= offer.size else { throw Breach("restarts from behind the end") }
    hasRestarted = true
    begin(at: offset, limit: limit)
    isFinishing = false
    digest = nil
    // The restart itself states the offset to continue from, whichever link it comes over.
    awaitsPosition = false
    return true
  }

  /// Drops the bytes that were read for a lost link.
  func lostLink() {
    guard phase == .sending || phase == .ended else { return }
    awaitsPosition = true
    staleReads += layouts.count
    layouts.removeAll()
    blocks.removeAll()
  }

  // MARK: Pausing

  /// Pauses the transfer on our side, or lets it continue.
  /// - Returns: whether that makes a difference now. Once everything has been sent nothing does, unless the transfer
  ///   has to begin again.
  func setPaused(_ isPaused: Bool) -> Bool {
    guard self.isPaused != isPaused, phase != .abandoned else { return false }
    self.isPaused = isPaused
    return phase != .ended || mayRestart
  }

  /// Notes that the remote side has paused it, or lets it continue.
  /// - Returns: whether that is news.
  func setPausedByPeer(_ isPaused: Bool) -> Bool {
    guard phase != .abandoned, isPausedByPeer != isPaused else { return false }
    isPausedByPeer = isPaused
    return true
  }

  /// The hint about its pause for the remote side; nil if the remote side does not know the transfer yet, or no longer.
  var pauseHint: Frame? {
    guard let number, phase != .abandoned else { return nil }
    return .senderPaused(transfer: number, isPaused)
  }

  // MARK: Endings

  /// Gives up the transfer, and discards the bytes that were read.
  func abandon() {
    phase = .abandoned
    blocks.removeAll()
  }
}
