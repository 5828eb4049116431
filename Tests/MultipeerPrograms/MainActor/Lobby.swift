@preconcurrency import MultipeerConnectivity
import Observation

/// A program as Xcode's newest template makes them: all that does not say otherwise is on the main actor.
@Observable public final class Lobby: NSObject {
  public private(set) var peers: [MCPeerID] = []
  public private(set) var words: [String] = []
  @ObservationIgnored private let peer = MCPeerID(displayName: "Lobby")
  @ObservationIgnored private lazy var session = MCSession(peer: peer)
  @ObservationIgnored private lazy var advertiser = MCNearbyServiceAdvertiser(
    peer: peer, discoveryInfo: nil, serviceType: "lobby")
  @ObservationIgnored private lazy var browser = MCNearbyServiceBrowser(peer: peer, serviceType: "lobby")
  @ObservationIgnored private var controller: MCBrowserViewController?

  public func open() {
    session.delegate = self
    advertiser.delegate = self
    browser.delegate = self
    advertiser.startAdvertisingPeer()
    browser.startBrowsingForPeers()
  }

  public func choose() {
    let controller = MCBrowserViewController(browser: browser, session: session)
    controller.delegate = self
    controller.maximumNumberOfPeers = 3
    controller.present()
    self.controller = controller
  }

  private func update() { peers = session.connectedPeers }
}

extension Lobby: MCSessionDelegate {
  nonisolated public func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
    if state == .connected { try? session.send(Data("hi".utf8), toPeers: [peerID], with: .reliable) }
    Task { @MainActor [weak self] in self?.update() }
  }

  nonisolated public func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
    let text = String(decoding: data, as: UTF8.self)
    DispatchQueue.main.async { self.words.append(text) }
  }

  nonisolated public func session(
    _ session: MCSession, didReceive stream: InputStream, withName streamName: String, fromPeer peerID: MCPeerID
  ) {}

  nonisolated public func session(
    _ session: MCSession, didStartReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
    with progress: Progress
  ) {}

  nonisolated public func session(
    _ session: MCSession, didFinishReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
    at localURL: URL?, withError error: (any Error)?
  ) {}
}

extension Lobby: MCNearbyServiceAdvertiserDelegate, MCNearbyServiceBrowserDelegate {
  nonisolated public func advertiser(
    _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID, withContext context: Data?,
    invitationHandler: @escaping (Bool, MCSession?) -> Void
  ) {
    nonisolated(unsafe) let handler = invitationHandler
    DispatchQueue.main.async { handler(true, self.session) }
  }

  nonisolated public func browser(
    _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID, withDiscoveryInfo info: [String: String]?
  ) {
    Task { @MainActor in self.browser.invitePeer(peerID, to: self.session, withContext: nil, timeout: 0) }
  }

  nonisolated public func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
}

/// Its methods are on the main actor, on which the controller calls them.
extension Lobby: MCBrowserViewControllerDelegate {
  public func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController) { controller = nil }
  public func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController) {
    browserViewController.dismiss(animated: true)
  }
}

/// One that is on the main actor whole, and says so to the compiler.
public final class Counter: NSObject, @preconcurrency MCAdvertiserAssistantDelegate {
  public private(set) var count = 0

  public func advertiserAssistantWillPresentInvitation(_ advertiserAssistant: MCAdvertiserAssistant) { count += 1 }
}
