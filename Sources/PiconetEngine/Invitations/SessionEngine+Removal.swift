import PiconetWire

/// Removing a member from the whole group. Nobody passes a request on: it is one frame to each member, and each acts on its own
/// association only, so that neither loops nor storms can come of it.
extension SessionEngine {
  /// Asks all other members to disconnect this one, and leaves it.
  mutating func remove(_ id: CommandID, _ far: NodeID, _ turn: inout Turn) {
    guard let association = associations[far], association.isMember, association.leaving == nil else {
      turn.reply(id, .failed(Ending(.noSuchAssociation, .us, "only members can be removed")))
      return
    }
    let subject = MemberName(peer: far.peer, incarnation: far.incarnation)
    for other in associations.keys.sorted() where other != far {
      guard let member = associations[other], member.isMember, member.leaving == nil,
        member.capabilities.contains(.removal)
      else { continue }
      send(.removeMember(subject: subject, .removed), to: other, &turn)
    }
    leave(id, far, .removed, by: node, &turn)
  }

  mutating func removeMemberCame(
    _ subject: MemberName, from far: NodeID, on id: LinkID, _ turn: inout Turn
  ) {
    guard isMemberFrame(from: far, on: id, &turn) else { return }
    let subject = NodeID(peer: subject.peer, incarnation: subject.incarnation)
    guard subject != node, subject != far else {
      breach(id, .protocolBroken, "removes itself, or whom it asks to", &turn)
      return
    }
    // Who is on its way out has no say any more: of two that remove each other, the first is heard.
    guard configuration.allowsRemoval, associations[far]?.leaving == nil,
      let association = associations[subject], association.isMember, association.leaving == nil
    else { return }
    if association.capabilities.contains(.removal) {
      send(.removed(by: MemberName(peer: far.peer, incarnation: far.incarnation)), to: subject, &turn)
    }
    leave(nil, subject, .removed, by: far, &turn)
  }

  /// The leave that follows is the wish of another member.
  mutating func removedCame(
    _ member: MemberName, from far: NodeID, on id: LinkID, _ turn: inout Turn
  ) {
    guard isMemberFrame(from: far, on: id, &turn) else { return }
    associations[far]?.removedBy = NodeID(peer: member.peer, incarnation: member.incarnation)
  }

  private mutating func isMemberFrame(
    from far: NodeID, on id: LinkID, _ turn: inout Turn
  ) -> Bool {
    if associations[far]?.isMember == true { return true }
    if associations[far]?.dropsMemberFrames != true {
      breach(id, .protocolBroken, "a removal by one that is no member", &turn)
    }
    return false
  }
}
