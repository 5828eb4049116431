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

  /// Number of the true content in the world's table; nil for what a hostile node offers.
  let content: Int?
  let offeredSize: UInt64
  var bytes: [UInt8]
  var phase = Phase.open
  var busyUntil: UInt64 = 0
  /// Bytes that the engine has handed over, whether or not they are on the disk yet.
  var handedOver: UInt64
  /// The last offset reported to the engine.
  var stored: Int
  /// The existing file has the offered size but other content: the digest shows it, and the store starts over.
  var isSomethingElse = false
  /// All of it was there before.
  var wasAlreadyPresent = false
  /// A failure was reported; nothing more is answered.
  var isBroken = false

  init(content: Int?, offeredSize: UInt64, prefix: [UInt8]) {
    self.content = content
    self.offeredSize = offeredSize
    bytes = prefix
    handedOver = UInt64(prefix.count)
    stored = prefix.count
  }
}
