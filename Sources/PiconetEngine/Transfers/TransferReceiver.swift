import PiconetWire

/// The receiving side of one resource. An object that only its association has.
final class TransferReceiver {
  enum Phase: Equatable, Sendable {
    /// The application has not answered.
    case offered
    case receiving
    /// All bytes are here; the store verifies them and gives them their name.
    case committing
    /// Given up by us; the sender may not know yet, so what it still sends is dropped.
    case refused
  }

  let id: TransferID
  let number: UInt64
  let offer: ResourceOffer
  var phase: Phase = .offered
  var received: UInt64 = 0
  var stored: UInt64 = 0
  /// How many of the next bytes have arrived already: the sender goes on from before them.
  var repeated: UInt64 = 0
  /// The offset up to which the sender was told that it may send.
  var limit: UInt64 = 0
  /// Whether our acceptance claimed that we have all bytes.
  var claimsAll = false
  /// Whether that claim was wrong, and the sender was told.
  var hasRestarted = false
  /// Whether what we have may still turn out to be something else.
  var mayRestart: Bool { claimsAll && !hasRestarted }
  /// Whether the transfer is under way, or may be again, so that pausing it means something.
  var mayRest: Bool { phase == .offered || phase == .receiving || phase == .committing && mayRestart }
  /// Whether it is the sender's turn: it may send, and all that it has sent is on the disk; or it does not know yet
  /// that it was refused.
  var waitsForSender: Bool {
    switch phase {
    case .refused: true
    case .receiving: !isPaused && stored == received && (received < limit || received == offer.size)
    case .offered, .committing: false
    }
  }
  /// Whether our side gives no credit.
  var isPaused = false
  /// Whether the remote side has said that it sends nothing.
  var isPausedByPeer = false
  /// Whether the sender gave up while the store was at its last step, whose outcome still counts.
  var isAbandoned = false

  init(id: TransferID, number: UInt64, offer: ResourceOffer) {
    self.id = id
    self.number = number
    self.offer = offer
  }

  /// The application takes the offer, and has the first `offset` bytes.
  func accept(from offset: UInt64, limit: UInt64) {
    phase = .receiving
    claimsAll = offset == offer.size
    received = offset
    stored = offset
    self.limit = limit
  }

  /// The sender begins again at `offset`: our claim to have everything was wrong.
  func restart(from offset: UInt64, limit: UInt64) {
    hasRestarted = true
    phase = .receiving
    received = offset
    stored = offset
    repeated = 0
    self.limit = limit
  }

  /// - Returns: how many of the next `count` bytes are here already.
  func skipRepeated(of count: Int) -> Int {
    let here = Int(clamping: min(repeated, UInt64(count)))
    repeated -= UInt64(here)
    return here
  }

  /// Whether what is stored is kept for the same offer.
  func mayGoOn(after ending: Ending) -> Bool { phase == .receiving && ending.reason.keepsStored }

  /// The new limit for the sender after `stored` grew, once it is worth a frame.
  func grant(window: UInt64) -> UInt64? {
    if isPaused { return nil }
    let next = min(offer.size, stored + window)
    guard next > limit, next - limit >= window / 4 || next == offer.size else { return nil }
    limit = next
    return next
  }
}
