import PiconetWire

/// Members of ours that we have introduced to one another.
struct OutgoingIntroductions: Sendable {
  /// Two members, each of which is told of the other.
  struct Pair: Sendable {
    let command: CommandID
    let first: NodeID
    let second: NodeID
    fileprivate(set) var deadline: Instant
    /// Who has said that the other is a member.
    fileprivate var agreed: Set<NodeID> = []
    /// How it has ended. The command is answered once both have answered, so that another introduction may follow.
    fileprivate(set) var ending: Ending?

    func contains(_ node: NodeID) -> Bool { first == node || second == node }

    func other(than node: NodeID) -> NodeID { node == first ? second : first }
  }

  private struct Owed: Hashable, Sendable {
    let by: NodeID
    let about: NodeID
  }

  private var pairs: [Pair] = []
  /// Each `introduce` gets exactly one answer, also one that is taken back.
  private var owed: Set<Owed> = []

  var isEmpty: Bool { pairs.isEmpty }
  /// Pairs that are not over, and answers that are owed.
  var count: Int { pairs.count + owed.count }
  var nextDeadline: Instant? { pairs.lazy.map(\.deadline).min() }

  /// Whether a member has still to answer for another.
  func owes(_ member: NodeID, about node: NodeID) -> Bool { owed.contains(Owed(by: member, about: node)) }

  mutating func begin(
    _ command: CommandID, _ first: NodeID, _ second: NodeID, until deadline: Instant
  ) throws(Ending) {
    for (member, node) in [(first, second), (second, first)] {
      if owes(member, about: node) { throw Ending(.inProgress, .us, "they are being introduced already") }
      guard owed.count(where: { $0.by == member }) < WireLimits.unansweredIntroductions else {
        let words = "\(WireLimits.unansweredIntroductions) introductions to one member have no answer"
        throw Ending(.limitExceeded, .us, words)
      }
    }
    owed.insert(Owed(by: first, about: second))
    owed.insert(Owed(by: second, about: first))
    pairs.append(Pair(command: command, first: first, second: second, deadline: deadline))
  }

  /// A member has answered.
  /// - Parameter ending: nil: the node is a member of it.
  /// - Returns: the pair, if that decides about it.
  mutating func answered(by member: NodeID, about node: NodeID, _ ending: Ending?) throws(Breach) -> Pair? {
    guard owed.remove(Owed(by: member, about: node)) != nil else {
      throw Breach("answers an introduction that was not made")
    }
    guard let index = pairs.firstIndex(where: { $0.contains(member) && $0.contains(node) && $0.ending == nil })
    else { return nil }
    if ending == nil {
      pairs[index].agreed.insert(member)
      if pairs[index].agreed.count < 2 { return nil }
    }
    return pairs.remove(at: index)
  }

  /// The pair that this command has introduced.
  mutating func take(_ command: CommandID) -> Pair? {
    guard let index = pairs.firstIndex(where: { $0.command == command && $0.ending == nil }) else { return nil }
    return pairs.remove(at: index)
  }

  /// It has failed, and somebody may owe an answer still, for which we wait so long.
  mutating func close(_ pair: Pair, _ ending: Ending, until deadline: Instant) {
    var pair = pair
    pair.ending = ending
    pair.deadline = deadline
    pairs.append(pair)
  }

  /// Those that have failed, and of which nobody owes anything any more.
  mutating func takeClosed() -> [(pair: Pair, ending: Ending)] {
    var closed: [(pair: Pair, ending: Ending)] = []
    var open: [Pair] = []
    for pair in pairs {
      if let ending = pair.ending, !owes(pair.first, about: pair.second), !owes(pair.second, about: pair.first) {
        closed.append((pair, ending))
      } else {
        open.append(pair)
      }
    }
    if !closed.isEmpty { pairs = open }
    return closed
  }

  mutating func takeExpired(at now: Instant) -> [Pair] {
    defer { pairs.removeAll { $0.deadline <= now } }
    return pairs.filter { $0.deadline <= now }
  }

  /// A member has gone, and answers nothing any more.
  /// - Returns: the pairs that it was one of.
  mutating func memberLeft(_ member: NodeID) -> [Pair] {
    owed = owed.filter { $0.by != member }
    defer { pairs.removeAll { $0.contains(member) } }
    return pairs.filter { $0.contains(member) }
  }

  mutating func removeAll() -> [Pair] {
    defer { pairs = [] }
    return pairs
  }
}
