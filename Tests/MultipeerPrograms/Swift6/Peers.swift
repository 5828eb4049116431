@preconcurrency import MultipeerConnectivity

/// What happens to a session, for `for await`.
public enum PeerEvent: Sendable {
  case state(MCPeerID, MCSessionState)
  case data(Data, MCPeerID)
}

/// An actor around a session, as programs in Swift 6 have it.
public actor Peers {
  private let session: MCSession
  private let bridge: Bridge
  private let browser: MCNearbyServiceBrowser
  private var waiting: [MCPeerID: CheckedContinuation<Void, any Error>] = [:]
  public nonisolated let events: AsyncStream<PeerEvent>

  public init(name: String) {
    let peer = MCPeerID(displayName: name)
    let (events, continuation) = AsyncStream.makeStream(of: PeerEvent.self)
    self.events = events
    session = MCSession(peer: peer, securityIdentity: nil, encryptionPreference: .required)
    browser = MCNearbyServiceBrowser(peer: peer, serviceType: "peers")
    bridge = Bridge(events: continuation)
    session.delegate = bridge
  }

  /// Waits until the peer is connected.
  public func connect(_ peer: MCPeerID) async throws {
    try await withCheckedThrowingContinuation { continuation in
      waiting[peer] = continuation
      browser.invitePeer(peer, to: session, withContext: nil, timeout: 10)
    }
  }

  public func took(_ event: PeerEvent) {
    switch event {
    case .state(let peer, .connected): waiting.removeValue(forKey: peer)?.resume()
    case .state(let peer, .notConnected): waiting.removeValue(forKey: peer)?.resume(throwing: MCError(.notConnected))
    default: break
    }
  }

  public func send(_ data: Data) throws { try session.send(data, toPeers: session.connectedPeers, with: .reliable) }

  public func sendFile(_ url: URL, to peer: MCPeerID) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      _ = session.sendResource(at: url, withName: url.lastPathComponent, toPeer: peer) { error in
        if let error { continuation.resume(throwing: error) } else { continuation.resume() }
      }
    }
  }

  public func disconnect() { session.disconnect() }
}

private final class Bridge: NSObject, MCSessionDelegate, Sendable {
  private let events: AsyncStream<PeerEvent>.Continuation

  init(events: AsyncStream<PeerEvent>.Continuation) { self.events = events }

  func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
    events.yield(.state(peerID, state))
  }
  func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
    events.yield(.data(data, peerID))
  }
  func session(
    _ session: MCSession, didReceive stream: InputStream, withName streamName: String, fromPeer peerID: MCPeerID
  ) {}
  func session(
    _ session: MCSession, didStartReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
    with progress: Progress
  ) {}
  func session(
    _ session: MCSession, didFinishReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
    at localURL: URL?, withError error: (any Error)?
  ) {}
}
