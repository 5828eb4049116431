import PiconetWire

/// Removals of members from the whole group. No member passes a request on. It is one frame to each member, and each
/// member acts only on its own association, so neither loops nor storms can arise.
struct Removals {
  /// The members that a removed node leaves by itself if it can no longer reach them.
  private struct Rest {
    let deadline: Instant
    /// The last membership that had begun when the node was removed. Later ones stay.
    let lastMembership: UInt64
  }

  /// How long a removed node waits for the others to leave it, as they were asked to.
  static let grace = Duration.milliseconds(500)
  /// How long a goodbye to a removed node may take. Data sent to it before need not arrive.
  static let leaveTimeout = Duration.milliseconds(750)

  /// The policy for whose requests count.
  private let policy: RemovalPolicy
  /// Rate limiter for our own removals from the group.
  private var allowance = Allowance.ownRemovals
  private var rest: Rest? { didSet { watch.changed() } }
  /// Told of changes to what `nextDeadline` depends on.
  private let watch: DeadlineWatch

  init(_ configuration: EngineConfiguration, _ watch: DeadlineWatch) {
    policy = configuration.removals
    self.watch = watch
  }

  var nextDeadline: Instant? { rest?.deadline }

  /// Handles a member's goodbye that says that we are removed from the group. That member asks the others to leave us
  /// too. If it was the relay between them and us, their goodbyes are lost, so we leave them a little later. This
  /// applies only if every member's wish counts here as well.
  mutating func removed(by member: Association, _ turn: Turn) {
    guard policy == .members, member.isMember, member.isOfGroup else { return }
    rest = Rest(deadline: rest?.deadline ?? turn.now + Self.grace, lastMembership: turn.membershipCount)
  }

  /// Takes out the members whose goodbyes can't arrive.
  mutating func takeRest(_ members: AssociationTable, _ turn: Turn) -> [NodeID] {
    guard let rest, rest.deadline <= turn.now else { return [] }
    self.rest = nil
    return members.inOrder.filter { member in
      member.isStaying && member.isOfGroup && member.hasLostRelay && member.membershipNumber <= rest.lastMembership
    }.map(\.node)
  }

  /// Asks all other members to disconnect this member, which we leave here.
  mutating func remove(
    _ id: CommandID, _ node: NodeID, _ members: AssociationTable, _ turn: Turn
  ) -> IntroductionStep? {
    guard let subject = members[node], subject.isStaying else {
      turn.reply(id, .failed(Ending(.noSuchAssociation, .us, "only members can be removed")))
      return nil
    }
    turn.introduced.removed(node, by: nil)
    guard allowance.take(at: turn.now) else {
      let words = "\(allowance.burst) members were removed at once: this one left here, and the others were not asked"
      turn.reply(id, .failed(Ending(.limitExceeded, .us, words)))
      return .leave(node, nil, by: turn.node)
    }
    for member in members.inOrder where member !== subject { member.askToRemove(node, turn) }
    return .leave(node, id, by: turn.node)
  }

  /// Handles a member's request to remove another member, which we leave if such a request counts here. A node that was
  /// only introduced does not become a member.
  mutating func remove(
    _ node: NodeID, for member: Association, _ members: AssociationTable, _ turn: Turn
  ) -> IntroductionStep? {
    guard let subject = members[node], subject.isStaying else {
      guard let entry = turn.introduced.entries[node],
        policy.counts(ofIntroducer: entry.firstIntroducer.peer == member.node.peer)
      else { return nil }
      count(node, for: member, turn)
      let ending = Ending(.removed, .peer, "a member has removed it", by: member.node)
      return turn.introduced.end(node, ending, told: ending, members, turn)
    }
    guard policy.counts(ofIntroducer: subject.peer.introducedBy?.peer == member.node.peer) else { return nil }
    count(node, for: member, turn)
    subject.tellRemoved(by: member.node, turn)
    return .leave(node, nil, by: member.node)
  }

  /// Notes that the request counts, so that no introduction brings the node back.
  private mutating func count(_ node: NodeID, for member: Association, _ turn: Turn) {
    member.giveBackMemberWord()
    turn.introduced.removed(node, by: member.node.peer)
  }
}
