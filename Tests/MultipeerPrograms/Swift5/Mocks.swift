import MultipeerConnectivity

// Mocks that override every member of every class, as tests of programs have them, with `weak` before a delegate and
// without.

open class MockPeer: MCPeerID, @unchecked Sendable {
  public let tag: Int
  public init(name: String, tag: Int) {
    self.tag = tag
    super.init(displayName: name)
  }
  public required init?(coder: NSCoder) {
    tag = coder.decodeInteger(forKey: "tag")
    super.init(coder: coder)
  }
  open override var displayName: String { "<\(super.displayName)>" }
  open override var hash: Int { super.hash }
  open override var description: String { "mock" }
  open override class var supportsSecureCoding: Bool { true }
  open override func isEqual(_ object: Any?) -> Bool { super.isEqual(object) }
  open override func copy(with zone: NSZone? = nil) -> Any { self }
  open override func encode(with coder: NSCoder) {
    coder.encode(tag, forKey: "tag")
    super.encode(with: coder)
  }
}

open class MockSession: MCSession, @unchecked Sendable {
  public var sent: [(data: Data, peers: [MCPeerID], mode: MCSessionSendDataMode)] = []
  public var fakePeers: [MCPeerID] = []
  public var calls: [String] = []
  private weak var fakeDelegate: MCSessionDelegate?

  public override init(
    peer myPeerID: MCPeerID, securityIdentity identity: [Any]?, encryptionPreference: MCEncryptionPreference
  ) {
    super.init(peer: myPeerID, securityIdentity: identity, encryptionPreference: encryptionPreference)
  }
  open override weak var delegate: MCSessionDelegate? {
    get { fakeDelegate }
    set { fakeDelegate = newValue }
  }
  open override var myPeerID: MCPeerID { super.myPeerID }
  open override var securityIdentity: [Any]? { ["mock"] }
  open override var encryptionPreference: MCEncryptionPreference { .none }
  open override var connectedPeers: [MCPeerID] { fakePeers }
  open override func send(_ data: Data, toPeers peerIDs: [MCPeerID], with mode: MCSessionSendDataMode) throws {
    if peerIDs.isEmpty { throw MCError(.invalidParameter) }
    sent.append((data, peerIDs, mode))
  }
  open override func disconnect() { calls.append("disconnect") }
  open override func sendResource(
    at resourceURL: URL, withName resourceName: String, toPeer peerID: MCPeerID,
    withCompletionHandler completionHandler: ((Error?) -> Void)? = nil
  ) -> Progress? {
    completionHandler?(nil)
    return Progress(totalUnitCount: 1)
  }
  open override func startStream(withName streamName: String, toPeer peerID: MCPeerID) throws -> OutputStream {
    OutputStream(toMemory: ())
  }
  open override func nearbyConnectionData(
    forPeer peerID: MCPeerID, withCompletionHandler completionHandler: @escaping @Sendable (Data?, Error?) -> Void
  ) { completionHandler(Data(), nil) }
  open override func connectPeer(_ peerID: MCPeerID, withNearbyConnectionData data: Data) { calls.append("connect") }
  open override func cancelConnectPeer(_ peerID: MCPeerID) { calls.append("cancel") }
}

/// Says that it has found a peer, without a radio.
open class MockBrowser: MCNearbyServiceBrowser, @unchecked Sendable {
  public var nearby: [MCPeerID] = []
  public var invited: [MCPeerID] = []

  public override init(peer myPeerID: MCPeerID, serviceType: String) {
    super.init(peer: myPeerID, serviceType: serviceType)
  }
  open override var delegate: MCNearbyServiceBrowserDelegate? {
    get { super.delegate }
    set { super.delegate = newValue }
  }
  open override var myPeerID: MCPeerID { super.myPeerID }
  open override var serviceType: String { "mock" }
  open override func startBrowsingForPeers() {
    for peer in nearby { delegate?.browser(self, foundPeer: peer, withDiscoveryInfo: ["mock": "yes"]) }
  }
  open override func stopBrowsingForPeers() { for peer in nearby { delegate?.browser(self, lostPeer: peer) } }
  open override func invitePeer(
    _ peerID: MCPeerID, to session: MCSession, withContext context: Data?, timeout: TimeInterval
  ) { invited.append(peerID) }
}

open class MockAdvertiser: MCNearbyServiceAdvertiser, @unchecked Sendable {
  public var isStarted = false

  public override init(peer myPeerID: MCPeerID, discoveryInfo info: [String: String]?, serviceType: String) {
    super.init(peer: myPeerID, discoveryInfo: info, serviceType: serviceType)
  }
  open override weak var delegate: MCNearbyServiceAdvertiserDelegate? {
    get { super.delegate }
    set { super.delegate = newValue }
  }
  open override var myPeerID: MCPeerID { super.myPeerID }
  open override var discoveryInfo: [String: String]? { nil }
  open override var serviceType: String { "mock" }
  open override func startAdvertisingPeer() { isStarted = true }
  open override func stopAdvertisingPeer() { isStarted = false }
}

open class MockAssistant: MCAdvertiserAssistant, @unchecked Sendable {
  public var isStarted = false

  public override init(serviceType: String, discoveryInfo info: [String: String]?, session: MCSession) {
    super.init(serviceType: serviceType, discoveryInfo: info, session: session)
  }
  open override var delegate: MCAdvertiserAssistantDelegate? {
    get { nil }
    set {}
  }
  open override var session: MCSession { super.session }
  open override var discoveryInfo: [String: String]? { nil }
  open override var serviceType: String { "mock" }
  open override func start() { isStarted = true }
  open override func stop() { isStarted = false }
}

open class MockController: MCBrowserViewController {
  public override init(browser: MCNearbyServiceBrowser, session: MCSession) {
    super.init(browser: browser, session: session)
  }
  open override weak var delegate: MCBrowserViewControllerDelegate? {
    get { super.delegate }
    set { super.delegate = newValue }
  }
  open override var browser: MCNearbyServiceBrowser? { super.browser }
  open override var session: MCSession { super.session }
  open override var minimumNumberOfPeers: Int {
    get { 3 }
    set {}
  }
  open override var maximumNumberOfPeers: Int {
    get { 4 }
    set {}
  }
}
