import PiconetWire

/// Rate limits for words about other members that may have no effect: removals that are not followed, and requests to
/// be introduced. They hold no memory, but each is checked and acknowledged, and some make us ask a third node.
extension Allowance {
  /// For the words of one member ([wire-format.md, section 12](../../../Documentation/wire-format.md)).
  static let memberWords = Allowance(burst: 1_024, interval: .seconds(1))
  /// For our own removals. Together with `ownAsks`, no more than any member accepts.
  static let ownRemovals = Allowance(burst: 512, interval: .seconds(2))
  static let ownAsks = Allowance(burst: 512, interval: .seconds(2))
}

/// Whether the node is a member that counts, and what it may say of others.
extension Association {
  /// A member that we are not leaving: only such members are asked to remove another, and can be removed.
  var isStaying: Bool { isMember && leaving == nil }

  /// Why we can't invite its node; nil if we can.
  var refusalOfInvitation: Ending? {
    if invitations.own != nil { return Ending(.inProgress, .us) }
    if isMember { return Ending(.alreadyConnected, .us) }
    return leaving == nil ? nil : Ending(.inProgress, .us, "we are leaving this peer")
  }

  /// Returns whether a frame that only a member may send counts.
  func speaksAsMember() throws(Breach) -> Bool {
    if isMember { return true }
    guard dropsMemberFrames else { throw Breach("a word about members by one that is none") }
    return false
  }
}
