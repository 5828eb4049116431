import PiconetEngine
import PiconetWire

/// A change of the session's membership.
@nonexhaustive
public enum MembershipChange: Sendable {
  /// Both sides have accepted. A peer that has left and comes back is another member.
  case joined(Member)
  /// The member can't be reached for the moment, for this reason. It stays a member, and what is sent to it waits: both
  /// sides look for another link until the disconnect timeout. They then go on where they stopped, or the member
  /// leaves.
  case suspended(Member, PiconetError)
  /// The member is reached over another link from now on, over this transport: a better one leads to it, or the member
  /// made another link before this side noticed that the previous one was gone.
  case moved(Member, TransportKind)
  /// The member is reached again, over this transport, after it was suspended.
  case resumed(Member, TransportKind)
  /// The member has left, for this reason.
  case left(Member, PiconetError)

  init(_ member: Member, _ kind: SessionLog.Change.Kind) {
    self =
      switch kind {
      case .joined: .joined(member)
      case .suspended(let error): .suspended(member, error)
      case .moved(let transport): .moved(member, transport)
      case .resumed(let transport): .resumed(member, transport)
      case .left(let error): .left(member, error)
      }
  }
}
