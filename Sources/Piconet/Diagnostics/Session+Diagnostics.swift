import PiconetEngine
import PiconetWire

extension Session {
  /// Returns statistics of the connection to a member at this moment: transport, round trip, bytes and frames both
  /// ways, what waits, credit, and what has not been acknowledged. Nil once the member has left.
  ///
  /// Asking costs a hop to the node's thread; the counting itself costs next to nothing.
  public func statistics(for member: Member) async -> MemberStatistics? {
    guard let statistics = await core.statistics(of: member) else { return nil }
    return MemberStatistics(statistics, dropped: member.budgets.droppedCount)
  }

  /// Pings a member and measures the round trip. It covers what waits for the connection here and the remote side's
  /// node; the remote side's application takes no part in it.
  /// - Parameters:
  ///   - member: the member to ping.
  ///   - timeout: how long to wait. Default 10 s. A cancelled ping no longer counts as under way.
  /// - Throws: `timedOut`, `cancelled` for the calling task, `notConnected`, `limitExceeded` (16 pings to this member
  ///   are under way), or why the connection has ended.
  public func ping(_ member: Member, timeout: Duration = .seconds(10)) async throws(PiconetError) -> Duration {
    switch await core.answer(to: .ping(member.id, timeout: timeout), of: member) {
    case .success(let duration): return duration
    case .failure(let ending): throw PiconetError(ending, peer: member.id)
    }
  }
}
