import GameKit

/// A program as they are written for macOS, in Swift 5: careless about threads, optionals and errors.
public class MatchMaker: NSObject, GKSessionDelegate, GKPeerPickerControllerDelegate, GKSessionDataReceiveHandler {
  var session: GKSession!
  var picker: GKPeerPickerController?
  var available = [String]()
  var opponents: [String: String] = [:]
  var isServer = false
  var onMessage: ((String) -> Void)?

  public func start(name: String) {
    session = GKSession(sessionID: "matchmaker", displayName: name, sessionMode: .peer)
    session.delegate = self
    session.setDataReceiveHandler(self, withContext: nil)
    session.disconnectTimeout = 5
    session.isAvailable = true
    if let session = GKSession(sessionID: nil, displayName: nil, sessionMode: GKSessionMode.client) {
      print(session.peerID + session.displayName)
    }
  }

  public func pick() {
    let picker = GKPeerPickerController()
    picker.delegate = self
    picker.connectionTypesMask = GKPeerPickerConnectionType.nearby
    picker.show()
    self.picker = picker
  }

  // The weaker half of the two is the server.
  func elect(_ peerID: String) { isServer = session.peerID.compare(peerID) == .orderedAscending }

  public func session(_ session: GKSession, peer peerID: String, didChange state: GKPeerConnectionState) {
    switch state {
    case .stateAvailable:
      available.append(peerID)
      session.connect(toPeer: peerID, withTimeout: session.disconnectTimeout)
    case .stateUnavailable: available.removeAll { $0 == peerID }
    case .stateConnected:
      opponents[peerID] = session.displayName(forPeer: peerID)
      elect(peerID)
      DispatchQueue.global().async { try? self.session.sendData(toAllPeers: "hi".data(using: .utf8), with: .reliable) }
    case .stateDisconnected:
      opponents[peerID] = nil
      self.session = nil
    case .stateConnecting, .stateConnectedRelay: break
    }
  }

  public func session(_ session: GKSession, didReceiveConnectionRequestFromPeer peerID: String) {
    do {
      try session.acceptConnection(fromPeer: peerID)
    } catch let error as NSError {
      print(error.localizedDescription, error.domain, error.code)
    }
  }

  public func session(_ session: GKSession, connectionWithPeerFailed peerID: String, withError error: Error) {
    if (error as NSError).code == Int(GKSessionError.Code.declinedError.rawValue) { print("no") }
    if let error = error as? GKSessionError, error.code == .timedOutError { print("late") }
  }

  public func session(_ session: GKSession, didFailWithError error: Error) {
    session.disconnectFromAllPeers()
    if (error as NSError).domain == GKSessionErrorDomain { print(error) }
  }

  public func receiveData(
    _ data: Data, fromPeer peer: String, inSession session: GKSession, context: UnsafeMutableRawPointer?
  ) {
    onMessage?(String(data: data, encoding: .utf8) ?? "")
    for case let peer as String in session.peers(with: .stateConnected) ?? [] { print(peer) }
    try! session.send(data, toPeers: [peer], with: .unreliable)
  }

  public func peerPickerController(
    _ picker: GKPeerPickerController, sessionFor type: GKPeerPickerConnectionType
  ) -> GKSession {
    GKSession(sessionID: "matchmaker", displayName: nil, sessionMode: .peer)
  }

  public func peerPickerController(
    _ picker: GKPeerPickerController, didConnectPeer peerID: String, to session: GKSession
  ) {
    self.session = session
    session.delegate = self
    picker.delegate = nil
    picker.dismiss()
  }
}

/// A mock that overrides every method, and does without the real ones. Without the restated `@unchecked Sendable` it
/// compiles with a warning.
open class MockSession: GKSession, @unchecked Sendable {
  public var calls: [String] = []
  public var sent: [Data] = []
  public var fakePeers: [String] = ["a", "b"]
  private var isFakeAvailable = false
  private var fakeTimeout = 1.0
  private weak var fakeDelegate: GKSessionDelegate?

  public override init() { super.init(sessionID: "mock", displayName: "Mock", sessionMode: .peer) }
  public override init!(sessionID: String!, displayName name: String!, sessionMode mode: GKSessionMode) {
    super.init(sessionID: sessionID, displayName: name, sessionMode: mode)
  }

  open override var delegate: GKSessionDelegate! {
    get { fakeDelegate }
    set { fakeDelegate = newValue }
  }
  open override var sessionID: String! { "mock" }
  open override var displayName: String! { "Mock" }
  open override var sessionMode: GKSessionMode { .peer }
  open override var peerID: String! { "me" }
  open override var isAvailable: Bool {
    get { isFakeAvailable }
    set { isFakeAvailable = newValue }
  }
  open override var disconnectTimeout: TimeInterval {
    get { fakeTimeout }
    set { fakeTimeout = newValue }
  }
  open override func displayName(forPeer peerID: String!) -> String! { "Peer \(peerID!)" }
  open override func send(_ data: Data!, toPeers peers: [Any]!, with mode: GKSendDataMode) throws { sent.append(data) }
  open override func sendData(toAllPeers data: Data!, with mode: GKSendDataMode) throws { sent.append(data) }
  open override func setDataReceiveHandler(_ handler: Any!, withContext context: UnsafeMutableRawPointer!) {
    calls.append("handler")
  }
  open override func connect(toPeer peerID: String!, withTimeout timeout: TimeInterval) { calls.append("connect") }
  open override func cancelConnect(toPeer peerID: String!) { calls.append("cancel") }
  open override func acceptConnection(fromPeer peerID: String!) throws { calls.append("accept") }
  open override func denyConnection(fromPeer peerID: String!) { calls.append("deny") }
  open override func disconnectPeer(fromAllPeers peerID: String!) { calls.append("disconnectPeer") }
  open override func disconnectFromAllPeers() { calls.append("disconnect") }
  open override func peers(with state: GKPeerConnectionState) -> [Any]! { fakePeers }
}

/// The same of the picker.
open class MockPicker: GKPeerPickerController, @unchecked Sendable {
  public var isShown = false

  open override func show() { isShown = true }
  open override func dismiss() { isShown = false }
  open override var isVisible: Bool { isShown }
  open override var connectionTypesMask: GKPeerPickerConnectionType {
    get { .online }
    set {}
  }
  open override weak var delegate: GKPeerPickerControllerDelegate? {
    get { nil }
    set {}
  }
}
