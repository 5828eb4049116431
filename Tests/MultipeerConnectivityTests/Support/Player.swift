import Foundation
import Piconet
import Testing

@testable import MultipeerConnectivity

/// A program of Multipeer Connectivity: a session, an advertiser and a browser for one peer, and a transcript of all
/// that their delegates are told.
///
/// Unchecked: what changes is under the lock.
final class Player: NSObject, @unchecked Sendable {
  let peer: MCPeerID
  let session: MCSession
  let serviceType: String
  private(set) var advertiser: MCNearbyServiceAdvertiser?
  private(set) var browser: MCNearbyServiceBrowser?

  private let lock = NSLock()
  private var lines: [String] = []
  private var seen: [MCPeerID] = []
  private var shown: [[Data]] = []
  private var waiting: [(isMet: ([String]) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []

  /// What is done with invitations; nil: they are never answered.
  var answers: ((MCPeerID) -> Bool)? = { _ in true }
  /// The handler of the newest invitation that was not answered at once.
  private var unanswered: ((Bool, MCSession?) -> Void)?
  /// What is done in these calls, beside the transcript.
  var found: ((Player, MCPeerID) -> Void)?
  var received: (@Sendable (Player, Data, MCPeerID) -> Void)?
  var streamed: (@Sendable (Player, InputStream, String) -> Void)?
  var certificate: (@Sendable (Player, @escaping (Bool) -> Void) -> Void)?
  var progressed: (@Sendable (Player, Progress) -> Void)?
  var stored: (@Sendable (Player, URL) -> Void)?
  var changed: (@Sendable (Player, MCPeerID, MCSessionState) -> Void)?
  /// Answers an invitation, in the place of `answers`.
  var asked: ((Player, @escaping (Bool, MCSession?) -> Void) -> Void)?
  /// Messages are too many for the transcript.
  var isSilent = false

  /// Keeps everything to loopback.
  static let loopback: Void = {
    var settings = LocalDeviceSettings(environment: [:])
    settings.interfaces = ["lo"]
    settings.transports = [.tcp]
    LocalDeviceSettings.current = settings
  }()

  /// A type of service of one test's own.
  static func serviceType() -> String {
    "t" + String(UInt64.random(in: 0..<36 * 36 * 36 * 36 * 36 * 36 * 36 * 36), radix: 36)
  }

  init(_ name: String, _ serviceType: String, _ encryption: MCEncryptionPreference = .required) {
    Self.loopback
    peer = MCPeerID(displayName: name)
    session = MCSession(peer: peer, securityIdentity: nil, encryptionPreference: encryption)
    self.serviceType = serviceType
    super.init()
    session.delegate = self
  }

  func advertise(_ info: [String: String]? = nil) {
    advertiser = MCNearbyServiceAdvertiser(peer: peer, discoveryInfo: info, serviceType: serviceType)
    advertiser?.delegate = self
    advertiser?.startAdvertisingPeer()
  }

  func browse() {
    browser = MCNearbyServiceBrowser(peer: peer, serviceType: serviceType)
    browser?.delegate = self
    browser?.startBrowsingForPeers()
  }

  func invite(_ peer: MCPeerID, context: String? = nil, timeout: TimeInterval = 60) {
    browser?.invitePeer(peer, to: session, withContext: context.map { Data($0.utf8) }, timeout: timeout)
  }

  /// Lets the advertiser go, as `advertiser = nil` in a program does.
  func dropAdvertiser() { advertiser = nil }
  func dropBrowser() { browser = nil }

  /// Answers the newest invitation, where `answers` is nil.
  func answer(_ isAccepted: Bool) { lock.withLock { unanswered }?(isAccepted, session) }

  /// Ends everything.
  func leave() {
    advertiser?.stopAdvertisingPeer()
    browser?.stopBrowsingForPeers()
    session.disconnect()
  }

  // MARK: The transcript

  var transcript: [String] { lock.withLock { lines } }

  /// The certificates that it was asked about.
  var certificates: [[Data]] { lock.withLock { shown } }

  func note(_ line: String) {
    let met = lock.withLock {
      lines.append(line)
      let met = waiting.filter { $0.isMet(lines) }
      waiting.removeAll { $0.isMet(lines) }
      return met.map(\.continuation)
    }
    for continuation in met { continuation.resume() }
  }

  /// Waits until the transcript is so.
  func waits(until isMet: @escaping ([String]) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isMetNow = lock.withLock {
        if isMet(lines) { return true }
        waiting.append((isMet, continuation))
        return false
      }
      if isMetNow { continuation.resume() }
    }
  }

  /// Waits until the transcript has this line, so many times.
  func sees(_ line: String, _ count: Int = 1) async {
    await waits { lines in lines.count { $0 == line } >= count }
  }

  /// Waits until the transcript has this line.
  /// - Returns: false if it has not come in time.
  func sees(_ line: String, within time: Duration) async -> Bool {
    let late = "\(line) too late"
    let deadline = Task {
      if (try? await Task.sleep(for: time)) != nil { note(late) }
    }
    await waits { $0.contains(line) || $0.contains(late) }
    deadline.cancel()
    return transcript.contains(line)
  }

  /// The peer of this name that the browser has found.
  func peer(named name: String) -> MCPeerID? { lock.withLock { seen.last { $0.displayName == name } } }

  /// Finds, invites and is connected.
  func connects(to other: Player) async {
    await sees("found \(other.peer.displayName)")
    if let found = peer(named: other.peer.displayName) { invite(found) }
    await sees("\(other.peer.displayName) connected")
    await other.sees("\(peer.displayName) connected")
  }
}

extension Player: MCSessionDelegate {
  func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
    dispatchPrecondition(condition: .onQueue(session.core.queue))
    let isThere = session.connectedPeers.contains(peerID)
    #expect(isThere == (state == .connected), "\(peerID.displayName) \(state) while connected is \(isThere)")
    note("\(peerID.displayName) \(state)")
    changed?(self, peerID, state)
  }

  func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
    dispatchPrecondition(condition: .onQueue(session.core.queue))
    if !isSilent { note("\(peerID.displayName) says \(String(decoding: data, as: UTF8.self))") }
    received?(self, data, peerID)
  }

  func session(
    _ session: MCSession, didReceive stream: InputStream, withName streamName: String, fromPeer peerID: MCPeerID
  ) {
    note("\(peerID.displayName) streams \(streamName)")
    streamed?(self, stream, streamName)
  }

  func session(
    _ session: MCSession, didStartReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
    with progress: Progress
  ) {
    note("\(peerID.displayName) begins \(resourceName)")
    progressed?(self, progress)
  }

  func session(
    _ session: MCSession, didFinishReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
    at localURL: URL?, withError error: (any Error)?
  ) {
    #expect((localURL == nil) != (error == nil))
    let size = localURL.flatMap { try? Data(contentsOf: $0).count }
    let end = (error as? MCError).map { "failed \($0.code)" } ?? "\(size ?? -1) bytes"
    // First, so that a test that sees the line finds what was kept.
    if let localURL { stored?(self, localURL) }
    note("\(peerID.displayName) ends \(resourceName): \(end)")
  }

  func session(
    _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
    certificateHandler: @escaping (Bool) -> Void
  ) {
    #expect((certificate?.first as? Data)?.isEmpty == false)
    lock.withLock { shown.append(certificate as? [Data] ?? []) }
    if let ask = self.certificate { ask(self, certificateHandler) } else { certificateHandler(true) }
  }
}

extension Player: MCNearbyServiceAdvertiserDelegate {
  func advertiser(
    _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID, withContext context: Data?,
    invitationHandler: @escaping (Bool, MCSession?) -> Void
  ) {
    let said = context.map { ": " + String(decoding: $0, as: UTF8.self) } ?? ""
    if answers == nil { lock.withLock { unanswered = invitationHandler } }
    note("invited by \(peerID.displayName)\(said)")
    if let asked { return asked(self, invitationHandler) }
    if let answers { invitationHandler(answers(peerID), session) }
  }

  func advertiser(_ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error) {
    note("not advertised: \((error as? MCError)?.localizedDescription ?? "another error")")
  }
}

extension Player: MCNearbyServiceBrowserDelegate {
  func browser(
    _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID, withDiscoveryInfo info: [String: String]?
  ) {
    lock.withLock { seen.append(peerID) }
    let said = info.map { info in info.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined() } ?? ""
    note("found \(peerID.displayName)\(said)")
    found?(self, peerID)
  }

  func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) { note("lost \(peerID.displayName)") }

  func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error) {
    note("not browsing: \((error as? MCError)?.localizedDescription ?? "another error")")
  }
}
