import PiconetWire

/// A peer whose key a link has proven.
public struct ProvenPeer: Sendable, Hashable {
  public var node: NodeID
  public var name: String
  public var traits: LinkTraits
  /// The id of the association, the same on both sides.
  public var association: AssociationID
  /// The short code that was on both screens before the peer became a member. Nil before that, and if no person was
  /// asked.
  public var code: String?
  /// Whether the trust policy knew the peer before.
  public var isKnown: Bool
  /// Whether the peer became a member by proving that it has the typed code.
  public var isProven = false
  /// The member whose introduction made it a member; nil if it was not introduced.
  public var introducedBy: NodeID?
  /// The application data in the peer's own invitation, whether that invitation or ours made the peer a member. Nil
  /// before that, and if the peer has not invited us.
  public var invitationContext: [UInt8]?
  /// What the peer's application says to every peer that it connects to. Nothing vouches for it.
  public var greeting: [UInt8] = []
  /// The longest message in bytes that both sides accept.
  public var messageLimit: Int
  /// The longest unreliable message in bytes that both sides accept. It goes in one frame.
  public var unreliableLimit: Int
  /// The number of channels in which the peer takes messages, including channel 0.
  public var channelLimit = 1

  /// - Parameter unreliableLimit: the limit in bytes; nil if it is the same as for reliable messages.
  public init(
    node: NodeID, name: String, traits: LinkTraits, association: AssociationID, code: String? = nil, isKnown: Bool,
    messageLimit: Int,
    unreliableLimit: Int? = nil
  ) {
    self.node = node
    self.name = name
    self.traits = traits
    self.association = association
    self.code = code
    self.isKnown = isKnown
    self.messageLimit = messageLimit
    self.unreliableLimit = unreliableLimit ?? messageLimit
  }
}
