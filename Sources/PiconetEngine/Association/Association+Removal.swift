import PiconetWire

/// Removing one member at the request of another.
extension Association {
  /// Whether the last link with the member was over a relay, and is gone.
  var hasLostRelay: Bool { suspension != nil && addresses.lastKind == .relay }

  /// Asks the member to disconnect another one.
  func askToRemove(_ subject: NodeID, _ turn: Turn) {
    guard isStaying, capabilities.contains(.removal) else { return }
    send(.removeMember(subject: subject, .removed), turn)
  }

  /// Tells the member, before our goodbye, that another member has asked for its removal.
  func tellRemoved(by member: NodeID, _ turn: Turn) {
    if capabilities.contains(.removal) { send(.removed(by: member), turn) }
  }

  /// Handles the member's request that we disconnect another member.
  /// - Returns: the member to remove; nil if the request does not count.
  func receivedRemoval(of subject: NodeID, _ turn: Turn) throws(Breach) -> NodeID? {
    guard try speaksAsMember() else { return nil }
    guard subject != turn.node, subject != node else { throw Breach("removes itself, or whom it asks to") }
    try countMemberWord(turn)
    // A member that we are leaving is ignored: if two members remove each other, the first removal counts.
    return configuration.removals != .nobody && leaving == nil ? subject : nil
  }
}
