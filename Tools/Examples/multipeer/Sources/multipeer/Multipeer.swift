import Foundation
import MultipeerConnectivity

/// A party in the manner of programs for Multipeer Connectivity: everybody in sight is invited, and talks to all.
///
///     PICONET_INTERFACES=lo swift run multipeer Anna     # in one terminal
///     PICONET_INTERFACES=lo swift run multipeer Ben      # in another one of the same machine
///
/// A line is said to all; `/file PATH` and `/stream TEXT` send a file and a stream; `/leave` leaves the session, and
/// invites and answers nobody more; Ctrl-D ends the program. An invitation from a peer called Stranger is declined.
@main enum Multipeer {
  static func main() {
    guard let name = CommandLine.arguments.dropFirst().first else {
      print("usage: multipeer NAME")
      exit(2)
    }
    let party = Party(name: name)
    party.start()
    // Reading a keyboard blocks a thread; streams need the run loop of this one.
    Thread.detachNewThread {
      while let line = readLine() { DispatchQueue.main.async { party.typed(line) } }
      DispatchQueue.main.async {
        party.stop()
        // What was said before still arrives.
        DispatchQueue.main.asyncAfter(deadline: .now() + 1) { exit(0) }
      }
    }
    RunLoop.main.run()
  }
}

/// Unchecked: a session, its advertiser and its browser may be used by any thread; streams stay on the main one.
final class Party: NSObject, @unchecked Sendable {
  private let peerID: MCPeerID
  private let session: MCSession
  private let advertiser: MCNearbyServiceAdvertiser
  private let browser: MCNearbyServiceBrowser
  private var streams: [ObjectIdentifier: (stream: Stream, name: String)] = [:]

  init(name: String) {
    peerID = MCPeerID(displayName: name)
    session = MCSession(peer: peerID, securityIdentity: nil, encryptionPreference: .required)
    advertiser = MCNearbyServiceAdvertiser(
      peer: peerID, discoveryInfo: ["mood": "fine"], serviceType: "piconet-party")
    browser = MCNearbyServiceBrowser(peer: peerID, serviceType: "piconet-party")
    super.init()
    session.delegate = self
    advertiser.delegate = self
    browser.delegate = self
  }

  func start() {
    advertiser.startAdvertisingPeer()
    browser.startBrowsingForPeers()
  }

  func stop() {
    advertiser.stopAdvertisingPeer()
    browser.stopBrowsingForPeers()
    session.disconnect()
  }

  func typed(_ line: String) {
    if line == "/leave" {
      stop()
    } else if line.hasPrefix("/file ") {
      send(URL(fileURLWithPath: String(line.dropFirst(6))))
    } else if line.hasPrefix("/stream ") {
      stream(Data(line.dropFirst(8).utf8))
    } else {
      do {
        try session.send(Data(line.utf8), toPeers: session.connectedPeers, with: .reliable)
      } catch MCError.invalidParameter {
        show("nobody is here")
      } catch {
        show("not said: \(error.localizedDescription)")
      }
    }
  }

  private func send(_ url: URL) {
    for peer in session.connectedPeers {
      let progress = session.sendResource(at: url, withName: url.lastPathComponent, toPeer: peer) { error in
        self.show("\(url.lastPathComponent) to \(peer.displayName): \(error?.localizedDescription ?? "sent")")
      }
      if let progress { show("sending \(progress.totalUnitCount) bytes to \(peer.displayName)") }
    }
  }

  private func stream(_ data: Data) {
    for peer in session.connectedPeers {
      guard let stream = try? session.startStream(withName: "words", toPeer: peer) else { continue }
      stream.schedule(in: .main, forMode: .default)
      stream.open()
      _ = data.withUnsafeBytes { bytes in
        bytes.bindMemory(to: UInt8.self).baseAddress.map { stream.write($0, maxLength: bytes.count) }
      }
      stream.close()
    }
  }

  /// What others have written could hold anything: without control characters it can't take over the terminal.
  private func show(_ text: String) {
    print(String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.properties.generalCategory != .control })))
  }
}

extension Party: MCNearbyServiceBrowserDelegate {
  func browser(_ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID, withDiscoveryInfo info: [String: String]?)
  {
    show("* \(peerID.displayName) is in sight, in a \(info?["mood"] ?? "hidden") mood")
    browser.invitePeer(peerID, to: session, withContext: Data("come in".utf8), timeout: 20)
  }

  func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
    show("* \(peerID.displayName) is out of sight")
  }
}

extension Party: MCNearbyServiceAdvertiserDelegate {
  func advertiser(
    _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID, withContext context: Data?,
    invitationHandler: @escaping (Bool, MCSession?) -> Void
  ) {
    invitationHandler(peerID.displayName != "Stranger" && context == Data("come in".utf8), session)
  }
}

extension Party: MCSessionDelegate {
  func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
    switch state {
    case .connecting: show("* \(peerID.displayName) is coming")
    case .connected: show("* \(peerID.displayName) is here")
    case .notConnected: show("* \(peerID.displayName) is not here")
    @unknown default: break
    }
  }

  func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
    show("\(peerID.displayName): \(String(decoding: data, as: UTF8.self))")
  }

  func session(
    _ session: MCSession, didReceive stream: InputStream, withName streamName: String, fromPeer peerID: MCPeerID
  ) {
    let incoming = Incoming(stream: stream, name: "\(peerID.displayName), in \(streamName)")
    DispatchQueue.main.async {
      self.streams[ObjectIdentifier(incoming.stream)] = (incoming.stream, incoming.name)
      incoming.stream.delegate = self
      incoming.stream.schedule(in: .main, forMode: .default)
      incoming.stream.open()
    }
  }

  /// Unchecked: handed to the main thread, and used there alone.
  private struct Incoming: @unchecked Sendable {
    let stream: InputStream
    let name: String
  }

  func session(
    _ session: MCSession, didStartReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
    with progress: Progress
  ) { show("\(resourceName) comes from \(peerID.displayName): \(progress.totalUnitCount) bytes") }

  func session(
    _ session: MCSession, didFinishReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
    at localURL: URL?, withError error: (any Error)?
  ) {
    guard let localURL else { return show("\(resourceName): \(error?.localizedDescription ?? "failed")") }
    do {
      let target = URL(fileURLWithPath: "from-" + peerID.displayName + "-" + UUID().uuidString.prefix(4))
      try FileManager.default.moveItem(at: localURL, to: target)
      show("\(resourceName) is in \(target.lastPathComponent)")
    } catch { show("\(resourceName) is not kept: \(error)") }
  }
}

extension Party: StreamDelegate {
  func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
    guard let input = aStream as? InputStream, let entry = streams[ObjectIdentifier(aStream)] else { return }
    switch eventCode {
    case .hasBytesAvailable:
      var buffer = [UInt8](repeating: 0, count: 1_024)
      let count = input.read(&buffer, maxLength: buffer.count)
      show("\(entry.name): \(String(decoding: buffer.prefix(max(0, count)), as: UTF8.self))")
    case .endEncountered, .errorOccurred:
      input.close()
      streams[ObjectIdentifier(aStream)] = nil
    default: break
    }
  }
}
