import Foundation
import Piconet

/// Looks for peers that advertise a type of service, and invites them into sessions.
///
/// Any thread may use it. The delegate is called on a private serial queue. A browser that is dropped stops.
///
/// Source: `MCNearbyServiceBrowser` of Multipeer Connectivity. If a type breaks a rule, Apple's stops the program; this
/// one tells the delegate (`browser(_:didNotStartBrowsingForPeers:)`) which rule. It never finds its own peer.
///
/// Unchecked, since it may be subclassed: what changes here has locks, and a subclass is responsible for variables that
/// it adds. It repeats the words, or the compiler warns.
open class MCNearbyServiceBrowser: NSObject, @unchecked Sendable {
  private let peer: MCPeerID
  private let type: String
  private let delegates = DelegateReference()
  private let queue = DispatchQueue(label: "MultipeerConnectivity.browser")
  private let running = Running<BrowsingRun>()
  /// Holds the invitations that are made while it does not browse.
  private let inviting = Running<BrowsingRun>()

  /// Creates a browser that does not browse yet.
  /// - Parameters:
  ///   - myPeerID: the inviter.
  ///   - serviceType: see `MCNearbyServiceAdvertiser`.
  public init(peer myPeerID: MCPeerID, serviceType: String) {
    peer = myPeerID
    type = serviceType
  }

  deinit { running.take()?.stop() }

  /// The object that is told of peers that come in sight; not retained.
  open weak var delegate: (any MCNearbyServiceBrowserDelegate)? {
    get { delegates.value as? any MCNearbyServiceBrowserDelegate }
    set { delegates.value = newValue }
  }

  /// The peer, as it was given.
  open var myPeerID: MCPeerID { peer }
  /// The type, as it was given.
  open var serviceType: String { type }

  /// Starts looking for peers; no effect while it looks.
  open func startBrowsingForPeers() {
    running.begin {
      BrowsingRun(
        peer, type, queue,
        delegate: { [weak self] in self.flatMap { browser in browser.delegate.map { (browser, $0) } } })
    }
  }

  /// Stops looking for peers. Sessions stay as they are, and invitations go on: they belong to their sessions.
  open func stopBrowsingForPeers() { running.take()?.stop() }

  /// Invites a peer into a session. The session's delegate is told the result: `connecting` and `connected`, or
  /// `notConnected`, for which `MCSession.error(forPeer:)` has the reason. If both sides invite each other, or the peer
  /// is a member already, there is one connection.
  /// - Parameters:
  ///   - peerID: a peer that this browser sees. While it does not browse, a peer that comes in sight within the
  ///     timeout.
  ///   - session: the session into which it is invited.
  ///   - context: free data for the invited program, at most 7,936 bytes.
  ///   - timeout: the time for its answer, in seconds; 0 or less: 30 s. Only the session can withdraw the invitation,
  ///     by `disconnect`: this browser may be stopped, or dropped.
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

/// The calls of a browser to its owner.
public protocol MCNearbyServiceBrowserDelegate: NSObjectProtocol {
  /// A peer has come in sight. Its advertisement is a hint.
  func browser(
    _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID, withDiscoveryInfo info: [String: String]?)

  /// A peer is no longer in sight: at once if it has stopped, within two minutes if its device is gone. Sessions notice
  /// the loss of a connection by themselves.
  func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID)

  /// Browsing has not started, for this reason, an `MCError`. Default: nothing.
  func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error)
}

extension MCNearbyServiceBrowserDelegate {
  /// Does nothing.
  public func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error) {}
}
