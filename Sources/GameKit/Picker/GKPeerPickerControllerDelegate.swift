import Foundation

/// The calls of a peer picker to its owner, on the main queue. Every method is optional.
public protocol GKPeerPickerControllerDelegate: NSObjectProtocol {
  /// The person has chosen the kind of connection, if there was a choice. Dismiss the picker here to go on without it.
  func peerPickerController(_ picker: GKPeerPickerController, didSelect type: GKPeerPickerConnectionType)
  /// Returns the session for the picker, whose mode has to be `peer`. It searches only over `type` from then on.
  func peerPickerController(
    _ picker: GKPeerPickerController, sessionFor type: GKPeerPickerConnectionType
  ) -> GKSession
  /// A peer is connected. The session is the delegate's from now on: keep it, be its delegate, and dismiss the picker.
  func peerPickerController(_ picker: GKPeerPickerController, didConnectPeer peerID: String, to session: GKSession)
  /// The person cancels, or no person can be asked. The picker is dismissed already.
  func peerPickerControllerDidCancel(_ picker: GKPeerPickerController)
}

extension GKPeerPickerControllerDelegate {
  /// Does nothing.
  public func peerPickerController(_ picker: GKPeerPickerController, didSelect type: GKPeerPickerConnectionType) {}
  /// Makes a session of this program, under the device's name.
  public func peerPickerController(
    _ picker: GKPeerPickerController, sessionFor type: GKPeerPickerConnectionType
  ) -> GKSession { GKSession() }
  /// Does nothing: the session ends.
  public func peerPickerController(
    _ picker: GKPeerPickerController, didConnectPeer peerID: String, to session: GKSession
  ) {}
  /// Does nothing.
  public func peerPickerControllerDidCancel(_ picker: GKPeerPickerController) {}
}
