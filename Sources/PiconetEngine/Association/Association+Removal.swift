import PiconetWire

/// Words about other members that may come to nothing: removals that are not followed, and requests to be introduced.
/// They hold nothing, but each is looked at and acknowledged, and some ask a third node.
extension Allowance {
  /// For what one member says ([wire-format.md, section 12](../../../Documentation/wire-format.md)).
  static let memberWords = Allowance(burst: 1_024, interval: .seconds(1))
  /// For our own removals: together with `ownAsks` no more than any member takes.
  static let ownRemovals = Allowance(burst: 512, interval: .seconds(2))
  static let ownAsks = Allowance(burst: 512, interval: .seconds(2))
}

/// The removal of one member at the wish of another.
extension Association {
  /// A member that we are not leaving: only such members are asked to remove another, and can be removed.
  var isStaying: Bool { isMember && leaving == nil }

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

  /// Counts a word about another member as one that comes to nothing.
  func countMemberWord(_ turn: Turn) throws(Breach) {
    guard allowances.memberWords.take(at: turn.now) else {
      throw Breach("more than \(allowances.memberWords.burst) words about members that come to nothing", .limitExceeded)
    }
  }

  /// The last word about another member came to something after all, and does not count.
  func giveBackMemberWord() { allowances.memberWords.giveBack() }

  /// Whether a frame that only a member may send counts.
  func speaksAsMember() throws(Breach) -> Bool {
    if isMember { return true }
    guard dropsMemberFrames else { throw Breach("a word about members by one that is none") }
    return false
  }
}
