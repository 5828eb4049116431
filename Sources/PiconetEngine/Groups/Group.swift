import PiconetWire

/// Introductions that are left to make, so that all members of a group become members of one another. They are pairs of
/// our own members, which we introduce, and introduce again while a retry may succeed.
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
    /// One of the two has no place for the other. The pair waits until one of them tells of a change of its group.
    case full
  }

  private struct Work: Sendable {
    var phase: Phase
    var tries = 0
    /// The outcomes of introductions, except those that do not show whether the two can reach each other.
    var outcomes = IntroductionOutcomes()
    /// Whether one of the two has told of a change since the introduction began.
    var hasNews = false
    /// Whether the two are introduced again once they are together.
    var isWantedAgain = false

    /// The pause between news of a free place and the next introduction of the two.
    var pauseForPlace: Duration { .milliseconds(Int64(500) << min(tries, 5)) }
  }

  /// The maximum number of waiting pairs: twice that of a group of 64.
  static let limit = 4_096
  /// How long each introduction stands. A person may have to answer it.
  static let time = Duration.seconds(30)

  private var pairs: [Pair: Work] = [:]

  var count: Int { pairs.count }

  var nextDeadline: Instant? {
    pairs.values.lazy.compactMap { if case .due(let time) = $0.phase { time } else { nil } }.min()
  }

  /// Returns the pairs that are due, in order.
  func due(at now: Instant) -> [Pair] {
    pairs.filter { if case .due(let time) = $0.value.phase { time <= now } else { false } }.keys.sorted()
  }

  /// Plans to introduce two members at this time. A pause after a failed try is not cut short, however often members
  /// ask.
  /// - Returns: the command that is already introducing them; nil if no command is.
  @discardableResult
  mutating func want(_ pair: Pair, at time: Instant) -> CommandID? {
    guard var work = pairs[pair] else {
      if pairs.count < Self.limit { pairs[pair] = Work(phase: .due(time)) }
      return nil
    }
    switch work.phase {
    case .introducing(let command): return command
    case .full: return nil
    case .due(let present):
      guard work.tries == 0, time < present else { return nil }
      work.phase = .due(time)
      pairs[pair] = work
      return nil
    }
  }

  /// Plans to introduce two members that may be together already. An introduction under way is followed by another.
  mutating func wantAgain(_ pair: Pair, at time: Instant) {
    if want(pair, at: time) != nil { pairs[pair]?.isWantedAgain = true }
  }

  mutating func began(_ pair: Pair, _ command: CommandID) {
    var work = pairs[pair] ?? Work(phase: .introducing(command))
    work.phase = .introducing(command)
    work.tries += 1
    work.hasNews = false
    work.isWantedAgain = false
    pairs[pair] = work
  }

  /// Returns the pair that this command introduces.
  func pair(introducedBy command: CommandID) -> Pair? {
    pairs.first { if case .introducing(command) = $0.value.phase { true } else { false } }?.key
  }

  /// The outcome of the introduction of a pair.
  enum Outcome {
    /// The two are together. The news is for the application; nil if it is told nothing.
    case together(IntroductionOutcomes.News?)
    /// One of the two has no place for the other.
    case full
    /// The two are apart. The news is for the application; nil if it is told nothing.
    case apart(IntroductionOutcomes.News?)
    /// The outcome does not show whether the two can come together.
    case undecided
  }

  /// Handles the end of an introduction of the pair. Another one is planned if that may help.
  mutating func ended(_ pair: Pair, _ reply: Reply, at now: Instant) -> Outcome {
    guard case .failed(let ending) = reply else {
      defer { pairs[pair] = pairs[pair]?.isWantedAgain == true ? Work(phase: .due(now)) : nil }
      return .together(pairs[pair]?.outcomes.end)
    }
    if ending.reason == .full {
      waitForPlace(pair, at: now)
      return .full
    }
    // For a moment a previous run of the node may still be a member there, or too many introductions may be unanswered.
    let isOfFormer = ending.reason == .restarted || ending.reason == .selfConnection
    let isTooMany = ending.blame == .us && ending.reason == .limitExceeded
    if ending.reason.mayPass || isOfFormer || isTooMany {
      tryAgain(pair, at: now)
      guard ReasonClass(ending.reason) == .lost, !isOfFormer else { return .undecided }
      return .apart(pairs[pair]?.outcomes.failed(ending))
    }
    remove(pair)
    return ending.reason == .noSuchAssociation || ending.reason == .shuttingDown ? .undecided : .apart(.apart(ending))
  }

  /// Plans another try after a pause that grows up to 16 s.
  private mutating func tryAgain(_ pair: Pair, at now: Instant) {
    guard var work = pairs[pair] else { return }
    work.phase = .due(now + .seconds(Int64(1) << min(work.tries, 4)))
    pairs[pair] = work
  }

  /// Makes the pair wait, since one of the two has no place for the other.
  private mutating func waitForPlace(_ pair: Pair, at now: Instant) {
    guard var work = pairs[pair] else { return }
    work.phase = work.hasNews ? .due(now + work.pauseForPlace) : .full
    pairs[pair] = work
  }

  /// Reacts to a member's news of its group: pairs that lacked a place are introduced again.
  mutating func viewChanged(of node: NodeID, at now: Instant) {
    for (pair, var work) in pairs where pair.contains(node) {
      if case .full = work.phase { work.phase = .due(now + work.pauseForPlace) }
      work.hasNews = true
      pairs[pair] = work
    }
  }

  mutating func remove(_ pair: Pair) { pairs[pair] = nil }

  /// Forgets the pairs of a member that is gone.
  mutating func memberLeft(_ node: NodeID) {
    if !pairs.isEmpty { pairs = pairs.filter { !$0.key.contains(node) } }
  }

  mutating func removeAll() { pairs = [:] }
}
