import PiconetWire

/// Members that we have left or removed and that may not know it, because there was no link or the goodbye was lost
/// with the link. A member that tries to resume such an association is told why it is over.
struct Farewells: Sendable {
  struct Farewell: Sendable {
    let association: AssociationID
    let reason: Reason
    /// When the remote side will have given up by itself.
    let until: Instant
  }

  private var said: [NodeID: Farewell] = [:]

  /// Keeps a farewell for a node that we leave while it has no link, or that our goodbye has not reached. The node can
  /// be told only when it comes back.
  /// - Parameter limit: the maximum number of farewells; beyond it, the farewell that ends first is dropped.
  mutating func note(_ farewell: Farewell, to node: NodeID, limit: Int, at now: Instant) {
    said[node] = farewell
    guard said.count > limit else { return }
    said = said.filter { $0.value.until > now }
    if said.count > limit, let first = said.min(by: { ($0.value.until, $0.key) < ($1.value.until, $1.key) }) {
      said[first.key] = nil
    }
  }

  /// Returns why the association that a node still holds is over; nil if we know nothing of it.
  func reason(for node: NodeID, holding association: AssociationID?, at now: Instant) -> Reason? {
    guard let farewell = said[node], farewell.association == association, farewell.until > now else { return nil }
    return farewell.reason
  }
}

extension Association {
  /// Returns what we tell the remote side if it tries to resume the association after its end; nil if the end is not
  /// remembered.
  func farewell(after ending: Ending, _ now: Instant) -> Farewells.Farewell? {
    guard isDurable, isMember, ending.blame != .peer else { return nil }
    let reason: Reason
    switch ReasonClass(ending.reason) {
    case .left: reason = .left
    case .removed: reason = .removed
    case .refused where ending.reason == .full: reason = .full
    case .lost, .broken, .refused: return nil
    }
    // The silence stated in the remote side's hello is half of its timeout.
    let patience = Duration.milliseconds(2 * Int64(clamping: min(limits.silence, 43_200_000)))
    return Farewells.Farewell(association: id, reason: reason, until: now + patience)
  }
}
