import PiconetWire

/// What the two sides of one association have told each other of the group, and the rank that follows.
struct GroupStanding {
  /// What the remote side has told of its group.
  private(set) var remoteView: GroupView?
  /// What it was told of ours.
  private(set) var toldView: GroupView?
  /// The rank that it has if it says nothing else.
  private var admittedRank: UInt64 = 0

  /// Its rank in the group: what it says itself, or what follows from how it became a member.
  var rank: UInt64 {
    guard let told = remoteView?.rank, told > 0 else { return admittedRank }
    return told
  }

  /// The capacity of its session; without limit until it has said so.
  var capacity: UInt64 { remoteView?.capacity ?? VariableInteger.max }

  /// The remote side has told of its group.
  /// - Returns: whether that is news.
  mutating func received(_ view: GroupView) -> Bool {
    guard remoteView != view else { return false }
    remoteView = view
    return true
  }

  /// The remote side is told of ours.
  mutating func told(_ view: GroupView) { toldView = view }

  /// It has become a member, with this rank.
  mutating func admitted(rank: UInt64) { admittedRank = rank }
}
