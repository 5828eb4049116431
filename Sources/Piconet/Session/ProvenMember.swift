import PiconetEngine
import PiconetWire

/// A peer whose key a connection has proven.
public struct ProvenMember: Sendable, Hashable, Identifiable {
  /// The fingerprint that TLS has proven, and the incarnation.
  public let id: NodeID
  /// What people call the device; the peer's own words: escape it before showing it on a terminal.
  public let name: String
  /// What the link goes over.
  public let transport: TransportKind
  /// The far end of the link, as the transport writes it.
  public let remoteAddress: String
  /// The six digits that both screens show, such as `042 917`. Equal digits mean that nobody is in between.
  public let shortCode: String
  /// Whether the trust policy knew the peer before.
  public let isKnown: Bool
  /// The longest message in bytes that both sides take.
  public let messageLimit: Int

  init(_ peer: ProvenPeer) {
    id = peer.node
    name = peer.name
    transport = peer.traits.kind
    remoteAddress = peer.traits.remoteAddress
    shortCode = peer.code
    isKnown = peer.isKnown
    messageLimit = peer.messageLimit
  }

  /// The SHA-256 of the peer's public key.
  public var fingerprint: PeerID { id.peer }
}

/// A change of the session's membership.
public enum MembershipChange: Sendable {
  /// Both sides have accepted.
  case joined(Member)
  /// With the reason.
  case left(NodeID, PiconetError)
}
