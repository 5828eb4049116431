import PiconetWire

/// How the end of an association is reported.
extension Association {
  /// Returns the ending that is reported for this association on our side.
  func ending(of ending: Ending, seenBy node: NodeID) -> Ending {
    var ending = ending
    // The goodbye took too long, so the link supplies the ending. We removed the member.
    if ending.reason == .removed, ending.blame != .peer, ending.by == nil { ending.by = node }
    // After a goodbye the loss of the link is no failure: we were waiting for the remote side to close it. A removal
    // counts even without a goodbye.
    guard let leaving, leaving.isTold || leaving.reason == .removed, !isCounted(ending.reason) else { return ending }
    return Ending(leaving.reason, leaving.isTold ? .nobody : .us, by: leaving.by)
  }

  /// Returns how the remote side's goodbye ends the association.
  func endingByLeave(_ reason: Reason, _ detail: String) -> Ending {
    let isOurs = leaving?.isTold == true && !isCounted(reason)
    return Ending(reason, isOurs ? .nobody : .peer, detail, by: reason == .removed ? removedBy ?? node : nil)
  }

  /// Returns whether an end for this reason counts in place of our goodbye. If two goodbyes cross, both sides must
  /// count the same one.
  private func isCounted(_ reason: Reason) -> Bool {
    leaving.map { ReasonClass(reason).countsBefore(ReasonClass($0.reason)) } ?? true
  }
}
