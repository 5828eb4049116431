import PiconetWire

/// How the end of an association is seen by either side.
extension Association {
  /// How it has ended for those of our own node.
  func ending(of ending: Ending, seenBy node: NodeID) -> Ending {
    var ending = ending
    // Its farewell took too long, so that only the link's end told why: whoever ended it has said so.
    if ending.reason == .removed, ending.blame != .peer, ending.by == nil { ending.by = node }
    // Whoever has said goodbye is not told of a failed link: the remote side's closing is what it waited for.
    guard let leaving, leaving.isTold, ending.reason != .removed || leaving.reason == .removed else { return ending }
    return Ending(leaving.reason, .nobody, by: leaving.by)
  }

  /// How it ends by the remote side's goodbye.
  func endingByLeave(_ reason: Reason, _ detail: String) -> Ending {
    // Of a leave and a removal that cross, the removal counts on both sides.
    let isOurs = leaving?.isTold == true && (reason != .removed || leaving?.reason == .removed)
    return Ending(reason, isOurs ? .nobody : .peer, detail, by: reason == .removed ? removedBy ?? node : nil)
  }
}
