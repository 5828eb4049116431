import PiconetWire

/// A file that is being received.
struct SimulatedStore {
  enum Phase {
    case open
    /// A `commitStore` is under way.
    case committing
    case committed
    case failed
    case discarded
  }

  /// The number of the true content in the world's table; nil for an offer of a hostile node.
  let content: Int?
  let offeredSize: UInt64
  var bytes: [UInt8]
  var phase = Phase.open
  var busyUntil: UInt64 = 0
  /// Bytes that the engine has handed over, on the disk or on their way there.
  var handedOver: UInt64
  /// The last offset reported to the engine.
  var stored: Int
  /// Whether the existing file has the offered size but other content. The digest shows it, and the store starts over.
  var isSomethingElse = false
  /// Whether all of it was there before.
  var wasAlreadyPresent = false
  /// Whether a failure was reported. After that nothing is answered.
  var isBroken = false

  init(content: Int?, offeredSize: UInt64, prefix: [UInt8]) {
    self.content = content
    self.offeredSize = offeredSize
    bytes = prefix
    handedOver = UInt64(prefix.count)
    stored = prefix.count
  }
}
