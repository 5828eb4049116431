import Piconet

/// How much is taken from devices that are not known within a day (`imagerecv --daily`). Pure: times are arguments.
///
/// Each key has the same; all strangers together have a few times as much, since keys cost nothing.
struct StrangerAllowance: Sendable {
  static let day = Duration.seconds(86_400)
  /// All strangers together have as much as this many keys.
  static let strangersOfAll: Int64 = 4
  /// Keys that are remembered; beyond that only the sum of all counts.
  static let keyLimit = 1_024

  /// What was taken for one transfer. It belongs to the days that it was taken from: what did not come is given back to
  /// these, and to no later ones.
  struct Taking: Hashable, Sendable {
    let key: PeerID
    let bytes: Int64
    /// When the day of this key began.
    fileprivate let day: ContinuousClock.Instant
    /// When the day of all strangers began.
    fileprivate let dayOfAll: ContinuousClock.Instant
  }

  enum Answer: Hashable, Sendable {
    case taken(Taking)
    /// Less is left of the day.
    case beyond

    var taking: Taking? {
      switch self {
      case .taken(let taking): taking
      case .beyond: nil
      }
    }
  }

  private struct Use: Sendable {
    /// When its day began.
    let since: ContinuousClock.Instant
    var bytes: Int64 = 0
    /// How much of that is for transfers that are not over.
    var underWay: Int64 = 0

    func taking(_ more: Int64) -> Use {
      var use = self
      use.bytes.add(bytes: more)
      use.underWay.add(bytes: more)
      return use
    }

    /// - Parameter day: when the day that it was taken from began; if that day is over, nothing changes.
    func settled(_ taken: Int64, came: Int64, of day: ContinuousClock.Instant) -> Use {
      guard day == since else { return self }
      var use = self
      // Sums stop at the largest number, and may then be less than what was taken.
      use.bytes = max(0, use.bytes - taken)
      use.bytes.add(bytes: came)
      use.underWay = max(0, use.underWay - taken)
      return use
    }
  }

  let limit: Int64
  private var uses: [PeerID: Use] = [:]
  private var all: Use?

  init(limit: Int64) { self.limit = limit }

  /// Takes this many bytes from the allowance of a key.
  /// - Returns: nil if enough is left only once this key's other transfers turn out smaller than they may be: ask again
  ///   when one is settled.
  mutating func take(_ bytes: Int64, from key: PeerID, at now: ContinuousClock.Instant) -> Answer? {
    let before = Self.current(uses[key], at: now)
    let own = before.taking(bytes)
    let sum = Self.current(all, at: now).taking(bytes)
    let (ofAll, isBeyond) = limit.multipliedReportingOverflow(by: Self.strangersOfAll)
    let limitOfAll = isBeyond ? .max : ofAll
    guard own.bytes <= limit, sum.bytes <= limitOfAll else {
      let mayCome = before.underWay
      if mayCome > 0, own.bytes - mayCome <= limit, sum.bytes - mayCome <= limitOfAll { return nil }
      return .beyond
    }
    if uses[key] == nil, uses.count >= Self.keyLimit { uses = uses.filter { now - $0.value.since < Self.day } }
    if uses[key] != nil || uses.count < Self.keyLimit { uses[key] = own }
    all = sum
    return .taken(Taking(key: key, bytes: bytes, day: own.since, dayOfAll: sum.since))
  }

  /// Takes what a transfer needs beyond what was taken for it, at once.
  /// - Returns: what is taken now, in place of `taking`; nil if less is left: then `taking` holds.
  mutating func extend(_ taking: Taking, to bytes: Int64, at now: ContinuousClock.Instant) -> Taking? {
    guard bytes > taking.bytes else { return taking }
    var changed = self
    changed.settle(taking, came: 0)
    guard let whole = changed.take(bytes, from: taking.key, at: now)?.taking else { return nil }
    self = changed
    return whole
  }

  /// A transfer is over: of what was taken for it counts what has come, whatever became of the file.
  mutating func settle(_ taking: Taking, came: Int64) {
    if let own = uses[taking.key] { uses[taking.key] = own.settled(taking.bytes, came: came, of: taking.day) }
    all = all?.settled(taking.bytes, came: came, of: taking.dayOfAll)
  }

  private static func current(_ use: Use?, at now: ContinuousClock.Instant) -> Use {
    guard let use, now - use.since < day else { return Use(since: now) }
    return use
  }
}
