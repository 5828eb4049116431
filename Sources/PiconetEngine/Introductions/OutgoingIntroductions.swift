import PiconetWire

/// Our members that we have introduced to one another.
struct OutgoingIntroductions: Sendable {
  /// Two members, each of which is told of the other.
  struct Pair: Sendable {
    let command: CommandID
    let first: NodeID
    let second: NodeID
    fileprivate(set) var deadline: Instant
    /// The members that have answered that the other one is their member.
    fileprivate var agreed: Set<NodeID> = []
    /// How the introduction has failed; nil if it has not. The command is answered once both members have answered, so
    /// that another introduction may follow.
    fileprivate(set) var ending: Ending?

    func contains(_ node: NodeID) -> Bool { first == node || second == node }

    func other(than node: NodeID) -> NodeID { node == first ? second : first }
  }

  private struct Owed: Hashable, Sendable {
    let by: NodeID
    let about: NodeID
  }

  private var pairs: [Pair] = []
  /// The answers that members owe us. Each `introduce` gets exactly one, even if it is withdrawn.
  private var owed: Set<Owed> = []

  var isEmpty: Bool { pairs.isEmpty }
  /// Pairs that are not over, and answers that are owed.
  var count: Int { pairs.count + owed.count }
  var nextDeadline: Instant? { pairs.lazy.map(\.deadline).min() }

  /// Returns whether a member still owes us an answer about another.
  private func owes(_ member: NodeID, about node: NodeID) -> Bool { owed.contains(Owed(by: member, about: node)) }

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

  /// Takes a member's answer.
  /// - Parameter ending: why the node does not become its member; nil if it has become one.
  /// - Returns: the pair, if this answer decides its introduction.
  private mutating func take(answerBy member: NodeID, about node: NodeID, _ ending: Ending?) throws(Breach) -> Pair? {
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

  /// Takes out the pair that this command has introduced.
  private mutating func take(_ command: CommandID) -> Pair? {
    guard let index = pairs.firstIndex(where: { $0.command == command && $0.ending == nil }) else { return nil }
    return pairs.remove(at: index)
  }

  /// Keeps a pair that has failed until both answers have come, or until the deadline.
  private mutating func close(_ pair: Pair, _ ending: Ending, until deadline: Instant) {
    var pair = pair
    pair.ending = ending
    pair.deadline = deadline
    pairs.append(pair)
  }

  /// Takes out the pairs that have failed and for which no answer is owed any more.
  private mutating func takeClosed() -> [(pair: Pair, ending: Ending)] {
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

  private mutating func takeExpired(at now: Instant) -> [Pair] {
    defer { pairs.removeAll { $0.deadline <= now } }
    return pairs.filter { $0.deadline <= now }
  }

  /// Takes out the pairs of a member that is gone. It answers nothing any more.
  private mutating func takePairs(of member: NodeID) -> [Pair] {
    owed = owed.filter { $0.by != member }
    defer { pairs.removeAll { $0.contains(member) } }
    return pairs.filter { $0.contains(member) }
  }

  private mutating func takeAll() -> [Pair] {
    defer { pairs = [] }
    return pairs
  }
}

// MARK: - Outcomes

extension OutgoingIntroductions {
  /// Returns the two members if they can be introduced to one another.
  /// - Throws: the reason why they can't.
  static func members(
    _ first: NodeID, _ second: NodeID, within timeout: Duration, _ members: AssociationTable
  ) throws(Ending) -> (one: Association, other: Association) {
    guard first != second, let one = members[first], let other = members[second], one.isStaying, other.isStaying
    else { throw Ending(.noSuchAssociation, .us, "only two members can be introduced to one another") }
    guard one.takesIntroductions, other.takesIntroductions else {
      throw Ending(.notSupported, .peer, "one of them takes no introductions")
    }
    guard timeout > .zero, timeout <= Introductions.longestTime else {
      throw Ending(.limitExceeded, .us, "an introduction stands for more than 0 s, and at most 300 s")
    }
    return (one, other)
  }

  mutating func cancel(_ introduction: CommandID, _ members: AssociationTable, _ turn: Turn) {
    if let pair = take(introduction) { end(pair, Ending(.cancelled, .us), members, turn) }
  }

  /// Handles a member's answer.
  /// - Parameters:
  ///   - ending: why the node does not become its member; nil if it has become one.
  ///   - grace: how long the other member may take to answer that the two are not brought together.
  mutating func answered(
    by member: NodeID, about node: NodeID, _ ending: Ending?, grace: Duration, _ members: AssociationTable, _ turn: Turn
  ) throws(Breach) {
    let decided = try take(answerBy: member, about: node, ending)
    answerClosed(turn)
    guard let pair = decided else { return }
    guard var ending else { return turn.reply(pair.command, .done) }
    ending.by = member
    withdraw(pair, ending.reason, members, turn)
    // The command is answered once the other member has answered too, so that another introduction of the two may
    // follow.
    close(pair, ending, until: turn.now + grace)
    answerClosed(turn)
  }

  mutating func deadlineReached(_ members: AssociationTable, _ turn: Turn) {
    for pair in takeExpired(at: turn.now) {
      let silent = [pair.first, pair.second].filter { owes($0, about: pair.other(than: $0)) }
      let one = silent.count == 1 ? silent.first : nil
      end(pair, Ending(.timedOut, .peer, "no answer to the introduction in time", by: one), members, turn)
    }
  }

  /// Handles the departure of a member.
  mutating func memberLeft(_ member: NodeID, _ ending: Ending, _ members: AssociationTable, _ turn: Turn) {
    for pair in takePairs(of: member) { end(pair, ending, members, turn) }
  }

  mutating func endAll(_ ending: Ending, _ members: AssociationTable, _ turn: Turn) {
    for pair in takeAll() { end(pair, ending, members, turn) }
  }

  /// Ends an introduction that has failed. A member that has not answered yet is told, and answers that.
  private mutating func end(_ pair: Pair, _ ending: Ending, _ members: AssociationTable, _ turn: Turn) {
    if pair.ending == nil { withdraw(pair, ending.reason, members, turn) }
    turn.reply(pair.command, .failed(pair.ending ?? ending))
  }

  private mutating func withdraw(_ pair: Pair, _ reason: Reason, _ members: AssociationTable, _ turn: Turn) {
    for member in [pair.first, pair.second] where owes(member, about: pair.other(than: member)) {
      let other = pair.other(than: member)
      members[member]?.send(.withdrawIntroduction(other, reason), turn)
    }
  }

  private mutating func answerClosed(_ turn: Turn) {
    for (pair, ending) in takeClosed() { turn.reply(pair.command, .failed(ending)) }
  }
}
