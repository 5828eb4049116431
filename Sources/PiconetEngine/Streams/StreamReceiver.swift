import PiconetWire

/// The receiving side of one stream: how much the sender may send, and how much the application has read.
final class StreamReceiver {
  enum Phase: Equatable, Sendable {
    case open
    /// The end has come; the application has not read everything.
    case ended
    /// We have given it up. The sender may not know yet, so data that it still sends is dropped.
    case stopped
  }

  let id: StreamID
  let number: UInt64
  private(set) var phase = Phase.open
  private(set) var received: UInt64 = 0
  private(set) var consumed: UInt64 = 0
  /// Whether the application has read from it. This shows that even a stream without a byte was accepted.
  private var hasReader = false
  /// How many bytes in all the sender was told that it may send.
  private(set) var limit: UInt64

  init(id: StreamID, number: UInt64, window: UInt64) {
    self.id = id
    self.number = number
    limit = window
  }

  /// Whether the application has read everything.
  var isReadToItsEnd: Bool { phase == .ended && hasReader && consumed == received }

  /// Takes bytes that have come.
  /// - Returns: whether they go to the application.
  func take(_ count: Int) throws(Breach) -> Bool {
    if phase == .ended { throw Breach("stream data after the end") }
    received += UInt64(count)
    guard received <= limit else {
      throw Breach("more stream data than the credit of \(limit) bytes", .limitExceeded)
    }
    return phase == .open
  }

  /// Notes that the end has come.
  func end() { phase = .ended }

  /// Notes that we give it up.
  func stop() { phase = .stopped }

  /// Notes that the application has read this many bytes.
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
