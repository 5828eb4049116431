import PiconetEngine
import PiconetWire

/// A peer whose key a connection has proven.
public struct ProvenMember: Sendable, Hashable, Identifiable, CustomStringConvertible {
  /// The fingerprint that TLS has proven, and the incarnation.
  public let id: NodeID
  /// What people call the device; the peer's own words: escape it before showing it on a terminal.
  public let name: String
  /// The transport of the link when the member joined; `Member.transport` has the present one.
  public let transport: TransportKind
  /// The route of that link; `Member.route` has the present one.
  public let route: MemberRoute
  /// The remote end of that link, as the transport writes it.
  public let remoteAddress: String
  /// That address without its port or channel, which differs from link to link.
  public let remoteHost: String
  /// The peer's verified certificates, in DER, that of its key first. If this node asks for authorities
  /// (`NodeConfiguration.certificateAuthorities`), they are the path to one of them, each issued by the next. The
  /// authority's own is left out unless the peer has shown it; certificates beside that path are left out, too.
  /// Otherwise there is one, which the key itself has signed; everything in it but the key is the peer's own words.
  public let certificates: [[UInt8]]
  /// The first of `certificates`; empty if there are no certificates.
  public var certificate: [UInt8] { certificates.first ?? [] }
  /// The six digits that both screens showed before the peer became a member, such as `042 917`. Nil before that, and
  /// if no person was asked.
  public let shortCode: String?
  /// Whether the trust policy knew the peer before.
  public let isKnown: Bool
  /// The record of what a person has said here about the key; nil for a stranger's key, and for this device's own.
  public let known: KnownPeer?
  /// The rights of the key in this node's program: by the table, because the policy has pinned it, or as this device's
  /// own.
  public let rights: Set<PeerRight.Action>
  /// Whether the peer became a member by proving that it has the typed code (`Node.setCode`).
  public let hasProvenCode: Bool
  /// The member that introduced it (`Session.introduce`); nil if it was not introduced. Only that member vouches for
  /// its key: no code was compared.
  public let introducedBy: NodeID?
  /// The `context` of the peer's own invitation, whether that or ours made the peer a member: two nodes that invite
  /// each other at the same time have each other's. Nil before the peer is a member, and if it has not invited this
  /// node. Not to be trusted before the peer is.
  public let invitationContext: [UInt8]?
  /// The greeting of the peer's program for all peers (`NodeConfiguration.greeting`). It comes with the peer's
  /// invitation, or when the peer accepts our invitation. Not to be trusted before the peer is.
  public let greeting: [UInt8]
  /// The proof of whose key this is.
  public let confirmation: MemberConfirmation
  /// The longest message in bytes that both sides take.
  public let messageLimit: Int
  /// The longest unreliable message in bytes that both sides take: it goes in one frame. 16,373 by default.
  public let unreliableLimit: Int
  /// The number of channels in which it takes messages, channel 0 among them.
  public let channelLimit: Int

  init(_ peer: ProvenPeer, _ standing: KnownPeersJudge.Standing, certificates: [[UInt8]] = []) {
    self.certificates = certificates
    id = peer.node
    name = peer.name
    transport = peer.traits.kind
    route = MemberRoute(peer.traits)
    remoteAddress = peer.traits.remoteAddress
    remoteHost = peer.traits.remoteHost
    shortCode = peer.code
    isKnown = peer.isKnown
    known = standing.known
    rights = standing.rights
    hasProvenCode = peer.isProven
    introducedBy = peer.introducedBy
    confirmation = MemberConfirmation(peer, standing)
    invitationContext = peer.invitationContext
    greeting = peer.greeting
    messageLimit = peer.messageLimit
    unreliableLimit = peer.unreliableLimit
    channelLimit = peer.channelLimit
  }

  /// The name for a person here: a known device's petname, whatever it calls itself now; a stranger's own words.
  public var petname: String { known?.name ?? name }

  /// The SHA-256 of the peer's public key.
  public var fingerprint: PeerID { id.peer }

  public var description: String { "\(name) (\(id))" }
}
