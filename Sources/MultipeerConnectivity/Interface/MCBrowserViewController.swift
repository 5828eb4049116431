import Foundation

/// Lets a person choose whom to invite into a session: a window on Apple's systems, a terminal here. Without one
/// `UnattendedAnswer.ofProcess` says what is done.
///
/// It is no view controller here, since Linux has none: `present` takes the place of the one that would present it.
///
/// Source: `MCBrowserViewController` of Multipeer Connectivity.
@MainActor @preconcurrency open class MCBrowserViewController: NSObject {
  private let usedBrowser: MCNearbyServiceBrowser
  private let usedSession: MCSession
  private let following: BrowserFollowing
  private var choosing: Task<Void, Never>?

  /// Browses for a type of service with a browser of its own.
  public convenience init(serviceType: String, session: MCSession) {
    self.init(
      browser: MCNearbyServiceBrowser(peer: session.myPeerID, serviceType: serviceType), session: session)
  }

  /// Browses with this browser, whose delegate it becomes unless it has one. A browser with a delegate of its own is
  /// not followed: call `browser(_:foundPeer:withDiscoveryInfo:)` and `browser(_:lostPeer:)`.
  public init(browser: MCNearbyServiceBrowser, session: MCSession) {
    usedBrowser = browser
    usedSession = session
    following = BrowserFollowing(session)
    super.init()
    following.controller = self
    if browser.delegate == nil { browser.delegate = following }
  }

  deinit { choosing?.cancel() }

  /// Told of the end, on the main queue. Not kept.
  open weak var delegate: (any MCBrowserViewControllerDelegate)?
  /// The browser in use.
  open var browser: MCNearbyServiceBrowser? { usedBrowser }
  /// What is invited into.
  open var session: MCSession { usedSession }
  /// How many peers have to be in the session before one may finish, this one among them: 2 to `maximumNumberOfPeers`.
  open var minimumNumberOfPeers = kMCSessionMinimumNumberOfPeers {
    didSet { minimumNumberOfPeers = min(max(minimumNumberOfPeers, 2), maximumNumberOfPeers) }
  }
  /// How many may be in it, this one among them: `minimumNumberOfPeers` to 8.
  open var maximumNumberOfPeers = kMCSessionMaximumNumberOfPeers {
    didSet { maximumNumberOfPeers = min(max(maximumNumberOfPeers, minimumNumberOfPeers), 8) }
  }

  /// Begins: what `present(_:animated:completion:)` of a view controller does on Apple's systems. The delegate is told
  /// of the end.
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

  /// Ends, and calls the delegate no more.
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

  /// Hides it.
  public nonisolated func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
    following.lost(peerID)
  }
}

/// Told how a choice ends, on the main queue.
public protocol MCBrowserViewControllerDelegate: NSObjectProtocol {
  /// The person has finished. Dismiss it.
  func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController)
  /// The person has given up. Dismiss it.
  func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController)
  /// Whether a peer is shown. Default: yes.
  func browserViewController(
    _ browserViewController: MCBrowserViewController, shouldPresentNearbyPeer peerID: MCPeerID,
    withDiscoveryInfo info: [String: String]?
  ) -> Bool
}

extension MCBrowserViewControllerDelegate {
  /// Yes.
  public func browserViewController(
    _ browserViewController: MCBrowserViewController, shouldPresentNearbyPeer peerID: MCPeerID,
    withDiscoveryInfo info: [String: String]?
  ) -> Bool { true }
}
