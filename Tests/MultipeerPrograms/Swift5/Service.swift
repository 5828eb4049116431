import MultipeerConnectivity

/// A program as they are written for phones, in Swift 5: one object for all, careless about threads and optionals.
public class Service: NSObject {
  public static let shared = Service()

  fileprivate let me = MCPeerID(displayName: Host.current().localizedName ?? "")
  lazy var session: MCSession! = {
    let session = MCSession(peer: self.me, securityIdentity: nil, encryptionPreference: MCEncryptionPreference.required)
    session.delegate = self as MCSessionDelegate
    return session
  }()
  private var advertiser: MCNearbyServiceAdvertiser!
  private var browser: MCNearbyServiceBrowser?
  private var assistant: MCAdvertiserAssistant?
  private var controller: MCBrowserViewController!
  private var invitationHandler: ((Bool, MCSession?) -> Void)!
  private var infos = [MCPeerID: [String: String]]()
  private let rows = NSMutableDictionary()
  private var observation: NSKeyValueObservation?
  private var output: OutputStream?
  public var log: [String] = []

  public override init() {
    super.init()
    advertiser = MCNearbyServiceAdvertiser(peer: me, discoveryInfo: ["v": "1"], serviceType: "Chat-Service")
    advertiser.delegate = self
    browser = MCNearbyServiceBrowser(peer: me, serviceType: "Chat-Service")
    browser!.delegate = self
  }

  deinit {
    advertiser.stopAdvertisingPeer()
    browser?.stopBrowsingForPeers()
  }

  public func showBrowser() {
    controller = MCBrowserViewController(serviceType: "Chat-Service", session: session)
    controller.delegate = self
    assistant = MCAdvertiserAssistant(serviceType: "Chat-Service", discoveryInfo: nil, session: session)
  }

  /// Keeps who it is, as the documentation says.
  public static func stored(in defaults: UserDefaults, named name: String) -> MCPeerID {
    if let data = defaults.data(forKey: "peer"),
      let peer = try? NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: data)
    {
      return peer
    }
    let peer = MCPeerID(displayName: name)
    let data = try! NSKeyedArchiver.archivedData(withRootObject: peer, requiringSecureCoding: true)
    defaults.set(data, forKey: "peer")
    return peer
  }

  public func send(_ object: [String: Any], to peer: MCPeerID? = nil) {
    guard let data = try? JSONSerialization.data(withJSONObject: object, options: .prettyPrinted) else { return }
    do {
      try session.send(data, toPeers: peer.map { [$0] } ?? session.connectedPeers, with: .reliable)
    } catch MCError.invalidParameter {
      log.append("nobody")
    } catch let error as MCError where error.code == .notConnected {
      log.append("not connected")
    } catch let error as NSError {
      print(error.domain, error.code)
    }
  }

  public func send(file: URL, to peer: MCPeerID) {
    let whole = Progress(totalUnitCount: 1)
    whole.becomeCurrent(withPendingUnitCount: 1)
    let progress = session.sendResource(at: file, withName: file.lastPathComponent, toPeer: peer) { error in
      if let error = error { self.log.append((error as! MCError?)!.localizedDescription) }
    }
    whole.resignCurrent()
    observation = progress?.observe(\.fractionCompleted, options: [.new]) { progress, _ in
      self.log.append("\(Int(progress.fractionCompleted * 100)) %")
    }
    session.sendResource(at: file, withName: "again", toPeer: peer)
  }
}

extension Service: MCNearbyServiceAdvertiserDelegate {
  public func advertiser(_ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: Error) {
    log.append("\(error)")
  }

  public func advertiser(
    _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID, withContext context: Data?,
    invitationHandler: @escaping (Bool, MCSession?) -> Void
  ) {
    self.invitationHandler = invitationHandler
    DispatchQueue.main.async { self.invitationHandler(true, self.session) }
  }
}

extension Service: MCNearbyServiceBrowserDelegate {
  public func browser(
    _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID, withDiscoveryInfo info: [String: String]?
  ) {
    infos[peerID] = info
    rows.setObject(infos.count, forKey: peerID as NSCopying)
    rows[peerID as NSCopying] = infos.count
    // The two sides elect one of them that invites.
    if me.hashValue > peerID.hashValue { browser.invitePeer(peerID, to: session, withContext: nil, timeout: 10) }
  }

  public func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
    infos.removeValue(forKey: peerID)
    rows.removeObject(forKey: peerID)
  }
}

extension Service: MCSessionDelegate {
  public func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
    log.append(state.text)
    if state == .connected, let stream = try? session.startStream(withName: "audio", toPeer: peerID) {
      stream.delegate = self
      stream.schedule(in: RunLoop.main, forMode: RunLoop.Mode.default)
      stream.open()
      output = stream
    }
  }

  public func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
    let object = try! JSONSerialization.jsonObject(with: data) as! [String: Any]
    NotificationCenter.default.post(
      name: NSNotification.Name(rawValue: "received"), object: nil, userInfo: ["object": object, "peer": peerID])
  }

  public func session(
    _ session: MCSession, didReceive stream: InputStream, withName streamName: String, fromPeer peerID: MCPeerID
  ) {
    stream.delegate = self
    stream.schedule(in: .main, forMode: .default)
    stream.open()
  }

  public func session(
    _ session: MCSession, didStartReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
    with progress: Progress
  ) {}

  public func session(
    _ session: MCSession, didFinishReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
    at localURL: URL?, withError error: Error?
  ) {
    guard error == nil, let url = localURL else { return }
    try? FileManager.default.copyItem(at: url, to: FileManager.default.temporaryDirectory)
  }

  public func session(
    _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
    certificateHandler: @escaping (Bool) -> Void
  ) { certificateHandler(true) }
}

extension Service: StreamDelegate {
  public func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
    switch eventCode {
    case Stream.Event.hasBytesAvailable:
      var buffer = [UInt8](repeating: 0, count: 512)
      while let input = aStream as? InputStream, input.hasBytesAvailable { _ = input.read(&buffer, maxLength: 512) }
    case .endEncountered, .errorOccurred:
      aStream.close()
      aStream.remove(from: .main, forMode: .default)
    default: break
    }
  }
}

extension Service: MCBrowserViewControllerDelegate, MCAdvertiserAssistantDelegate {
  public func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController) {
    browserViewController.dismiss(animated: true, completion: nil)
  }

  public func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController) {
    browserViewController.dismiss(animated: true)
  }

  public func advertiserAssistantDidDismissInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {}
}

extension MCSessionState {
  var text: String {
    switch self {
    case .notConnected: return "not connected"
    case .connecting: return "connecting"
    case .connected: return "connected"
    @unknown default: return "?"
    }
  }
}
