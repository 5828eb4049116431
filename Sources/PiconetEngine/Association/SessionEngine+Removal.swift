import PiconetWire

/// Removing a member from the whole group. No member passes a request on: it is one frame to each member, and each acts
/// only on its own association, so neither loops nor storms can arise.
extension SessionEngine {
  /// Asks all other members to disconnect this one, and leaves it.
  mutating func remove(_ id: CommandID, _ remote: NodeID, _ turn: Turn) {
    guard let association = associations[remote], association.isStaying else {
      turn.reply(id, .failed(Ending(.noSuchAssociation, .us, "only members can be removed")))
      return
    }
    do throws(Ending) {
      try introducer.removed(byUs: remote, at: turn.now)
    } catch {
      turn.reply(id, .failed(error))
      return leave(nil, remote, .removed, by: node, turn)
    }
    for member in associations.inOrder where member !== association { member.askToRemove(remote, turn) }
    leave(id, remote, .removed, by: node, turn)
  }

  /// Leaves a member because another member asks for its removal, if such a request counts here.
  mutating func remove(_ remote: NodeID, for member: Association, _ turn: Turn) {
    guard let association = associations[remote], association.isStaying else {
      guard let entry = turn.introduced.entries[remote],
        configuration.removals.counts(ofIntroducer: entry.introducers.contains { $0.node.peer == member.node.peer })
      else { return }
      member.giveBackMemberWord()
      // No introduction may bring it back.
      introducer.removed(remote)
      let ending = Ending(.removed, .peer, "a member has removed it", by: member.node)
      return follow(.end(remote, ending, told: ending), turn)
    }
    guard configuration.removals.counts(ofIntroducer: association.peer.introducedBy?.peer == member.node.peer) else {
      return
    }
    member.giveBackMemberWord()
    introducer.removed(remote)
    association.tellRemoved(by: member.node, turn)
    leave(nil, remote, .removed, by: member.node, turn)
  }
}
