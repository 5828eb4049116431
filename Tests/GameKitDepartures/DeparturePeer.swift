import Foundation
import GameKit

/// One process: it does what lines on standard input say, and says what its delegate was told, each line with the time.
///
/// - `settle`: connects to no further peer.
/// - `state`: says which peers are connected, and how many of them over another peer.
/// - `send`: sends a message to all.
/// - `timeout`: sets the shortest disconnect timeout that takes a busy machine into account, three seconds.
/// - `leave`, `kick NAME`, `exit`.
final class DeparturePeer: NSObject, GKSessionDelegate, @unchecked Sendable {
  // Unchecked: what changes is under the lock.
  private let session: GKSession
  private let lock = NSLock()
  private var connects = true

  init(name: String, mode: Mode, sessionID: String) {
    let mode: GKSessionMode =
      switch mode {
      case .server: .server
      case .client: .client
      case .peer: .peer
      }
    session = GKSession(sessionID: sessionID, displayName: name, sessionMode: mode)
    super.init()
    session.delegate = self
    session.setDataReceiveHandler { [self] data, peer, _ in
      say("data \(self.name(peer)) \(String(decoding: data, as: UTF8.self))")
    }
    session.isAvailable = true
  }

  func follow() -> Never {
    Thread.detachNewThread { [self] in
      while let line = readLine() { obey(line.split(separator: " ").map(String.init)) }
      exit(0)
    }
    while true { RunLoop.main.run(until: .distantFuture) }
  }

  private func obey(_ words: [String]) {
    switch words.first {
    case "settle":
      lock.withLock { connects = false }
      say("settled")
    case "state":
      let connected = peers(.stateConnected).map(name).sorted()
      say("state \(peers(.stateConnectedRelay).count) \(connected.joined(separator: " "))")
    case "send":
      do { try session.sendData(toAllPeers: Data("hello".utf8), with: .reliable) } catch {
        say("sending fails: \(error)")
      }
    case "timeout":
      session.disconnectTimeout = Plan.disconnectTimeout
      say("timed")
    case "leave": session.disconnectFromAllPeers()
    case "kick":
      for peer in peers(.stateConnected) where name(peer) == words.last { session.disconnectPeer(fromAllPeers: peer) }
    case "exit": exit(0)
    default: break
    }
  }

  private func peers(_ state: GKPeerConnectionState) -> [String] { session.peers(with: state) as? [String] ?? [] }

  private func name(_ peer: String) -> String { session.displayName(forPeer: peer) ?? peer }

  private func say(_ line: String) {
    let time = String(format: "%.3f", monotonicSeconds())
    lock.withLock { FileHandle.standardOutput.write(Data("\(time) \(line)\n".utf8)) }
  }

  // MARK: GKSessionDelegate

  func session(_ session: GKSession, peer peerID: String, didChange state: GKPeerConnectionState) {
    switch state {
    case .stateAvailable: if lock.withLock({ connects }) { session.connect(toPeer: peerID, withTimeout: 60) }
    case .stateConnected: say("connected \(name(peerID))")
    case .stateDisconnected: say("disconnected \(name(peerID))")
    case .stateUnavailable, .stateConnecting, .stateConnectedRelay: break
    }
  }

  func session(_ session: GKSession, didReceiveConnectionRequestFromPeer peerID: String) {
    try? session.acceptConnection(fromPeer: peerID)
  }

  func session(_ session: GKSession, connectionWithPeerFailed peerID: String, withError error: any Error) {
    say("failed \(name(peerID)) \(error)")
  }

  func session(_ session: GKSession, didFailWithError error: any Error) { say("session failed \(error)") }
}
