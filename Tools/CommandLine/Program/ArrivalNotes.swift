import Piconet

/// Whose coming is told, and whose going with it: strangers come and go as often as they like.
final class ArrivalNotes: Sendable {
  private let joins = Guarded(NoticeBudget(of: NoticeBudget.memberBurst))
  /// Members that were not told.
  private let untold = Guarded<Set<NodeID>>([])

  /// - Returns: how many before were not told; nil: this one isn't, either.
  func joined(_ peer: ProvenMember) -> Int? {
    let suppressed = joins.change { $0.take(peer) }
    if suppressed == nil { untold.change { _ = $0.insert(peer.id) } }
    return suppressed
  }

  /// - Returns: whether its coming was told.
  func left(_ peer: NodeID) -> Bool { untold.change { $0.remove(peer) } == nil }
}
