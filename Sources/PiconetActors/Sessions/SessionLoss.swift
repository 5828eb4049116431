import Piconet

/// Why a session with a member is over, in the terms of AllJoyn: `MembershipChange.left` has the error with the
/// details.
@nonexhaustive
public enum SessionLoss: Sendable, Hashable {
  /// The other side has left.
  case remoteLeft
  /// Its connection broke, or its program was restarted, without a farewell.
  case remoteClosedAbruptly
  /// Another member has had this node, or that member, removed.
  case removed
  /// This node has had it removed, or has left.
  case leftHere
  /// Nothing was heard for as long as `NodeConfiguration.disconnectTimeout`.
  case linkTimeout
  /// Anything else, such as a broken rule of the protocol.
  case other
}

extension PiconetError {
  /// Returns the reason for the end of a membership with this error, in the terms of AllJoyn.
  /// - Parameter node: this node, which tells its own removals from others'.
  public func sessionLoss(at node: NodeID) -> SessionLoss {
    if code == .left { return blame == .peer ? .remoteLeft : .leftHere }
    if code == .shuttingDown { return blame == .us ? .leftHere : .remoteLeft }
    if code == .removed { return removedBy == node ? .leftHere : .removed }
    return [PiconetError.Code.linkFailed: SessionLoss.remoteClosedAbruptly, .timedOut: .linkTimeout][code] ?? .other
  }
}
