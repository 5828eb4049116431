import Foundation

/// The peers that a choice shows, with their states in the session: peers that were found, and that the delegate allows
/// to be shown.
///
/// Unchecked: `controller` is set once, before this is shared, and read on the main actor; the rest is under the lock.
final class BrowserFollowing: NSObject, MCNearbyServiceBrowserDelegate, @unchecked Sendable {
  weak var controller: MCBrowserViewController?
  private let session: MCSession
  private let lock = NSLock()
  private var nearby: [NearbyChoice.Nearby] = []
  private var changed: AsyncStream<[NearbyChoice.Nearby]>.Continuation?

  init(_ session: MCSession) { self.session = session }

  /// Returns the peers from now on, again after each change.
  func changes() -> AsyncStream<[NearbyChoice.Nearby]> {
    let (changes, changed) = AsyncStream.makeStream(
      of: [NearbyChoice.Nearby].self, bufferingPolicy: .bufferingNewest(1))
    session.core.observe { [weak self] peer, state in self?.stands(peer, state) }
    update { $0.changed = changed }
    return changes
  }

  func end() {
    session.core.observe(nil)
    lock.withLock {
      changed?.finish()
      changed = nil
      nearby = []
    }
  }

  func found(_ peer: MCPeerID, _ info: [String: String]?) {
    DispatchQueue.main.async { [self] in
      MainActor.assumeIsolated {
        guard controller?.presents(peer, info) ?? false else { return }
        let isConnected = session.connectedPeers.contains(peer)
        update { following in
          following.nearby.removeAll { $0.peer == peer }
          following.nearby.append(NearbyChoice.Nearby(peer: peer, state: isConnected ? .connected : .notConnected))
        }
      }
    }
  }

  func lost(_ peer: MCPeerID) {
    // Queued behind the question whether the peer is shown. A connected peer stays, even if it stops advertising.
    DispatchQueue.main.async { [self] in
      update { following in following.nearby.removeAll { $0.peer == peer && $0.state != .connected } }
    }
  }

  private func stands(_ peer: MCPeerID, _ state: MCSessionState) {
    update { following in
      let standing = NearbyChoice.Nearby(peer: peer, state: state)
      if let index = following.nearby.firstIndex(where: { $0.peer == peer }) {
        following.nearby[index] = standing
      } else if state != .notConnected {
        following.nearby.append(standing)
      }
    }
  }

  private func update(_ body: (BrowserFollowing) -> Void) {
    lock.withLock {
      body(self)
      changed?.yield(nearby)
    }
  }

  func browser(
    _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID, withDiscoveryInfo info: [String: String]?
  ) { found(peerID, info) }

  func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) { lost(peerID) }
}
