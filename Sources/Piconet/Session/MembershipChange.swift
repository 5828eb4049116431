import PiconetEngine
import PiconetWire

/// A change of the session's membership.
public enum MembershipChange: Sendable {
  /// Both sides have accepted.
  case joined(Member)
  /// The member can't be reached for the moment, for this reason. It stays a member, and what is sent to it waits: both
  /// sides look for another way until the disconnect timeout, and go on where they stopped, or it leaves.
  case suspended(Member, PiconetError)
  /// The member is reached over this transport from now on: after a suspension, or because a better transport leads to
  /// it.
  case resumed(Member, TransportKind)
  /// With the reason.
  case left(NodeID, PiconetError)
}
