/// Whether a link is so busy that its channel's memory is better kept than released after each record. A value; time
/// passes by calls of `timePassed`, a few seconds apart.
struct BufferUse: Sendable, Equatable {
  /// This many reads between two looks can't be heartbeats alone.
  static let busyReads = 16
  /// The time between two looks, however often the driver has something to do.
  static let interval = Duration.seconds(2)

  private(set) var isKept = false
  private var recentReads = 0

  /// Notes that bytes have come.
  /// - Returns: true if the memory should be kept from now on.
  mutating func read() -> Bool {
    recentReads += 1
    guard !isKept, recentReads == Self.busyReads else { return false }
    isKept = true
    return true
  }

  /// Notes that some time has passed.
  /// - Returns: true if the link is idle, and the memory should be released.
  mutating func timePassed() -> Bool {
    let rests = isKept && recentReads < Self.busyReads
    if rests { isKept = false }
    recentReads = 0
    return rests
  }
}
