/// The pings of a group of targets: when to ping which, and the known presence of each.
///
/// Each is pinged at once, and then an interval after the beginning of its last ping; never more than one ping of it is
/// under way. Facts and times go in, effects come out. Times count from any one moment.
public struct PresencePings<Target: Hashable & Sendable, Reason: Sendable>: Sendable {
  /// The known presence of a target.
  public enum Presence: Sendable {
    /// No ping has ended yet.
    case unknown
    case present
    /// Nil: no answer came within the limit, and nothing says why.
    case absent(Reason?)

    /// Whether the target is present; nil: not known.
    public var isPresent: Bool? {
      switch self {
      case .unknown: nil
      case .present: true
      case .absent: false
      }
    }
  }

  /// How a ping has ended.
  public enum Answer: Sendable {
    case answered
    case failed(Reason)
    /// The ping was not sent, and shows nothing.
    case untried
  }

  /// Something to be done, in order.
  public enum Effect: Sendable {
    /// A ping to be sent now; `ended` takes its result, for each exactly once.
    case ping(Target, UInt64)
    /// Its presence has changed.
    case changed(Target, Presence)
  }

  private struct Watched: Sendable {
    var presence = Presence.unknown
    /// When the next ping begins, if none is under way then.
    var due: Duration
    /// The ping that is under way.
    var ping: UInt64?
    /// The time until which its answer is in time; nil: it is late already.
    var limit: Duration?
  }

  /// The time from the beginning of one ping to that of the next.
  public let interval: Duration
  /// How long an answer may take.
  public let limit: Duration
  private var watched: [Target: Watched] = [:]
  /// In the order in which they were added, so that the same facts have the same effects.
  private var order: [Target] = []
  private var pings: [UInt64: Target] = [:]
  private var last: UInt64 = 0

  /// The most targets of a group.
  public static var countLimit: Int { 256 }

  /// - Parameters:
  ///   - interval: more than 0.
  ///   - limit: more than 0; above the interval, pings are as far apart as answers take.
  public init(every interval: Duration, within limit: Duration) {
    self.interval = interval
    self.limit = limit
  }

  public var targets: [Target] { order }

  /// Returns the known presence of a target; nil if it is not in the group.
  public func presence(of target: Target) -> Presence? { watched[target]?.presence }

  // MARK: Facts

  /// Adds a target to the group, and pings it. A target that is in the group already stays as it is.
  /// - Returns: nil: the group is full.
  public mutating func add(_ target: Target, at now: Duration) -> [Effect]? {
    if watched[target] != nil { return [] }
    guard watched.count < Self.countLimit else { return nil }
    watched[target] = Watched(due: now)
    order.append(target)
    return begin(target, at: now)
  }

  /// Removes a target from the group. Its ping, if one is under way, is ignored.
  public mutating func remove(_ target: Target) {
    guard let former = watched.removeValue(forKey: target) else { return }
    order.removeAll { $0 == target }
    if let ping = former.ping { pings[ping] = nil }
  }

  /// Notes that a ping has ended.
  public mutating func ended(_ ping: UInt64, _ answer: Answer, at now: Duration) -> [Effect] {
    guard let target = pings.removeValue(forKey: ping), var one = watched[target] else { return [] }
    one.ping = nil
    one.limit = nil
    watched[target] = one
    let effects =
      switch answer {
      // A late answer shows presence as well.
      case .answered: set(target, .present)
      case .failed(let reason): set(target, .absent(reason))
      case .untried: [Effect]()
      }
    return effects + (one.due <= now ? begin(target, at: now) : [])
  }

  /// Notes that a target is absent, by other evidence than a ping.
  public mutating func isGone(_ target: Target, _ reason: Reason) -> [Effect] {
    set(target, .absent(reason))
  }

  /// Pings a target as soon as no ping is under way, since its presence may have changed.
  public mutating func ask(_ target: Target, at now: Duration) -> [Effect] {
    guard var one = watched[target] else { return [] }
    one.due = min(one.due, now)
    watched[target] = one
    return one.ping == nil ? begin(target, at: now) : []
  }

  // MARK: Time

  /// When `expired` has something to do; nil: never.
  public var nextDeadline: Duration? {
    watched.values.lazy.compactMap { $0.ping == nil ? $0.due : $0.limit }.min()
  }

  /// Begins the pings that are due, and reports those that are late.
  public mutating func expired(at now: Duration) -> [Effect] {
    var effects: [Effect] = []
    for target in order {
      // The order contains only watched targets.
      guard var one = watched[target] else { continue }
      if one.ping == nil {
        if one.due <= now { effects += begin(target, at: now) }
      } else if let limit = one.limit, limit <= now {
        one.limit = nil
        watched[target] = one
        effects += set(target, .absent(nil))
      }
    }
    return effects
  }

  /// Begins a ping; not for a target that is not watched.
  private mutating func begin(_ target: Target, at now: Duration) -> [Effect] {
    guard var one = watched[target] else { return [] }
    last += 1
    pings[last] = target
    one.ping = last
    one.limit = now + limit
    one.due = now + interval
    watched[target] = one
    return [.ping(target, last)]
  }

  private mutating func set(_ target: Target, _ presence: Presence) -> [Effect] {
    guard var one = watched[target] else { return [] }
    let former = one.presence
    one.presence = presence
    watched[target] = one
    return former.isPresent == presence.isPresent ? [] : [.changed(target, presence)]
  }
}
