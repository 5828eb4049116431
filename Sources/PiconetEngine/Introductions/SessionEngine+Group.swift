import PiconetWire

/// Groups: a node that joins one member joins all. Each introduces a new member to its others, so all soon know all,
/// and a member that one loses is brought back by the others.
extension SessionEngine {
  private var isGroup: Bool { configuration.membership == .group }

  /// A node has become a member.
  mutating func joinedGroup(_ node: NodeID, _ turn: Turn) {
    guard isGroup, let newcomer = associations[node], newcomer.isInGroup else { return }
    // The member that introduced it tells the others as well: nearly all of them know before it is our turn.
    let delay =
      newcomer.peer.introducedBy == nil
      ? Duration.zero : .milliseconds(1_000 + Int64(turn.random.next() % 1_000))
    for other in associations.inOrder where other !== newcomer && other.isInGroup {
      group.want(Group.Pair(node, other.node), at: turn.now + delay)
    }
    bringTogether(turn)
  }

  /// Introduces the pairs whose turn it is.
  mutating func bringTogether(_ turn: Turn) {
    for pair in group.due(at: turn.now) {
      guard let one = associations[pair.first], let other = associations[pair.second], one.isInGroup, other.isInGroup,
        !tombstones.contains(pair.first), !tombstones.contains(pair.second)
      else {
        group.remove(pair)
        continue
      }
      let command = turn.takeOwnCommand()
      group.began(pair, command)
      introduce(command, pair.first, to: pair.second, within: Group.time, turn)
    }
  }

  /// An introduction of the group's own has ended.
  mutating func groupIntroductionEnded(_ command: CommandID, _ reply: Reply, _ turn: Turn) {
    guard let pair = group.pair(introducedBy: command), let ending = group.ended(pair, reply, at: turn.now)
    else { return }
    turn.deliver(.membersApart(pair.first, pair.second, ending))
  }

  /// A member is lost that others may still have: they are asked to bring it back.
  mutating func lostMember(_ association: Association, _ ending: Ending, _ turn: Turn) {
    guard isGroup, association.isMember, association.capabilities.contains(.group), shutdown == nil,
      ReasonClass(ending.reason) == .lost, ending.reason != .restarted
    else { return }
    // Without a bound, a member that comes and goes would make us break the others' bound.
    guard asks.take(at: turn.now) else { return }
    for other in associations.inOrder.filter(\.isInGroup).prefix(Self.askedLimit) {
      other.send(.askToIntroduce(association.node.memberName), turn)
    }
  }

  /// How many members are asked to bring a lost one back.
  private static let askedLimit = 4

  /// A member asks us to introduce another one to it.
  mutating func askedToIntroduce(_ subject: NodeID, to member: Association, _ turn: Turn) {
    guard isGroup, member.isInGroup, associations[subject]?.isInGroup == true else { return }
    if let command = group.want(Group.Pair(member.node, subject), at: turn.now) {
      // One of the two has answered before it lost the other.
      introducing.cancel(command, associations, turn)
    }
    bringTogether(turn)
  }
}
