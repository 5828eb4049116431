import PiconetWire

/// How many dials of one transport run side by side in a race, and the pauses between their beginnings.
struct DialPace {
  let atOnce: Int
  private let first: Duration
  private let further: Duration

  /// Sets the pace for a transport. Over IP the second dial begins after the pause that RFC 8305 (section 5)
  /// recommends, and any of 16 begins within a second. Planted addresses delay a race by no more than that. A radio
  /// pages one device at a time.
  init(_ kind: TransportKind) {
    switch kind {
    case .tcp, .simulated: (atOnce, first, further) = (32, .milliseconds(250), .milliseconds(50))
    case .l2cap, .rfcomm, .le: (atOnce, first, further) = (2, .seconds(1), .seconds(1))
    case .relay: (atOnce, first, further) = (1, .zero, .zero)
    }
  }

  /// Returns how long the next dial waits while those before it continue.
  /// - Parameter count: how many dials were begun before the last one.
  func pause(after count: Int) -> Duration { count == 0 ? first : further }
}
