import PiconetWire

/// How the end of an association is seen by either side.
extension Association {
  /// How it has ended, as our own node sees it.
  func ending(of ending: Ending, seenBy node: NodeID) -> Ending {
    var ending = ending
    // The goodbye took too long, so only the link's end gave the reason; it is ours.
    if ending.reason == .removed, ending.blame != .peer, ending.by == nil { ending.by = node }
    // After a goodbye the loss of the link is no failure: the remote side's closing is what we waited for.
    guard let leaving, leaving.isTold, ending.reason != .removed || leaving.reason == .removed else { return ending }
    return Ending(leaving.reason, .nobody, by: leaving.by)
  }

  /// How the remote side's goodbye ends it.
  func endingByLeave(_ reason: Reason, _ detail: String) -> Ending {
    // Of a leave and a removal that cross, the removal counts on both sides.
    let isOurs = leaving?.isTold == true && (reason != .removed || leaving?.reason == .removed)
    return Ending(reason, isOurs ? .nobody : .peer, detail, by: reason == .removed ? removedBy ?? node : nil)
  }
}
