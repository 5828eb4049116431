import PiconetWire

/// Members that we have left or removed, and that may not know it, because there was no link or the goodbye was lost
/// with it: who comes back for such an association is told why it is over.
struct Farewells: Sendable {
  struct Farewell: Sendable {
    let association: AssociationID
    let reason: Reason
    /// When the remote side has given up by itself.
    let until: Instant
  }

  private var said: [NodeID: Farewell] = [:]

  /// A member that is left while it has no link can be told only when it comes back; so can one that our goodbye has
  /// not reached.
  /// - Parameter limit: with more the one goes that ends first.
  mutating func note(_ farewell: Farewell, to node: NodeID, limit: Int, at now: Instant) {
    said[node] = farewell
    guard said.count > limit else { return }
    said = said.filter { $0.value.until > now }
    if said.count > limit, let first = said.min(by: { ($0.value.until, $0.key) < ($1.value.until, $1.key) }) {
      said[first.key] = nil
    }
  }

  /// Why the association that a node still holds is over; nil where nothing is known.
  func reason(for node: NodeID, holding association: AssociationID?, at now: Instant) -> Reason? {
    guard let farewell = said[node], farewell.association == association, farewell.until > now else { return nil }
    return farewell.reason
  }
}
