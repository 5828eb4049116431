import PiconetWire

/// The sending side of one resource. One object, which its association alone has.
final class TransferSender {
  enum Phase: Equatable, Sendable {
    /// The remote side has as many open transfers as it takes; the offer was not sent.
    case waiting
    /// Offered; not answered.
    case offered
    /// Accepted: bytes go out as credit and link allow.
    case sending
    /// All bytes and their digest are out; not stored yet.
    case ended
    /// Given up by us; the number is free once the remote side confirms.
    case abandoned
  }

  /// Chunk frames that were read and not transmitted.
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
  /// The remote side claimed with its acceptance to have all bytes.
  var isAllThere = false
  /// That was wrong, and it has said so.
  var hasRestarted = false
  /// The remote side may still say that what it has is something else.
  var mayRestart: Bool { isAllThere && !hasRestarted }
  /// Bytes that the remote side has compared, before it answers.
  var compared: UInt64 = 0
  /// Asked for from the source up to here.
  var readOffset: UInt64 = 0
  var readsUnderWay = 0
  /// Reads whose bytes nobody wants any more: their link is gone.
  var staleReads = 0
  /// The link is another one: nothing is sent before the remote side has stated from where.
  var awaitsPosition = false
  var blocks = FirstInFirstOut<Block>()
  var isFinishing = false
  /// Our side sends nothing of it.
  var isPaused = false
  /// The remote side has told that it gives no credit.
  var isPausedThere = false
  var digest: ResourceDigest?
  /// What of the blocks' bytes went to the link.
  var transmitted: UInt64 = 0

  /// Reads that may be under way or wait for the link at once: one is sent while the next is read.
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

  /// What was read for a link is gone with it.
  func lostLink() {
    guard phase == .sending || phase == .ended else { return }
    awaitsPosition = true
    staleReads += readsUnderWay
    readsUnderWay = 0
    layouts.removeAll()
    blocks.removeAll()
  }

  /// The next read: its offset and how many bytes, if it is time for one.
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

  /// All bytes were read, the last time that they were.
  var isRead: Bool { !awaitsPosition && readOffset == offer.size && readsUnderWay == 0 }

  /// All bytes were read, and the source was not asked for its digest yet.
  var isReadyToFinish: Bool { phase == .sending && !isFinishing && isRead }
}
