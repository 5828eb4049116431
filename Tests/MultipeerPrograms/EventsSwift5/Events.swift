@preconcurrency import MultipeerConnectivity

/// What delegates are told, in an enum that says nothing of `Sendable`, and that can't be: a handler is no `Sendable`.
enum Event {
  case found(MCPeerID, [String: String]?)
  case lost(MCPeerID)
  case state(MCSession, MCPeerID, MCSessionState)
  case data(Data, MCPeerID)
  case began(String, MCPeerID, Progress)
  case ended(String, MCPeerID, URL?, (any Error)?)
  case answer((Bool) -> Void)
}

/// One that the compiler may take for `Sendable`: with this import it does, as with Apple's module.
enum Meeting {
  case browser(MCNearbyServiceBrowser, MCPeerID)
  case advertiser(MCNearbyServiceAdvertiser, MCPeerID, context: Data?)
  case session(MCSession)
  case failure(MCError)
}

/// Hands on what a session and a browser say, from whatever queue they say it on.
nonisolated final class Bridge: NSObject, MCSessionDelegate, MCNearbyServiceBrowserDelegate {
  let events: AsyncStream<Event>
  let meetings: AsyncStream<Meeting>
  private let event: AsyncStream<Event>.Continuation
  private let meeting: AsyncStream<Meeting>.Continuation

  override init() {
    (events, event) = AsyncStream.makeStream()
    (meetings, meeting) = AsyncStream.makeStream()
  }

  func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
    event.yield(.state(session, peerID, state))
    meeting.yield(.session(session))
  }
  func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
    event.yield(.data(data, peerID))
  }
  func session(
    _ session: MCSession, didReceive stream: InputStream, withName streamName: String, fromPeer peerID: MCPeerID
  ) {}
  func session(
    _ session: MCSession, didStartReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
    with progress: Progress
  ) { event.yield(.began(resourceName, peerID, progress)) }
  func session(
    _ session: MCSession, didFinishReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
    at localURL: URL?, withError error: (any Error)?
  ) { event.yield(.ended(resourceName, peerID, localURL, error)) }
  func browser(
    _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID, withDiscoveryInfo info: [String: String]?
  ) {
    event.yield(.found(peerID, info))
    meeting.yield(.browser(browser, peerID))
  }
  func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) { event.yield(.lost(peerID)) }

  func finish() {
    event.finish()
    meeting.finish()
  }
}

private nonisolated func needs(_: some Sendable) {}

/// Uses what needs `Sendable`: generic code, an actor, a task of its own.
actor Group {
  private let session: MCSession
  private let bridge = Bridge()
  private var members: Set<MCPeerID> = []
  private var meetings = 0

  init(_ session: MCSession) { self.session = session }

  func meet(_ peer: MCPeerID) {
    session.delegate = bridge
    bridge.session(session, peer: peer, didChange: .connecting)
    bridge.session(session, peer: peer, didChange: .connected)
    bridge.finish()
  }

  /// - Returns: how many members there are, and how many meetings were told.
  func follow() async -> (Int, Int) {
    for await event in bridge.events {
      if case .state(_, let peer, .connected) = event { members.insert(peer) }
    }
    for await meeting in bridge.meetings {
      needs(meeting)
      meetings += 1
    }
    return (members.count, meetings)
  }

  func leave() async {
    needs(session)
    needs(session.myPeerID)
    let session = session
    await Task.detached { session.disconnect() }.value
  }
}

public nonisolated enum EventsProgram {
  /// Names itself as programs for phones do, and counts what a session has told.
  public static func run() async -> (name: String, members: Int, meetings: Int) {
    let peer = MCPeerID(displayName: UIDevice.current.name)
    let group = Group(MCSession(peer: peer))
    await group.meet(MCPeerID(displayName: "Ben"))
    let (members, meetings) = await group.follow()
    await group.leave()
    return (peer.displayName, members, meetings)
  }
}
