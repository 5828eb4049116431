import PiconetWire

/// The receiving side of one resource: offered, stored as it comes, and over once the store has verified it. It is an
/// object that only its association has. Each event changes it here, and returns the consequences.
final class TransferReceiver {
  enum Phase: Equatable, Sendable {
    /// The application has not answered yet.
    case offered
    case receiving
    /// All bytes have come; the store verifies them and gives the resource its name.
    case committing
    /// We have given it up. The sender may not know yet, so data that it still sends is dropped.
    case refused
  }

  let id: TransferID
  let number: UInt64
  let offer: ResourceOffer
  private(set) var phase: Phase = .offered
  private(set) var received: UInt64 = 0
  private(set) var stored: UInt64 = 0
  /// How many of the next bytes have arrived already, because the sender has resumed from before them.
  private var repeated: UInt64 = 0
  /// The offset up to which the sender was told that it may send.
  private(set) var limit: UInt64 = 0
  /// Whether our acceptance claimed that we have all bytes.
  private var claimsAll = false
  /// Whether that claim was wrong, and the sender was told.
  private var hasRestarted = false
  /// Whether our side gives no credit.
  private(set) var isPaused = false
  /// Whether the remote side has said that it sends nothing.
  private var isPausedByPeer = false
  /// Whether the sender gave up while the store was at its last step, whose outcome still counts.
  private(set) var isAbandoned = false

  init(id: TransferID, number: UInt64, offer: ResourceOffer) {
    self.id = id
    self.number = number
    self.offer = offer
  }

  /// Whether the content that we have may still turn out to be something else.
  private var mayRestart: Bool { claimsAll && !hasRestarted }
  /// Whether the transfer is under way, or may be again, so that pausing it has a meaning.
  private var mayRest: Bool { phase == .offered || phase == .receiving || phase == .committing && mayRestart }
  /// Whether no byte is stored for good yet, so that we may give up the transfer.
  var isBeforeCommit: Bool { phase == .offered || phase == .receiving }

  /// Whether it is the sender's turn. Either it may send, and everything that it has sent is on the disk. Or it does
  /// not know yet that it was refused.
  var waitsForSender: Bool {
    switch phase {
    case .refused: true
    case .receiving: !isPaused && stored == received && (received < limit || received == offer.size)
    case .offered, .committing: false
    }
  }

  // MARK: Our answer

  /// Accepts the offer for the application, which has the first `offset` bytes.
  /// - Returns: the frame for the sender.
  func accept(from offset: UInt64, window: UInt64) -> Frame {
    let offset = min(offset, offer.size)
    phase = .receiving
    claimsAll = offset == offer.size
    begin(at: offset, limit: min(offer.size, offset + (isPaused ? 0 : window)))
    return .acceptOffer(transfer: number, offset: offset, limit: limit)
  }

  /// Restarts the transfer: the content that we claimed to have is something else, and the sender begins again at
  /// `offset`.
  /// - Returns: the frame for the sender.
  func restart(from offset: UInt64, window: UInt64) -> Frame {
    let offset = min(offset, offer.size)
    phase = .receiving
    hasRestarted = true
    repeated = 0
    begin(at: offset, limit: isPaused ? offset : min(offer.size, offset + window))
    return .restart(transfer: number, offset: offset, limit: limit)
  }

  /// Whether the store may find that the content which we claimed to have is something else.
  var takesRestart: Bool { phase == .committing && mayRestart }

  private func begin(at offset: UInt64, limit: UInt64) {
    received = offset
    stored = offset
    self.limit = limit
  }

  // MARK: The sender's frames

  /// - Returns: whether a chunk counts now. False if it is dropped, because we have given up the transfer.
  func takesChunks() throws(Breach) -> Bool {
    switch phase {
    case .refused: return false
    case .offered: throw Breach("a chunk before the offer was accepted")
    case .committing: throw Breach("a chunk after the end")
    case .receiving: return true
    }
  }

  /// - Returns: how many of the next `count` bytes have arrived before; nil if the sender repeats nothing.
  func skipRepeated(of count: Int) -> Int? {
    guard repeated > 0 else { return nil }
    let here = Int(clamping: min(repeated, UInt64(count)))
    repeated -= UInt64(here)
    return here
  }

  /// Takes bytes that go to the store.
  /// - Returns: false if there are more bytes than were offered.
  func take(_ count: Int) throws(Breach) -> Bool {
    let received = self.received + UInt64(count)
    if received > offer.size { return false }
    guard received <= limit else { throw Breach("more chunks than the credit allows") }
    self.received = received
    return true
  }

  /// The outcome of an end.
  enum End: Equatable {
    /// The store begins its last step.
    case complete
    /// The end does not fit the bytes that have come.
    case incomplete
    /// The end is dropped: we have given up the transfer.
    case dropped
  }

  /// Handles the sender's statement that all bytes were sent.
  func ended(at size: UInt64) throws(Breach) -> End {
    switch phase {
    case .refused: return .dropped
    case .offered: throw Breach("an end before the offer was accepted")
    case .committing: throw Breach("a second end")
    case .receiving: break
    }
    guard size == offer.size, received == size else { return .incomplete }
    phase = .committing
    return .complete
  }

  /// Notes that the sender resumes from an offset. Bytes that have arrived already are skipped.
  func positioned(at offset: UInt64) throws(Breach) {
    switch phase {
    case .refused: return
    case .offered: throw Breach("position before the offer was accepted")
    case .committing: throw Breach("position after the end")
    case .receiving: break
    }
    guard offset <= received else { throw Breach("position beyond what has arrived") }
    repeated = received - offset
  }

  /// Notes that the sender has given it up while the store takes its last step.
  func abandoned() { isAbandoned = true }

  // MARK: Credit

  /// Notes that the bytes up to this offset are on the disk.
  /// - Returns: false if nothing more is received.
  func chunkStored(upTo offset: UInt64) -> Bool {
    guard phase == .receiving else { return false }
    stored = max(stored, offset)
    return true
  }

  /// Returns the new limit for the sender after `stored` grew, once it is worth a frame.
  func grant(window: UInt64) -> UInt64? {
    if isPaused { return nil }
    let next = min(offer.size, stored + window)
    guard next > limit, next - limit >= window / 4 || next == offer.size else { return nil }
    limit = next
    return next
  }

  /// Returns the frame for the sender on a new link, if we are receiving. It states which bytes have arrived, whether
  /// they are on the disk already or on their way there. All others are missing.
  func restate() -> Frame? {
    guard phase == .receiving else { return nil }
    repeated = 0
    return .transferCredit(transfer: number, stored: received, limit: max(received, limit))
  }

  // MARK: Pausing

  /// Pauses the transfer on our side, or lets it continue.
  /// - Returns: whether that makes a difference.
  func setPaused(_ isPaused: Bool) -> Bool {
    guard self.isPaused != isPaused, mayRest else { return false }
    self.isPaused = isPaused
    return true
  }

  /// Notes that the remote side has paused it, or lets it continue.
  /// - Returns: whether that is news. The transfer may have ended here while the hint was on its way.
  func setPausedByPeer(_ isPaused: Bool) -> Bool {
    guard phase != .refused, isPausedByPeer != isPaused else { return false }
    isPausedByPeer = isPaused
    return true
  }

  /// The hint about its pause for the remote side; nil if that means nothing any more.
  var pauseHint: Frame? { mayRest ? .receiverPaused(transfer: number, isPaused) : nil }

  // MARK: Endings

  /// Gives up the transfer. Data that still comes is dropped until the sender confirms.
  func refuse() { phase = .refused }

  /// Returns whether the stored bytes are kept for the same offer.
  func mayGoOn(after ending: Ending) -> Bool { phase == .receiving && ending.reason.keepsStored }
}
