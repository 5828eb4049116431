import PiconetEngine
import PiconetWire

/// Lets chosen peers reach a node that hides or only searches.
extension Node {
  /// Lets one peer in for a time, while the node hides, only searches, or was never available: two such nodes meet when
  /// one expects the other, and the other dials an address of it (`invite(at:)`). The node is not advertised for it; it
  /// listens, and `listeningAddresses` has where. Any other peer that dials is refused with `notAvailable`, and learns
  /// nothing about which are expected.
  ///
  /// An expectation is no trust: the trust policy and `NodeConfiguration.visibility` decide as ever who is let in, and
  /// an invitation of the peer is answered as any other. It holds for each time that the peer comes, until its time is
  /// over, it is taken back (`stopExpecting`), or the node stops. An invitation that has come by then goes on.
  /// While the node is available to all, it makes no difference.
  /// - Parameters:
  ///   - peer: the fingerprint of its key, such as `Member.id.peer`, or as a person has read it:
  ///     `PeerID(hexadecimal:)`.
  ///   - duration: how long, more than 0 and at most 24 hours, from now. For a peer that is expected already, the new
  ///     time replaces the previous one.
  /// - Throws: `invalidArgument` for another duration; `limitExceeded` where 64 peers are expected; as `setAvailable`
  ///   why it can't listen, and the peer is expected all the same, where it can; `shuttingDown`.
  public func expect(_ peer: PeerID, for duration: Duration) async throws(PiconetError) {
    guard ExpectedPeers.isDuration(duration) else {
      throw PiconetError(.invalidArgument, blame: .us, detail: ExpectedPeers.durationRule)
    }
    if case .failure(let ending) = await core.answer(to: .expect(peer, for: duration)) {
      throw PiconetError(ending, peer: nil)
    }
    try await shell.listenForExpected()
  }

  /// Takes back that a peer is expected. What it has begun goes on; where the node listened for no other peer, it
  /// stops.
  public func stopExpecting(_ peer: PeerID) async { _ = await core.answer(to: .stopExpecting(peer)) }
}
