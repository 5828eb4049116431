import PiconetWire

/// What the two sides of one association have told each other of the group, and the rank that follows from it.
struct GroupStanding {
  /// The view of its group that the remote side has told.
  private(set) var remoteView: GroupView?
  /// The view of our group that the remote side was told.
  private(set) var toldView: GroupView?
  /// The rank of the remote side if it states none.
  private var admittedRank: UInt64 = 0

  /// The remote side's rank in the group: the rank that it states, or else the one that follows from how it became a
  /// member.
  var rank: UInt64 {
    guard let told = remoteView?.rank, told > 0 else { return admittedRank }
    return told
  }

  /// The capacity of the remote side's session; without limit until it has stated it.
  var capacity: UInt64 { remoteView?.capacity ?? VariableInteger.max }

  /// Takes the remote side's view of its group.
  /// - Returns: whether the view is news.
  mutating func received(_ view: GroupView) -> Bool {
    guard remoteView != view else { return false }
    remoteView = view
    return true
  }

  /// Notes that the remote side was told of our group.
  mutating func told(_ view: GroupView) { toldView = view }

  /// Notes that the remote side has become a member, with this rank.
  mutating func admitted(rank: UInt64) { admittedRank = rank }
}
