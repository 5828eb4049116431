import PiconetWire

/// Removing a member from the whole group. No member passes a request on: it is one frame to each member, and each acts
/// only on its own association, so neither loops nor storms can arise.
struct Removals {
  /// Whose requests count.
  private let policy: RemovalPolicy
  /// How many members we may still remove from the group.
  private var allowance = Allowance.ownRemovals

  init(_ configuration: EngineConfiguration) { policy = configuration.removals }

  /// Asks all other members to disconnect this one, which is left here.
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

  /// A member asks for the removal of another one, which is left if such a request counts here. One that was only
  /// introduced does not become a member.
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

  /// The request counts, and no introduction may bring the node back.
  private mutating func count(_ node: NodeID, for member: Association, _ turn: Turn) {
    member.giveBackMemberWord()
    turn.introduced.removed(node, by: member.node.peer)
  }
}
