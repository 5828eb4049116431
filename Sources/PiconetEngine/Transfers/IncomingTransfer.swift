import PiconetWire

/// The receiving side of one resource.
struct IncomingTransfer: Sendable {
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
  let node: NodeID
  let number: UInt64
  let offer: ResourceOffer
  var phase: Phase = .offered
  var received: UInt64 = 0
  var stored: UInt64 = 0
  /// Bytes at the beginning of what comes next that are here already: the sender goes on from before them.
  var repeated: UInt64 = 0
  /// What the sender was told that it may send up to.
  var limit: UInt64 = 0
  /// We claimed with our acceptance to have all bytes.
  var claimsAll = false
  /// That was wrong, and the sender was told so.
  var hasRestarted = false
  /// What we have may turn out to be something else.
  var mayRestart: Bool { claimsAll && !hasRestarted }
  /// It is under way, or may be once more: to rest means something.
  var mayRest: Bool { phase == .offered || phase == .receiving || phase == .committing && mayRestart }
  /// Our side gives no credit.
  var isPaused = false
  /// The far side has told that it sends nothing.
  var isPausedThere = false
  /// The sender gave up while the store was at its last step, whose outcome still counts.
  var isAbandoned = false

  /// The limit to tell after `stored` grew, once it is worth a frame.
  mutating func grant(window: UInt64) -> UInt64? {
    if isPaused { return nil }
    let next = min(offer.size, stored + window)
    guard next > limit, next - limit >= window / 4 || next == offer.size else { return nil }
    limit = next
    return next
  }
}
