import PiconetWire

/// Introduces the members of this node to one another: by command, and on its own if the session is a group. In a
/// group, a node that joins one member joins all. Each member introduces a new one to its other members, so soon all
/// members know all others. A member that one of them loses is brought back by the others.
struct Introducer {
  private let isGroup: Bool
  /// How long a member may take to answer that an introduction has failed.
  private let grace: Duration
  /// Members that we have introduced to one another.
  private(set) var introducing = OutgoingIntroductions() { didSet { watch.changed() } }
  /// Pairs of members that we bring together.
  private var group = Group() { didSet { watch.changed() } }
  /// Members of the group that were introduced without an address, since they had not told where they listen.
  private var unplaced: Set<NodeID> = []
  /// Rate limiter for our requests that members bring back one that we have lost.
  private var asks = Allowance.ownAsks
  private var hasEnded = false
  /// Told of changes to what `nextDeadline` depends on.
  private let watch: DeadlineWatch

  init(_ configuration: EngineConfiguration, _ watch: DeadlineWatch) {
    isGroup = configuration.membership == .group
    grace = configuration.leaveTimeout
    self.watch = watch
  }

  /// The number of members that are asked to bring a lost one back.
  private static let askedLimit = 4

  /// Introductions that are not over, answers that are owed, and waiting pairs.
  var count: Int { introducing.count + group.count }

  var nextDeadline: Instant? { [introducing.nextDeadline, group.nextDeadline].compactMap { $0 }.min() }

  /// Takes a member's frame about introductions, ours to it or its own to us.
  /// - Returns: what the engine must do; nil if nothing.
  mutating func take(
    _ request: IntroductionRequest, from member: Association, _ surroundings: Surroundings, _ turn: Turn
  ) throws(Breach) -> IntroductionStep? {
    switch request {
    case .introduce(let introduction):
      return turn.introduced.received(introduction, by: member, surroundings, turn)
    case .withdraw(let subject, let reason):
      return turn.introduced.withdrawn(subject, reason, by: member, surroundings.associations, turn)
    case .ask(let subject): asked(for: subject, by: member, surroundings, turn)
    case .answer(let subject, let ending):
      try introducing.answered(
        by: member.node, about: subject, ending, grace: grace, surroundings.associations, turn)
    }
    return nil
  }

  // MARK: By command

  mutating func introduce(
    _ id: CommandID, _ first: NodeID, to second: NodeID, within timeout: Duration, _ surroundings: Surroundings,
    _ turn: Turn
  ) {
    do throws(Ending) {
      let (one, other) = try OutgoingIntroductions.members(first, second, within: timeout, surroundings.associations)
      // The answers come a little later.
      try introducing.begin(id, first, second, until: turn.now + timeout + grace)
      for (member, subject) in [(one, other), (other, one)] {
        let isPlaced = member.introduce(subject, timeout: timeout, surroundings, turn)
        if isGroup, !isPlaced { unplaced.insert(subject.node) }
      }
    } catch {
      turn.reply(id, .failed(error))
    }
  }

  mutating func cancel(_ id: CommandID, _ introduction: CommandID, _ members: AssociationTable, _ turn: Turn) {
    introducing.cancel(introduction, members, turn)
    turn.reply(id, .done)
  }

  mutating func deadlineReached(_ members: AssociationTable, _ turn: Turn) {
    introducing.deadlineReached(members, turn)
  }

  // MARK: Groups

  /// Reacts to a new member: in a group it is brought together with the others.
  mutating func joined(_ node: NodeID, _ surroundings: Surroundings, _ turn: Turn) {
    guard isGroup, let newcomer = surroundings.associations[node], newcomer.isInGroup else { return }
    // The member that introduced the newcomer also introduces it to the others. Nearly all of them know it before our
    // turn comes.
    let delay =
      newcomer.peer.introducedBy == nil
      ? Duration.zero : .milliseconds(1_000 + Int64(turn.random.next() % 1_000))
    for other in surroundings.associations.inOrder where other !== newcomer && other.isInGroup {
      group.want(Group.Pair(node, other.node), at: turn.now + delay)
    }
    bringTogether(surroundings, turn)
  }

  /// Reacts to a member's news of where it listens. If it was introduced without an address, it is introduced again.
  /// Members that have met it over a relay can then connect to it directly.
  mutating func placed(_ member: Association, _ surroundings: Surroundings, _ turn: Turn) {
    guard unplaced.contains(member.node), member.isInGroup, !member.knownAddresses(surroundings).isEmpty else { return }
    unplaced.remove(member.node)
    for other in surroundings.associations.inOrder where other !== member && other.isInGroup {
      group.wantAgain(Group.Pair(member.node, other.node), at: turn.now)
    }
    bringTogether(surroundings, turn)
  }

  /// Introduces the pairs that are due.
  mutating func bringTogether(_ surroundings: Surroundings, _ turn: Turn) {
    for pair in group.due(at: turn.now) {
      guard let one = surroundings.associations[pair.first], let other = surroundings.associations[pair.second],
        one.isInGroup, other.isInGroup, !turn.introduced.wasRemoved(pair.first),
        !turn.introduced.wasRemoved(pair.second)
      else {
        group.remove(pair)
        continue
      }
      let command = turn.takeOwnCommand()
      group.began(pair, command)
      introduce(command, pair.first, to: pair.second, within: Group.time, surroundings, turn)
    }
  }

  /// Handles the end of an introduction that the group itself has begun.
  /// - Returns: the pair, and the cause that keeps it apart; nil while that is undecided.
  mutating func ended(
    _ command: CommandID, _ reply: Reply, _ turn: Turn
  ) -> (pair: Group.Pair, apartBy: PairsApart.Cause?)? {
    guard let pair = group.pair(introducedBy: command) else { return nil }
    switch group.ended(pair, reply, at: turn.now) {
    case .together(let news):
      tell(news, of: pair, turn)
      return (pair, nil)
    case .apart(let news):
      tell(news, of: pair, turn)
      return (pair, .other)
    case .full: return (pair, .full)
    case .undecided: return nil
    }
  }

  private func tell(_ news: IntroductionOutcomes.News?, of pair: Group.Pair, _ turn: Turn) {
    switch news {
    case .apart(let ending): turn.deliver(.membersApart(pair.first, pair.second, ending))
    case .together(let ending): turn.deliver(.membersTogether(pair.first, pair.second, ending))
    case nil: break
    }
  }

  /// Reacts to a member's news of its group: a place may be free there.
  mutating func viewChanged(of node: NodeID, _ turn: Turn) { group.viewChanged(of: node, at: turn.now) }

  /// Handles a member's request that we introduce another member to it.
  private mutating func asked(for subject: NodeID, by member: Association, _ surroundings: Surroundings, _ turn: Turn) {
    guard isGroup, member.isInGroup, surroundings.associations[subject]?.isInGroup == true else { return }
    if let command = group.want(Group.Pair(member.node, subject), at: turn.now) {
      // One of the two has answered already, and has lost the other since. The introduction under way would not bring
      // them together.
      introducing.cancel(command, surroundings.associations, turn)
    }
    bringTogether(surroundings, turn)
  }

  // MARK: Endings

  /// Handles the end of an association, whose node owes us no answer any more.
  /// - Parameter told: the ending of introductions of that node.
  mutating func left(
    _ association: Association, _ ending: Ending, told: Ending, _ members: AssociationTable, _ turn: Turn
  ) {
    group.memberLeft(association.node)
    unplaced.remove(association.node)
    if isLost(association, ending) { askForLost(association.node, members, turn) }
    introducing.memberLeft(association.node, told, members, turn)
  }

  /// Returns whether this was a member of the group that we have lost, or that had no place beside us, and that other
  /// members may still have.
  private func isLost(_ association: Association, _ ending: Ending) -> Bool {
    isGroup && association.isMember && association.capabilities.contains(.group) && !hasEnded
      && (ReasonClass(ending.reason) == .lost && ending.reason != .restarted || ending.reason == .full)
  }

  /// Asks members that may still have the lost one to bring it back.
  private mutating func askForLost(_ node: NodeID, _ members: AssociationTable, _ turn: Turn) {
    // Without this limit, a member that comes and goes would make us send more than the others accept.
    guard asks.take(at: turn.now) else { return }
    for other in members.inOrder.filter(\.isInGroup).prefix(Self.askedLimit) {
      other.send(.askToIntroduce(node), turn)
    }
  }

  /// Ends all introductions. No new ones begin.
  mutating func endAll(_ ending: Ending, _ members: AssociationTable, _ turn: Turn) {
    hasEnded = true
    group.removeAll()
    unplaced = []
    introducing.endAll(ending, members, turn)
  }
}
