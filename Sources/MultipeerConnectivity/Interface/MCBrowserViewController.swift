import Foundation

/// Lets a person choose peers to invite into a session: in a window on Apple's systems, at the terminal here. Without a
/// terminal it acts as `UnattendedAnswer.ofProcess` says.
///
/// It is not a view controller here, since Linux has none: call its own `present` instead of having one present it.
///
/// Source: `MCBrowserViewController` of Multipeer Connectivity.
@MainActor @preconcurrency open class MCBrowserViewController: NSObject {
  private let usedBrowser: MCNearbyServiceBrowser
  private let usedSession: MCSession
  private let following: BrowserFollowing
  private var choosing: Task<Void, Never>?

  /// Creates its own browser for a type of service.
  public convenience init(serviceType: String, session: MCSession) {
    self.init(
      browser: MCNearbyServiceBrowser(peer: session.myPeerID, serviceType: serviceType), session: session)
  }

  /// Uses this browser, and becomes its delegate unless it has one. For a browser with another delegate, that delegate
  /// must call `browser(_:foundPeer:withDiscoveryInfo:)` and `browser(_:lostPeer:)`.
  public init(browser: MCNearbyServiceBrowser, session: MCSession) {
    usedBrowser = browser
    usedSession = session
    following = BrowserFollowing(session)
    super.init()
    following.controller = self
    if browser.delegate == nil { browser.delegate = following }
  }

  deinit { choosing?.cancel() }

  /// The object that is told of the end, on the main queue; not retained.
  open weak var delegate: (any MCBrowserViewControllerDelegate)?
  /// The browser in use.
  open var browser: MCNearbyServiceBrowser? { usedBrowser }
  /// The session into which peers are invited.
  open var session: MCSession { usedSession }
  /// The number of peers that must be in the session before the person may finish, this one among them: 2 to
  /// `maximumNumberOfPeers`.
  open var minimumNumberOfPeers = kMCSessionMinimumNumberOfPeers {
    didSet { minimumNumberOfPeers = min(max(minimumNumberOfPeers, 2), maximumNumberOfPeers) }
  }
  /// The most peers that may be in the session, this one among them: `minimumNumberOfPeers` to 8.
  open var maximumNumberOfPeers = kMCSessionMaximumNumberOfPeers {
    didSet { maximumNumberOfPeers = min(max(maximumNumberOfPeers, minimumNumberOfPeers), 8) }
  }

  /// Begins the choice, as `present(_:animated:completion:)` of a view controller does on Apple's systems. The delegate
  /// is told of the end.
  open func present() {
    guard choosing == nil else { return }
    usedBrowser.startBrowsingForPeers()
    let (browser, session) = (usedBrowser, usedSession)
    let parties = Parties(browser: browser, session: session)
    let choice = NearbyChoice(
      nearby: following.changes(),
      invite: { parties.browser.invitePeer($0, to: parties.session, withContext: nil, timeout: 0) },
      minimum: minimumNumberOfPeers - 1, maximum: maximumNumberOfPeers - 1)
    choosing = Task { [weak self] in
      let isFinished = await PeerInterfaces.current.choose(choice)
      guard let self, !Task.isCancelled else { return }
      self.ended(isFinished)
    }
  }

  /// Ends the choice, and makes no more calls to the delegate.
  open func dismiss(animated flag: Bool = true, completion: (() -> Void)? = nil) {
    choosing?.cancel()
    choosing = nil
    following.end()
    usedBrowser.stopBrowsingForPeers()
    completion?()
  }

  private func ended(_ isFinished: Bool) {
    choosing = nil
    following.end()
    usedBrowser.stopBrowsingForPeers()
    if isFinished {
      delegate?.browserViewControllerDidFinish(self)
    } else {
      delegate?.browserViewControllerWasCancelled(self)
    }
  }

  /// Unchecked: any thread may use a browser and a session.
  private struct Parties: @unchecked Sendable {
    let browser: MCNearbyServiceBrowser
    let session: MCSession
  }

  func presents(_ peer: MCPeerID, _ info: [String: String]?) -> Bool {
    delegate?.browserViewController(self, shouldPresentNearbyPeer: peer, withDiscoveryInfo: info) ?? true
  }
}

extension MCBrowserViewController: MCNearbyServiceBrowserDelegate {
  /// Shows a peer that another delegate was told of.
  public nonisolated func browser(
    _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID, withDiscoveryInfo info: [String: String]?
  ) { following.found(peerID, info) }

  /// Hides a peer.
  public nonisolated func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
    following.lost(peerID)
  }
}

/// The calls at the end of a choice, on the main queue.
public protocol MCBrowserViewControllerDelegate: NSObjectProtocol {
  /// The person has finished. Dismiss the controller.
  func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController)
  /// The person has cancelled. Dismiss the controller.
  func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController)
  /// Returns whether a peer is shown. Default: yes.
  func browserViewController(
    _ browserViewController: MCBrowserViewController, shouldPresentNearbyPeer peerID: MCPeerID,
    withDiscoveryInfo info: [String: String]?
  ) -> Bool
}

extension MCBrowserViewControllerDelegate {
  /// Returns true.
  public func browserViewController(
    _ browserViewController: MCBrowserViewController, shouldPresentNearbyPeer peerID: MCPeerID,
    withDiscoveryInfo info: [String: String]?
  ) -> Bool { true }
}
