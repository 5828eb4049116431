import PiconetWire

/// The receiving side of one stream: how far it may come, how far the application has read.
final class StreamReceiver {
  enum Phase: Equatable, Sendable {
    case open
    /// Its end has come; the application has not read all.
    case ended
    /// Given up by us; the sender may not know yet, so what it still sends is dropped.
    case stopped
  }

  let id: StreamID
  let number: UInt64
  var phase = Phase.open
  private(set) var received: UInt64 = 0
  private(set) var consumed: UInt64 = 0
  /// The application has read of it: shows that a stream without a byte was taken, too.
  private var hasReader = false
  /// What the sender was told that it may send in all.
  private(set) var limit: UInt64

  init(id: StreamID, number: UInt64, window: UInt64) {
    self.id = id
    self.number = number
    limit = window
  }

  /// The application has read all that there is.
  var isReadToItsEnd: Bool { phase == .ended && hasReader && consumed == received }

  /// Bytes have come.
  /// - Returns: whether they are the application's.
  func take(_ count: Int) throws(Breach) -> Bool {
    if phase == .ended { throw Breach("stream data after the end") }
    received += UInt64(count)
    guard received <= limit else {
      throw Breach("more stream data than the credit of \(limit) bytes", .limitExceeded)
    }
    return phase == .open
  }

  /// The application has read so many bytes; a new limit to tell once it is worth a frame.
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
