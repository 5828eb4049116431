import Foundation
import Piconet

/// Looks for peers that advertise a type of service, and invites them into sessions.
///
/// Any thread may use it. The delegate is called on a private serial queue. One that is dropped stops.
///
/// Source: `MCNearbyServiceBrowser` of Multipeer Connectivity. Where a type breaks a rule, and Apple's stops the
/// program, this tells the delegate (`browser(_:didNotStartBrowsingForPeers:)`) which one. It never finds its own peer.
///
/// Unchecked, since it may be subclassed: what changes here has locks, and a subclass is responsible for variables that
/// it adds. It repeats the words, or the compiler warns.
open class MCNearbyServiceBrowser: NSObject, @unchecked Sendable {
  private let peer: MCPeerID
  private let type: String
  private let delegates = DelegateReference()
  private let queue = DispatchQueue(label: "MultipeerConnectivity.browser")
  private let running = Running<BrowsingRun>()
  /// Has the invitations that are made while it does not look.
  private let inviting = Running<BrowsingRun>()

  /// A browser that does not look yet.
  /// - Parameters:
  ///   - myPeerID: who invites.
  ///   - serviceType: as of `MCNearbyServiceAdvertiser`.
  public init(peer myPeerID: MCPeerID, serviceType: String) {
    peer = myPeerID
    type = serviceType
  }

  deinit { running.take()?.stop() }

  /// Told of peers that come in sight. Not kept.
  open weak var delegate: (any MCNearbyServiceBrowserDelegate)? {
    get { delegates.value as? any MCNearbyServiceBrowserDelegate }
    set { delegates.value = newValue }
  }

  /// As it was given.
  open var myPeerID: MCPeerID { peer }
  /// As it was given.
  open var serviceType: String { type }

  /// Looks for peers. Without effect while it does.
  open func startBrowsingForPeers() {
    running.begin {
      BrowsingRun(
        peer, type, queue,
        delegate: { [weak self] in self.flatMap { browser in browser.delegate.map { (browser, $0) } } })
    }
  }

  /// Looks for no more. Sessions stay as they are, and invitations go on: they are their sessions'.
  open func stopBrowsingForPeers() { running.take()?.stop() }

  /// Invites a peer into a session. The session's delegate is told what becomes of it: `connecting` and `connected`, or
  /// `notConnected`, for which `MCSession.error(forPeer:)` has the reason. Where both sides invite each other, or it is
  /// a member already, there is one connection.
  /// - Parameters:
  ///   - peerID: one that this browser sees. While it does not look, one that comes in sight within the timeout.
  ///   - session: which one it is invited into.
  ///   - context: free data for the invited program, at most 7,936 bytes.
  ///   - timeout: for its answer, in seconds; 0 or less: 30 s. Only the session can take the invitation back, by
  ///     `disconnect`: this browser may be stopped, or dropped.
  open func invitePeer(
    _ peerID: MCPeerID, to session: MCSession, withContext context: Data?, timeout: TimeInterval
  ) {
    let patience = timeout > 0 ? Duration.seconds(min(timeout, 86_400)) : .seconds(30)
    if running.value?.invite(peerID, to: session.core, context, patience) == true { return }
    if inviting.value?.invite(peerID, to: session.core, context, patience, awaits: true) == true { return }
    let run = BrowsingRun(peer, type, queue, delegate: { nil })
    inviting.replace(run)
    _ = run.invite(peerID, to: session.core, context, patience, awaits: true)
    run.stop()
  }
}

/// Told of what a browser finds.
public protocol MCNearbyServiceBrowserDelegate: NSObjectProtocol {
  /// A peer has come in sight. What it says of itself is a hint.
  func browser(
    _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID, withDiscoveryInfo info: [String: String]?)

  /// A peer is not in sight any more: at once where it has stopped, within two minutes where its device is gone.
  /// Sessions notice the loss of a connection by themselves.
  func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID)

  /// It does not browse, for this reason, an `MCError`. Default: nothing.
  func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error)
}

extension MCNearbyServiceBrowserDelegate {
  /// Nothing.
  public func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error) {}
}
