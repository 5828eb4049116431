import Piconet

/// How much is taken from devices that are not known within a day (`imagerecv --daily`). Pure: times are arguments.
///
/// Each key has the same; all strangers together have a few times as much, since keys cost nothing.
struct StrangerAllowance: Sendable {
  static let day = Duration.seconds(86_400)
  /// All strangers together have as much as so many.
  static let strangersOfAll: Int64 = 4
  /// Keys that are remembered; beyond that only the sum of all counts.
  static let keyLimit = 1_024

  private struct Use: Sendable {
    /// When its day began.
    var since: ContinuousClock.Instant
    var bytes: Int64 = 0
    /// How much of that is for transfers that are not over.
    var underWay: Int64 = 0

    func taking(_ more: Int64) -> Use {
      var use = self
      use.bytes.add(bytes: more)
      use.underWay.add(bytes: more)
      return use
    }

    func settled(_ taken: Int64, came: Int64) -> Use {
      var use = self
      use.bytes.add(bytes: came)
      // Its day may be over, and nothing have been taken in the new one.
      use.bytes = max(0, use.bytes - taken)
      use.underWay = max(0, use.underWay - taken)
      return use
    }
  }

  let limit: Int64
  private var uses: [PeerID: Use] = [:]
  private var all: Use?

  init(limit: Int64) { self.limit = limit }

  /// Takes so many bytes from the allowance of a key.
  /// - Returns: true if they are taken; false if it has less; nil if it has enough unless all comes that this key has
  ///   under way: to be asked again when a transfer is settled.
  mutating func take(_ bytes: Int64, from key: PeerID, at now: ContinuousClock.Instant) -> Bool? {
    let before = Self.current(uses[key], at: now)
    let own = before.taking(bytes)
    let all = Self.current(all, at: now).taking(bytes)
    let (ofAll, isBeyond) = limit.multipliedReportingOverflow(by: Self.strangersOfAll)
    let limitOfAll = isBeyond ? .max : ofAll
    guard own.bytes <= limit, all.bytes <= limitOfAll else {
      let mayCome = before.underWay
      return mayCome > 0 && own.bytes - mayCome <= limit && all.bytes - mayCome <= limitOfAll ? nil : false
    }
    if uses[key] == nil, uses.count >= Self.keyLimit { uses = uses.filter { now - $0.value.since < Self.day } }
    if uses[key] != nil || uses.count < Self.keyLimit { uses[key] = own }
    self.all = all
    return true
  }

  /// The transfer for which so much was taken is over: what has come of it counts, whatever became of the file.
  mutating func settle(_ taken: Int64, came: Int64, from key: PeerID) {
    if let own = uses[key] { uses[key] = own.settled(taken, came: came) }
    all = all?.settled(taken, came: came)
  }

  private static func current(_ use: Use?, at now: ContinuousClock.Instant) -> Use {
    guard let use, now - use.since < day else { return Use(since: now) }
    return use
  }
}
