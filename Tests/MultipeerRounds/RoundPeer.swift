import MultipeerConnectivity

/// One process: it does what lines on standard input say, and says what its delegates were told.
///
/// - `round TYPE`: invites every peer that advertises this type of service, accepts every invitation, and sends each
///   connected peer three messages at once. `all` is said when all are connected and their messages are there, and,
///   over TCP, when there is one connection for each.
/// - `watch`: says `gone` once a peer is not connected any more.
/// - `exit`: ends the process.
/// - `leave`: says goodbye, leaves, and says what was told of each peer. What is told later is said as `late`.
final class RoundPeer: NSObject, @unchecked Sendable {
  // Unchecked: what changes is under the lock.
  private let name: String
  private let others: Int
  private let usesTCP = ProcessInfo.processInfo.environment["PICONET_INTERFACES"] == "lo"
  private let lock = NSLock()
  private var session: MCSession?
  private var advertiser: MCNearbyServiceAdvertiser?
  private var browser: MCNearbyServiceBrowser?
  private var told: [MCPeerID: [String]] = [:]
  private var isComplete = false
  private var isLeaving = false
  private var isWatching = false
  private var hasReported = false
  private var polling: (any DispatchSourceTimer)?

  init(name: String, count: Int) {
    self.name = name
    others = count - 1
  }

  func follow() {
    while let line = readLine() {
      let words = line.split(separator: " ")
      if words.first == "round", words.count == 2 { begin(String(words[1])) }
      if words.first == "leave" { leave() }
      if words.first == "watch" {
        lock.withLock { isWatching = true }
        say("watching")
      }
      if words.first == "exit" { exit(0) }
      if words.first == "state" { say("state \(lock.withLock { report })") }
    }
  }

  private func begin(_ type: String) {
    let peer = MCPeerID(displayName: name)
    let session = MCSession(peer: peer, securityIdentity: nil, encryptionPreference: .required)
    let advertiser = MCNearbyServiceAdvertiser(peer: peer, discoveryInfo: nil, serviceType: type)
    let browser = MCNearbyServiceBrowser(peer: peer, serviceType: type)
    lock.withLock {
      (self.session, self.advertiser, self.browser) = (session, advertiser, browser)
      told = [:]
      (isComplete, isLeaving, hasReported) = (false, false, false)
    }
    session.delegate = self
    advertiser.delegate = self
    browser.delegate = self
    advertiser.startAdvertisingPeer()
    browser.startBrowsingForPeers()
  }

  private func leave() {
    let (session, advertiser, browser) = lock.withLock {
      isLeaving = true
      return (self.session, self.advertiser, self.browser)
    }
    advertiser?.stopAdvertisingPeer()
    browser?.stopBrowsingForPeers()
    if let peers = session?.connectedPeers, !peers.isEmpty {
      try? session?.send(Data("bye".utf8), toPeers: peers, with: .reliable)
    }
    session?.disconnect()
    reportIfOver()
  }

  // MARK: What was told

  private func note(_ line: String, of peer: MCPeerID, in session: MCSession) {
    let (isLate, isComplete) = lock.withLock { () -> (Bool, Bool) in
      guard session === self.session, !hasReported else { return (true, false) }
      told[peer, default: []].append(line)
      guard !self.isComplete, told.count == others, told.values.allSatisfy({ $0.contains("2") }) else {
        return (false, false)
      }
      self.isComplete = true
      return (false, true)
    }
    if isLate { return say("late \(peer.displayName) \(line)") }
    if isComplete, usesTCP { awaitOneConnectionEach() }
    if isComplete, !usesTCP { say(OwnConnections.count == 0 ? "all" : "late: it is over TCP") }
    reportIfOver()
  }

  /// Conversations about invitations take a moment to end.
  private func awaitOneConnectionEach() {
    let timer = DispatchSource.makeTimerSource()
    timer.setEventHandler { [self] in
      guard OwnConnections.count == others else { return }
      timer.cancel()
      say("all")
    }
    timer.schedule(deadline: .now(), repeating: .milliseconds(50))
    timer.resume()
    lock.withLock { polling = timer }
  }

  private func reportIfOver() {
    let report = lock.withLock { () -> String? in
      guard isLeaving, !hasReported, told.values.allSatisfy({ $0.last == "notConnected" }) else { return nil }
      hasReported = true
      return self.report
    }
    if let report { say("told \(report)") }
  }

  private var report: String {
    told.map { "\($0.key.displayName): \($0.value.joined(separator: " "))" }.sorted().joined(separator: "; ")
  }

  /// Why a peer that should be connected is not.
  private func reason(_ state: MCSessionState, _ peer: MCPeerID, _ session: MCSession) -> String {
    guard state == .notConnected, lock.withLock({ !isLeaving && told[peer]?.contains("connected") != true }) else {
      return ""
    }
    return "[\(session.error(forPeer: peer)?.description ?? "no reason")]"
  }

  private func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}

extension RoundPeer: MCSessionDelegate {
  func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
    note("\(state)\(reason(state, peerID, session))", of: peerID, in: session)
    if state == .notConnected, lock.withLock({ isWatching }) { say("gone \(peerID.displayName)") }
    guard state == .connected else { return }
    for number in 0...2 { try? session.send(Data("\(number)".utf8), toPeers: [peerID], with: .reliable) }
  }

  func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
    note(String(decoding: data, as: UTF8.self), of: peerID, in: session)
  }

  func session(
    _ session: MCSession, didReceive stream: InputStream, withName streamName: String, fromPeer peerID: MCPeerID
  ) { note("stream", of: peerID, in: session) }

  func session(
    _ session: MCSession, didStartReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
    with progress: Progress
  ) { note("resource", of: peerID, in: session) }

  func session(
    _ session: MCSession, didFinishReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
    at localURL: URL?, withError error: (any Error)?
  ) { note("resource", of: peerID, in: session) }
}

extension RoundPeer: MCNearbyServiceAdvertiserDelegate, MCNearbyServiceBrowserDelegate {
  func advertiser(
    _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID, withContext context: Data?,
    invitationHandler: @escaping (Bool, MCSession?) -> Void
  ) { invitationHandler(true, lock.withLock { session }) }

  func advertiser(_ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error) {
    say("late advertiser: \(error)")
  }

  func browser(
    _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID, withDiscoveryInfo info: [String: String]?
  ) {
    guard let session = lock.withLock({ session }) else { return }
    browser.invitePeer(peerID, to: session, withContext: nil, timeout: 60)
  }

  func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}

  func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error) {
    say("late browser: \(error)")
  }
}
