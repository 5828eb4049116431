import GameKit

/// A program as Xcode's newest template makes them: all that does not say otherwise is on the main actor.
public final class ScoreBoard: NSObject, GKSessionDelegate, GKSessionDataReceiveHandler {
  private var session: GKSession?
  private var scores: [String: Int] = [:]

  public func start() {
    session = GKSession(sessionID: "scores", displayName: "Board", sessionMode: .server)
    session?.delegate = self
    session?.setDataReceiveHandler(self, withContext: nil)
    session?.setDataReceiveHandler { [weak self] data, peer, _ in self?.scores[peer] = data.count }
    session?.isAvailable = true
  }

  public func session(_ session: GKSession, peer peerID: String, didChange state: GKPeerConnectionState) {
    switch state {
    case .stateConnected: scores[peerID] = 0
    case .stateDisconnected: scores[peerID] = nil
    default: break
    }
  }

  public func session(_ session: GKSession, didReceiveConnectionRequestFromPeer peerID: String) {
    try? session.acceptConnection(fromPeer: peerID)
    Task.detached { session.denyConnection(fromPeer: "nobody") }
  }

  public func receiveData(
    _ data: Data, fromPeer peer: String, in session: GKSession, context: UnsafeMutableRawPointer?
  ) {
    scores[peer, default: 0] += data.count
  }
}

/// A controller that shows a picker.
public final class PickerOwner: NSObject, GKPeerPickerControllerDelegate {
  private let picker = GKPeerPickerController()
  private var session: GKSession?

  public func pick() {
    picker.delegate = self
    picker.show()
  }

  public func peerPickerController(
    _ picker: GKPeerPickerController, didConnectPeer peerID: String, to session: GKSession
  ) {
    self.session = session
    picker.dismiss()
  }
}

/// A subclass is as isolated as its base: not at all.
nonisolated public final class CountingSession: GKSession, @unchecked Sendable {
  // Unchecked: no other code shares it.
  private var count = 0

  public override func connect(toPeer peerID: String!, withTimeout timeout: TimeInterval) {
    count += 1
    super.connect(toPeer: peerID, withTimeout: timeout)
  }
}
