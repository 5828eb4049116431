import PiconetWire

/// The removal of one member at the wish of another.
extension Association {
  /// Asks the member to disconnect another one.
  func askToRemove(_ subject: NodeID, _ turn: Turn) {
    guard isStaying, capabilities.contains(.removal) else { return }
    send(.removeMember(subject: subject.memberName, .removed), turn)
  }

  /// Tells the member, before the goodbye, that another one wants it removed.
  func tellRemoved(by member: NodeID, _ turn: Turn) {
    if capabilities.contains(.removal) { send(.removed(by: member.memberName), turn) }
  }

  /// The member asks us to disconnect another one.
  /// - Returns: that one; nil if the wish does not count.
  func receivedRemoval(of subject: MemberName, _ turn: Turn) throws(Breach) -> NodeID? {
    guard try speaksAsMember() else { return nil }
    let subject = NodeID(subject)
    guard subject != turn.node, subject != node else { throw Breach("removes itself, or whom it asks to") }
    try countMemberWord(turn)
    // The words of a member that we are leaving are ignored: if two remove each other, the first counts.
    return configuration.removals != .nobody && leaving == nil ? subject : nil
  }
}
