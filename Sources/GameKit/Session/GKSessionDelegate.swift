import Foundation

/// The calls of a session to its owner. Every method is optional. All are called on the main queue, in the order of the
/// events.
///
/// Without a delegate up to 1,024 calls wait for one; beyond that the oldest are dropped.
public protocol GKSessionDelegate: NSObjectProtocol {
  /// A peer's state has changed; each change is reported once. Nothing from a peer comes before it is connected, or
  /// after it is disconnected. After `stateDisconnected` a peer that is still in sight is `stateAvailable` at once.
  func session(_ session: GKSession, peer peerID: String, didChange state: GKPeerConnectionState)
  /// A peer wants to connect: to be answered with `acceptConnection(fromPeer:)` or `denyConnection(fromPeer:)`, now or
  /// later. Without an answer the peer's request ends at its timeout.
  func session(_ session: GKSession, didReceiveConnectionRequestFromPeer peerID: String)
  /// A request to connect, ours or the peer's, has ended without a connection. Or a connected peer was not heard for as
  /// long as `GKSession.disconnectTimeout`, and is reported as disconnected next. A `GKSessionError` says why.
  func session(_ session: GKSession, connectionWithPeerFailed peerID: String, withError error: any Error)
  /// The session can't work: `cannotEnableError` if no transport is available. The error is a `GKSessionError`.
  func session(_ session: GKSession, didFailWithError error: any Error)
}

extension GKSessionDelegate {
  /// Does nothing.
  public func session(_ session: GKSession, peer peerID: String, didChange state: GKPeerConnectionState) {}
  /// Leaves the request without an answer.
  public func session(_ session: GKSession, didReceiveConnectionRequestFromPeer peerID: String) {}
  /// Does nothing.
  public func session(_ session: GKSession, connectionWithPeerFailed peerID: String, withError error: any Error) {}
  /// Does nothing.
  public func session(_ session: GKSession, didFailWithError error: any Error) {}
}
