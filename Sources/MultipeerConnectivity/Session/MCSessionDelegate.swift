import Foundation

/// The events of a session. All calls come on a private serial queue of the session, one after the other, in the order
/// of the events. Nothing from a peer comes before it is reported as connected, or after it is reported as not
/// connected. A call that does not return holds up those behind it, and in the end the senders.
///
/// Source: `MCSessionDelegate` of Multipeer Connectivity. Methods that are optional there have a default here.
public protocol MCSessionDelegate: NSObjectProtocol {
  /// A peer's state has changed. `connected`: both sides have it in their sessions from now on. `notConnected`: it has
  /// left, was lost, or has not come; `MCSession.error(forPeer:)` says why.
  func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState)

  /// A whole message. It is the peer's own words: not to be trusted.
  func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID)

  /// The peer has opened a stream. To use it, set a delegate, schedule it on a run loop, and open it.
  func session(
    _ session: MCSession, didReceive stream: InputStream, withName streamName: String, fromPeer peerID: MCPeerID)

  /// A resource is on its way; cancelling the progress cancels it on both sides.
  func session(
    _ session: MCSession, didStartReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
    with progress: Progress)

  /// A resource has arrived, or has failed.
  /// - Parameter localURL: a temporary file, which is removed when this returns: move it, or read it. Nil if it failed.
  func session(
    _ session: MCSession, didFinishReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
    at localURL: URL?, withError error: (any Error)?)

  /// Asks whether the peer may be connected, by the certificates that its connection has proven.
  ///
  /// Without an answer within 30 s the peer is not connected, and is told so. Default: yes.
  /// - Parameters:
  ///   - certificate: `Data` in DER each, that of the peer's key first. If no authority has issued it, its key has
  ///     signed it itself, and it was made for this start of the program.
  ///   - certificateHandler: to be called once, from any thread.
  func session(
    _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
    certificateHandler: @escaping (Bool) -> Void)
}

extension MCSessionDelegate {
  /// Accepts the certificate.
  public func session(
    _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
    certificateHandler: @escaping (Bool) -> Void
  ) { certificateHandler(true) }
}
