import MultipeerConnectivity

/// Over `MCSession`, as a program for Multipeer Connectivity has it.
///
/// Unchecked: what changes is set before anything starts, or is touched on the session's queue.
final class FacadePace: NSObject, @unchecked Sendable {
  private static let serviceType = "pace"

  private let options: PaceOptions
  private let record: PaceRecord
  private let session: MCSession
  private let advertiser: MCNearbyServiceAdvertiser
  private let browser: MCNearbyServiceBrowser
  private let states = AsyncStream.makeStream(of: MCSessionState.self)

  init(_ options: PaceOptions, _ record: PaceRecord) {
    self.options = options
    self.record = record
    let peer = MCPeerID(displayName: options.isServer ? "server" : "client")
    session = MCSession(peer: peer)
    advertiser = MCNearbyServiceAdvertiser(peer: peer, discoveryInfo: nil, serviceType: Self.serviceType)
    browser = MCNearbyServiceBrowser(peer: peer, serviceType: Self.serviceType)
    super.init()
    session.delegate = self
    advertiser.delegate = self
    browser.delegate = self
  }

  func run() async throws {
    if options.isServer {
      advertiser.startAdvertisingPeer()
      print("READY 0")
      fflush(nil)
    } else {
      browser.startBrowsingForPeers()
    }
    for await state in states.stream {
      switch state {
      case .connecting: continue
      case .connected:
        if options.isServer { continue }
        browser.stopBrowsingForPeers()
        let peers = session.connectedPeers
        try options.send { try session.send(Data($0), toPeers: peers, with: .reliable) }
      case .notConnected: return
      }
    }
  }
}

extension FacadePace: MCSessionDelegate {
  func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
    states.continuation.yield(state)
  }

  func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
    if record.took(data) { session.disconnect() }
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

extension FacadePace: MCNearbyServiceAdvertiserDelegate, MCNearbyServiceBrowserDelegate {
  func advertiser(
    _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID, withContext context: Data?,
    invitationHandler: @escaping (Bool, MCSession?) -> Void
  ) { invitationHandler(true, session) }

  func browser(
    _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID, withDiscoveryInfo info: [String: String]?
  ) { browser.invitePeer(peerID, to: session, withContext: nil, timeout: 0) }

  func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
}
