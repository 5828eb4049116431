import PiconetWire

/// The sending side of one resource. An object that only its association has.
final class TransferSender {
  enum Phase: Equatable, Sendable {
    /// The remote side has as many open transfers as it takes; the offer has not been sent.
    case waiting
    /// Offered, not answered yet.
    case offered
    /// Accepted: bytes go out as credit and link allow.
    case sending
    /// All bytes and their digest are out; not stored yet.
    case ended
    /// Given up by us; the number is free once the remote side confirms.
    case abandoned
  }

  /// Chunk frames that were read and not yet transmitted.
  struct Block: Sendable {
    var frames: Bytes
    var payloadCount: Int
    /// Frames are shorter on slow links.
    var layout: ChunkLayout
  }

  /// How the reads under way are framed, in their order.
  var layouts = FirstInFirstOut<ChunkLayout>()

  let id: TransferID
  let command: CommandID
  let offer: ResourceOffer
  var phase: Phase = .waiting
  /// The number on the wire, from the offer on.
  var number: UInt64?
  /// The remote side takes bytes up to here.
  var limit: UInt64 = 0
  /// The remote side has stored bytes up to here.
  var stored: UInt64 = 0
  /// Whether the remote side's acceptance claimed that it has all bytes.
  var isClaimedComplete = false
  /// Whether that claim was wrong, and the remote side has said so.
  var hasRestarted = false
  /// Whether the remote side may still say that what it has is something else.
  var mayRestart: Bool { isClaimedComplete && !hasRestarted }
  /// How many bytes the remote side has compared before its answer.
  var compared: UInt64 = 0
  /// The source has been asked for bytes up to here.
  var readOffset: UInt64 = 0
  var readsUnderWay = 0
  /// How many reads are under way whose bytes are no longer wanted: their link is gone.
  var staleReads = 0
  /// Set on a new link: nothing is sent before the remote side has stated from where to go on.
  var awaitsPosition = false
  var blocks = FirstInFirstOut<Block>()
  var isFinishing = false
  /// Whether our side sends nothing of it.
  var isPaused = false
  /// Whether the remote side has said that it gives no credit.
  var isPausedByPeer = false
  var digest: ResourceDigest?
  /// Bytes have gone to the link up to here.
  var transmitted: UInt64 = 0

  /// How many reads may be under way or wait for the link at once: one is sent while the next is read.
  static let readAhead = 2

  init(id: TransferID, command: CommandID, offer: ResourceOffer) {
    self.id = id
    self.command = command
    self.offer = offer
  }

  /// The remote side has the first `offset` bytes, and takes bytes up to `limit`.
  func begin(at offset: UInt64, limit: UInt64) {
    readOffset = offset
    transmitted = offset
    stored = offset
    self.limit = limit
  }

  /// What was read for a link is lost with it.
  func lostLink() {
    guard phase == .sending || phase == .ended else { return }
    awaitsPosition = true
    staleReads += readsUnderWay
    readsUnderWay = 0
    layouts.removeAll()
    blocks.removeAll()
  }

  /// The next read, as an offset and a number of bytes, if it is time for one.
  func nextRead(of readSize: Int) -> (offset: UInt64, count: Int)? {
    guard phase == .sending, !awaitsPosition, !isPaused,
      readsUnderWay + staleReads + blocks.count < Self.readAhead
    else { return nil }
    let end = min(limit, offer.size)
    guard readOffset < end else { return nil }
    let count = min(UInt64(readSize), end - readOffset)
    defer {
      readOffset += count
      readsUnderWay += 1
    }
    return (readOffset, Int(count))
  }

  /// Whether all bytes have been read, and none has to be read again.
  var isRead: Bool { !awaitsPosition && readOffset == offer.size && readsUnderWay == 0 }

  /// Whether all bytes have been read, and the source has not been asked for its digest yet.
  var isReadyToFinish: Bool { phase == .sending && !isFinishing && isRead }
}
