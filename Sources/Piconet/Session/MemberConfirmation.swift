import PiconetEngine
import PiconetTLS

/// What says that a member's key is that of the person or device for which it is taken: the strongest proof that there
/// is. A relay in between changes nothing of it: TLS goes from end to end.
@nonexhaustive
public enum MemberConfirmation: Sendable, Hashable {
  /// A person here has confirmed the key before: both screens showed the same code, or its fingerprint was given by
  /// hand.
  case known(PeerConfirmation)
  /// It has proven that it has the typed code (`Node.setCode`).
  case typedCode
  /// Both screens showed the same six digits: those of the invitation (`ProvenMember.shortCode`), and a person on one
  /// side at least was asked to compare them, or those of a later comparison, and both have (`Member.compareCodes`).
  case comparedCode
  /// The trust policy vouches for it: the key is pinned, or is this device's own.
  case policy
  /// The key is known here, and nobody has confirmed it: it was the one that answered first, and is the same since.
  case firstUse
  /// It has the word of the member that introduced it, and nothing else. Whoever wants more compares a code with it
  /// (`Member.compareCodes`), or invites it with one (`Introduction.asPeer`, `Node.invite`) in place of accepting it;
  /// both also work over a relay.
  case introduced(by: NodeID)
  /// Nothing does: it is a key that has answered, and was accepted.
  case none

  init(_ peer: ProvenPeer, _ standing: KnownPeersJudge.Standing) {
    let known = standing.known?.confirmation
    self =
      if let known, known != .firstUse {
        .known(known)
      } else if peer.isProven {
        .typedCode
      } else if peer.code != nil {
        .comparedCode
      } else if known != nil {
        .firstUse
      } else if peer.isKnown {
        .policy
      } else if let introducer = peer.introducedBy {
        .introduced(by: introducer)
      } else {
        .none
      }
  }

  /// The same after a code was compared, unless more was known before.
  var afterComparison: MemberConfirmation {
    switch self {
    case .known, .typedCode, .comparedCode, .policy: self
    case .firstUse, .introduced, .none: .comparedCode
    }
  }
}
