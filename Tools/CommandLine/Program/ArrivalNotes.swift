import Piconet

/// Decides which arrivals are reported, and with them the departures: strangers come and go as often as they like.
final class ArrivalNotes: Sendable {
  private let joins = Guarded(NoticeBudget(of: NoticeBudget.memberBurst))
  /// Members whose arrival went unreported.
  private let untold = Guarded<Set<NodeID>>([])

  /// - Returns: how many before went unreported; nil: this one is not reported either.
  func joined(_ peer: ProvenMember) -> Int? {
    let suppressed = joins.change { $0.take(peer) }
    if suppressed == nil { untold.change { _ = $0.insert(peer.id) } }
    return suppressed
  }

  /// - Returns: whether its arrival was reported.
  func left(_ peer: NodeID) -> Bool { untold.change { $0.remove(peer) } == nil }
}
