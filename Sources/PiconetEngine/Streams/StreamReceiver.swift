import PiconetWire

/// The receiving side of one stream: how far the sender may go, and how far the application has read.
final class StreamReceiver {
  enum Phase: Equatable, Sendable {
    case open
    /// Its end has come; the application has not read everything.
    case ended
    /// Given up by us; the sender may not know yet, so what it still sends is dropped.
    case stopped
  }

  let id: StreamID
  let number: UInt64
  private(set) var phase = Phase.open
  private(set) var received: UInt64 = 0
  private(set) var consumed: UInt64 = 0
  /// Whether the application has read from it: this shows that even a stream without a byte was taken.
  private var hasReader = false
  /// How many bytes the sender was told that it may send in all.
  private(set) var limit: UInt64

  init(id: StreamID, number: UInt64, window: UInt64) {
    self.id = id
    self.number = number
    limit = window
  }

  /// Whether the application has read everything.
  var isReadToItsEnd: Bool { phase == .ended && hasReader && consumed == received }

  /// Bytes have come.
  /// - Returns: whether they go to the application.
  func take(_ count: Int) throws(Breach) -> Bool {
    if phase == .ended { throw Breach("stream data after the end") }
    received += UInt64(count)
    guard received <= limit else {
      throw Breach("more stream data than the credit of \(limit) bytes", .limitExceeded)
    }
    return phase == .open
  }

  /// Its end has come.
  func end() { phase = .ended }

  /// We give it up.
  func stop() { phase = .stopped }

  /// The application has read this many bytes.
  /// - Returns: a new limit for the sender, once that is worth a frame.
  func consume(_ count: Int, window: UInt64) -> UInt64? {
    guard phase != .stopped else { return nil }
    hasReader = true
    consumed = min(consumed + UInt64(max(0, count)), received)
    let next = consumed + window
    guard phase == .open, next > limit, next - limit >= window / 4 else { return nil }
    limit = next
    return next
  }
}
