import PiconetEngine
import PiconetTLS

/// The strongest proof that a member's key belongs to the person or device for which it is taken. A relay in between
/// does not weaken it: TLS goes from end to end.
@nonexhaustive
public enum MemberConfirmation: Sendable, Hashable {
  /// A person here has confirmed the key before: both screens showed the same code, or its fingerprint was given by
  /// hand.
  case known(PeerConfirmation)
  /// It has proven that it has the typed code (`Node.setCode`).
  case typedCode
  /// Both screens showed the same six digits. In an invitation (`ProvenMember.shortCode`), a person on at least one
  /// side was asked to compare them. In a later comparison (`Member.compareCodes`), a person on each side has confirmed
  /// them.
  case comparedCode
  /// The trust policy vouches for it: the key is pinned, or is this device's own.
  case policy
  /// The key is known here, but no person has confirmed it: it was the first to answer, and has been the same since.
  case firstUse
  /// Only the member that introduced it vouches for it. For a stronger proof, compare a code with it
  /// (`Member.compareCodes`), or invite it with a code (`Introduction.asPeer`, `Node.invite`) in place of accepting it.
  /// Both also work over a relay.
  case introduced(by: NodeID)
  /// No proof: the key has answered, and was accepted.
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

  /// Returns the confirmation after a code was compared: that, unless more was known before.
  var afterComparison: MemberConfirmation {
    switch self {
    case .known, .typedCode, .comparedCode, .policy: self
    case .firstUse, .introduced, .none: .comparedCode
    }
  }
}
