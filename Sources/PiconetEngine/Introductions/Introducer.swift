import PiconetWire

/// This node as one that introduces its members to one another: by a command, and of itself where the session is a
/// group. There a node that joins one member joins all: each introduces a new member to its others, so all soon know
/// all, and a member that one loses is brought back by the others.
struct Introducer {
  private let isGroup: Bool
  /// How long a member may take to answer that an introduction has come to nothing.
  private let grace: Duration
  /// Members that we have introduced to one another.
  private(set) var introducing = OutgoingIntroductions() { didSet { watch.changed() } }
  /// Pairs of members that we bring together.
  private var group = Group() { didSet { watch.changed() } }
  /// How often we may still ask members for one that we have lost.
  private var asks = Allowance.ownAsks
  /// How many members we may still remove from the group.
  private var removals = Allowance.ownRemovals
  /// Removed nodes; introductions of them are refused.
  private var tombstones = Tombstones()
  private var hasEnded = false
  /// Told of changes to what `nextDeadline` depends on.
  private let watch: DeadlineWatch

  init(_ configuration: EngineConfiguration, _ watch: DeadlineWatch) {
    isGroup = configuration.membership == .group
    grace = configuration.leaveTimeout
    self.watch = watch
  }

  /// How many members are asked to bring a lost one back.
  private static let askedLimit = 4

  /// Introductions that are not over, answers that are owed, and pairs that wait.
  var count: Int { introducing.count + group.count }

  var nextDeadline: Instant? { [introducing.nextDeadline, group.nextDeadline].compactMap { $0 }.min() }

  // MARK: By command

  mutating func introduce(
    _ id: CommandID, _ first: NodeID, to second: NodeID, within timeout: Duration, _ surroundings: Surroundings,
    _ turn: Turn
  ) {
    do throws(Ending) {
      let (one, other) = try OutgoingIntroductions.members(first, second, within: timeout, surroundings.associations)
      // The answers come a little later.
      try introducing.begin(id, first, second, until: turn.now + timeout + grace)
      one.introduce(other, timeout: timeout, surroundings, turn)
      other.introduce(one, timeout: timeout, surroundings, turn)
    } catch {
      turn.reply(id, .failed(error))
    }
  }

  mutating func cancel(_ introduction: CommandID, _ members: AssociationTable, _ turn: Turn) {
    introducing.cancel(introduction, members, turn)
  }

  /// A member has answered.
  /// - Parameter ending: nil: the node is a member of it.
  mutating func answered(
    by member: Association, about node: NodeID, _ ending: Ending?, _ members: AssociationTable, _ turn: Turn
  ) throws(Breach) {
    try introducing.answered(by: member.node, about: node, ending, grace: grace, members, turn)
  }

  mutating func deadlineReached(_ members: AssociationTable, _ turn: Turn) {
    introducing.deadlineReached(members, turn)
  }

  // MARK: Removed nodes

  mutating func removed(_ node: NodeID) { tombstones.insert(node) }

  /// The same at our own wish: the others are asked to remove it too, unless that was done too often.
  mutating func removed(byUs node: NodeID, at now: Instant) throws(Ending) {
    removed(node)
    guard removals.take(at: now) else {
      let words = "\(removals.burst) members were removed at once: this one left here, and the others were not asked"
      throw Ending(.limitExceeded, .us, words)
    }
  }

  func wasRemoved(_ node: NodeID) -> Bool { tombstones.contains(node) }

  // MARK: A group

  /// A node has become a member.
  mutating func joined(_ node: NodeID, _ surroundings: Surroundings, _ turn: Turn) {
    tombstones.remove(node)
    guard isGroup, let newcomer = surroundings.associations[node], newcomer.isInGroup else { return }
    // The member that introduced it tells the others as well: nearly all of them know before it is our turn.
    let delay =
      newcomer.peer.introducedBy == nil
      ? Duration.zero : .milliseconds(1_000 + Int64(turn.random.next() % 1_000))
    for other in surroundings.associations.inOrder where other !== newcomer && other.isInGroup {
      group.want(Group.Pair(node, other.node), at: turn.now + delay)
    }
    bringTogether(surroundings, turn)
  }

  /// Introduces the pairs whose turn it is.
  mutating func bringTogether(_ surroundings: Surroundings, _ turn: Turn) {
    for pair in group.due(at: turn.now) {
      guard let one = surroundings.associations[pair.first], let other = surroundings.associations[pair.second],
        one.isInGroup, other.isInGroup, !wasRemoved(pair.first), !wasRemoved(pair.second)
      else {
        group.remove(pair)
        continue
      }
      let command = turn.takeOwnCommand()
      group.began(pair, command)
      introduce(command, pair.first, to: pair.second, within: Group.time, surroundings, turn)
    }
  }

  /// An introduction of the group's own has ended.
  mutating func ended(_ command: CommandID, _ reply: Reply, _ turn: Turn) {
    guard let pair = group.pair(introducedBy: command), let ending = group.ended(pair, reply, at: turn.now)
    else { return }
    turn.deliver(.membersApart(pair.first, pair.second, ending))
  }

  /// A member asks us to introduce another one to it.
  mutating func asked(for subject: NodeID, by member: Association, _ surroundings: Surroundings, _ turn: Turn) {
    guard isGroup, member.isInGroup, surroundings.associations[subject]?.isInGroup == true else { return }
    if let command = group.want(Group.Pair(member.node, subject), at: turn.now) {
      // One of the two has answered before it lost the other.
      cancel(command, surroundings.associations, turn)
    }
    bringTogether(surroundings, turn)
  }

  // MARK: The end

  /// An association is over: no answer comes from there.
  /// - Parameter told: how introductions of its node end.
  mutating func left(
    _ association: Association, _ ending: Ending, told: Ending, _ members: AssociationTable, _ turn: Turn
  ) {
    group.memberLeft(association.node)
    if isLost(association, ending) { askForLost(association.node, members, turn) }
    introducing.memberLeft(association.node, told, members, turn)
  }

  /// Whether it was a member that others may still have.
  private func isLost(_ association: Association, _ ending: Ending) -> Bool {
    isGroup && association.isMember && association.capabilities.contains(.group) && !hasEnded
      && ReasonClass(ending.reason) == .lost && ending.reason != .restarted
  }

  /// Members that may still have the lost one are asked to bring it back.
  private mutating func askForLost(_ node: NodeID, _ members: AssociationTable, _ turn: Turn) {
    // Without a bound, a member that comes and goes would make us break the others' bound.
    guard asks.take(at: turn.now) else { return }
    for other in members.inOrder.filter(\.isInGroup).prefix(Self.askedLimit) {
      other.send(.askToIntroduce(node.memberName), turn)
    }
  }

  /// Nothing new begins.
  mutating func endAll(_ ending: Ending, _ members: AssociationTable, _ turn: Turn) {
    hasEnded = true
    group.removeAll()
    introducing.endAll(ending, members, turn)
  }
}
