import PiconetWire

/// How the end of an association is reported.
extension Association {
  /// The ending that is reported for this association on our side.
  func ending(of ending: Ending, seenBy node: NodeID) -> Ending {
    var ending = ending
    // The goodbye took too long, so the ending comes from the link. The removal was ours.
    if ending.reason == .removed, ending.blame != .peer, ending.by == nil { ending.by = node }
    // After a goodbye the loss of the link is no failure: the remote side's closing is what we waited for.
    guard let leaving, leaving.isTold, ending.reason != .removed || leaving.reason == .removed else { return ending }
    return Ending(leaving.reason, .nobody, by: leaving.by)
  }

  /// How the remote side's goodbye ends the association.
  func endingByLeave(_ reason: Reason, _ detail: String) -> Ending {
    // If a leave and a removal cross, the removal counts on both sides.
    let isOurs = leaving?.isTold == true && (reason != .removed || leaving?.reason == .removed)
    return Ending(reason, isOurs ? .nobody : .peer, detail, by: reason == .removed ? removedBy ?? node : nil)
  }
}
