/// Whether a link says so much that its channel's memory is better kept than given back after each record: a value;
/// time is told by looks, a few seconds apart.
struct BufferUse: Sendable, Equatable {
  /// So many reads between two looks are no heartbeats.
  static let busyReads = 16
  /// Between two looks, however often the driver has something to do.
  static let interval = Duration.seconds(2)

  private(set) var isKept = false
  private var recentReads = 0

  /// Bytes have come.
  /// - Returns: true if the memory is to be kept from now on.
  mutating func read() -> Bool {
    recentReads += 1
    guard !isKept, recentReads == Self.busyReads else { return false }
    isKept = true
    return true
  }

  /// Some time has passed.
  /// - Returns: true if the link rests, and the memory is to be given back.
  mutating func look() -> Bool {
    let rests = isKept && recentReads < Self.busyReads
    if rests { isKept = false }
    recentReads = 0
    return rests
  }
}
