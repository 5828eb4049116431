import PiconetWire

/// Removing a member from the whole group. Nobody passes a request on: it is one frame to each member, and each acts on
/// its own association only, so that neither loops nor storms can come of it.
extension SessionEngine {
  /// Asks all other members to disconnect this one, and leaves it.
  mutating func remove(_ id: CommandID, _ remote: NodeID, _ turn: Turn) {
    guard let association = associations[remote], association.isMember, association.leaving == nil else {
      turn.reply(id, .failed(Ending(.noSuchAssociation, .us, "only members can be removed")))
      return
    }
    let subject = MemberName(peer: remote.peer, incarnation: remote.incarnation)
    for member in associations.inOrder
    where member !== association && member.isMember && member.leaving == nil && member.capabilities.contains(.removal) {
      member.send(.removeMember(subject: subject, .removed), turn)
    }
    leave(id, remote, .removed, by: node, turn)
  }

  mutating func receivedRemoveMember(_ subject: MemberName, from association: Association, _ turn: Turn)
    throws(Breach)
  {
    let remote = association.node
    guard try association.speaksAsMember() else { return }
    let subject = NodeID(peer: subject.peer, incarnation: subject.incarnation)
    guard subject != node, subject != remote else {
      throw Breach("removes itself, or whom it asks to")
    }
    // Who is on its way out has no say any more: of two that remove each other, the first is heard.
    guard configuration.allowsRemoval, association.leaving == nil, let member = associations[subject], member.isMember,
      member.leaving == nil
    else { return }
    if member.capabilities.contains(.removal) {
      member.send(.removed(by: MemberName(peer: remote.peer, incarnation: remote.incarnation)), turn)
    }
    leave(nil, subject, .removed, by: remote, turn)
  }
}
