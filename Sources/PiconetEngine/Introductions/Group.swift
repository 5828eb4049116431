import PiconetWire

/// What a node has still to do so that all members of its group become members of one another: pairs of its own members
/// that it introduces, and introduces again while a retry may succeed.
struct Group: Sendable {
  /// Two members, the smaller one first.
  struct Pair: Hashable, Comparable, Sendable {
    let first: NodeID
    let second: NodeID

    init(_ one: NodeID, _ other: NodeID) {
      (first, second) = one < other ? (one, other) : (other, one)
    }

    func contains(_ node: NodeID) -> Bool { first == node || second == node }

    static func < (left: Pair, right: Pair) -> Bool { (left.first, left.second) < (right.first, right.second) }
  }

  private enum Phase: Sendable {
    case due(Instant)
    case introducing(CommandID)
  }

  private struct Work: Sendable {
    var phase: Phase
    var tries = 0
  }

  /// Pairs that may wait: all of a group of 64, twice over.
  static let limit = 4_096
  /// How long each introduction stands: people may have to answer it.
  static let time = Duration.seconds(30)

  private var pairs: [Pair: Work] = [:]

  var count: Int { pairs.count }

  var nextDeadline: Instant? {
    pairs.values.lazy.compactMap { if case .due(let time) = $0.phase { time } else { nil } }.min()
  }

  /// Those whose time has come, in order.
  func due(at now: Instant) -> [Pair] {
    pairs.filter { if case .due(let time) = $0.value.phase { time <= now } else { false } }.keys.sorted()
  }

  /// Two members are to be brought together then. A pause after a try that failed goes on, however often they ask.
  /// - Returns: the command that introduces them already.
  @discardableResult
  mutating func want(_ pair: Pair, at time: Instant) -> CommandID? {
    guard var work = pairs[pair] else {
      if pairs.count < Self.limit { pairs[pair] = Work(phase: .due(time)) }
      return nil
    }
    switch work.phase {
    case .introducing(let command): return command
    case .due(let present):
      guard work.tries == 0, time < present else { return nil }
      work.phase = .due(time)
      pairs[pair] = work
      return nil
    }
  }

  mutating func began(_ pair: Pair, _ command: CommandID) {
    let former = pairs[pair]?.tries ?? 0
    pairs[pair] = Work(phase: .introducing(command), tries: former + 1)
  }

  /// The pair that this command introduces.
  func pair(introducedBy command: CommandID) -> Pair? {
    pairs.first { if case .introducing(command) = $0.value.phase { true } else { false } }?.key
  }

  /// The introduction of the pair has ended: it is made again where that may help.
  /// - Returns: why the two stay apart, where the application is to be told.
  mutating func ended(_ pair: Pair, _ reply: Reply, at now: Instant) -> Ending? {
    guard case .failed(let ending) = reply else {
      remove(pair)
      return nil
    }
    // For a moment a previous run of a member may still be one here, or answers of many pairs be under way.
    let isOfFormer = ending.reason == .restarted || ending.reason == .selfConnection
    let isTooMany = ending.blame == .us && ending.reason == .limitExceeded
    if ending.reason.mayPass || isOfFormer || isTooMany {
      tryAgain(pair, at: now)
      return nil
    }
    remove(pair)
    return ending.reason == .noSuchAssociation || ending.reason == .shuttingDown ? nil : ending
  }

  /// Another try is worth it: the pause grows up to 16 s.
  private mutating func tryAgain(_ pair: Pair, at now: Instant) {
    guard var work = pairs[pair] else { return }
    work.phase = .due(now + .seconds(Int64(1) << min(work.tries, 4)))
    pairs[pair] = work
  }

  mutating func remove(_ pair: Pair) { pairs[pair] = nil }

  /// A member has gone.
  mutating func memberLeft(_ node: NodeID) {
    if !pairs.isEmpty { pairs = pairs.filter { !$0.key.contains(node) } }
  }

  mutating func removeAll() { pairs = [:] }
}
