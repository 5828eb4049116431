import PiconetEngine
import PiconetWire

/// Lets chosen peers reach a node that hides or only searches.
extension Node {
  /// Lets one peer in for a time while the node hides, only searches, or was never available. Two such nodes meet when
  /// one expects the other, and the other dials an address of it (`invite(at:)`). The node listens, on
  /// `listeningAddresses`, but is not advertised. Any other peer that dials is refused with `notAvailable`, and can't
  /// learn which peers are expected.
  ///
  /// An expectation is not trust: the trust policy and `NodeConfiguration.visibility` still decide which peers are let
  /// in, and the application answers an invitation of the peer as any other. The expectation holds each time the peer
  /// comes, until its time is over, it is withdrawn (`stopExpecting`), or the node stops. An invitation that has come
  /// by then goes on. While the node is available to all, an expectation makes no difference.
  /// - Parameters:
  ///   - peer: the fingerprint of its key, such as `Member.id.peer`, or as a person has read it:
  ///     `PeerID(hexadecimal:)`.
  ///   - duration: how long, more than 0 and at most 24 hours, from now. For a peer that is expected already, the new
  ///     time replaces the previous one.
  /// - Throws: `invalidArgument` for another duration; `limitExceeded` where 64 peers are expected; the reason why the
  ///   node can't listen (see `setAvailable`), while the peer is still expected wherever the node can listen;
  ///   `shuttingDown`.
  public func expect(_ peer: PeerID, for duration: Duration) async throws(PiconetError) {
    guard ExpectedPeers.isDuration(duration) else {
      throw PiconetError(.invalidArgument, blame: .us, detail: ExpectedPeers.durationRule)
    }
    if case .failure(let ending) = await core.answer(to: .expect(peer, for: duration)) {
      throw PiconetError(ending, peer: nil)
    }
    try await shell.listenForExpected()
  }

  /// Stops expecting a peer. Connections and invitations that the peer has begun go on. If the node listened for no
  /// other peer, it stops listening.
  public func stopExpecting(_ peer: PeerID) async { _ = await core.answer(to: .stopExpecting(peer)) }
}
