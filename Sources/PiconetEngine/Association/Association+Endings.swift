import PiconetWire

/// How the end of an association is reported.
extension Association {
  /// The ending that is reported for this association on our side.
  func ending(of ending: Ending, seenBy node: NodeID) -> Ending {
    var ending = ending
    // The goodbye took too long, so the ending comes from the link. The removal was ours.
    if ending.reason == .removed, ending.blame != .peer, ending.by == nil { ending.by = node }
    // After a goodbye the loss of the link is no failure: the remote side's closing is what we waited for.
    // A removal needs no goodbye to be one.
    guard let leaving, leaving.isTold || leaving.reason == .removed, !isCounted(ending.reason) else { return ending }
    return Ending(leaving.reason, leaving.isTold ? .nobody : .us, by: leaving.by)
  }

  /// How the remote side's goodbye ends the association.
  func endingByLeave(_ reason: Reason, _ detail: String) -> Ending {
    let isOurs = leaving?.isTold == true && !isCounted(reason)
    return Ending(reason, isOurs ? .nobody : .peer, detail, by: reason == .removed ? removedBy ?? node : nil)
  }

  /// Whether an end for this reason counts in place of our goodbye: of two goodbyes that cross the same one counts on
  /// both sides.
  private func isCounted(_ reason: Reason) -> Bool {
    leaving.map { ReasonClass(reason).countsBefore(ReasonClass($0.reason)) } ?? true
  }
}
