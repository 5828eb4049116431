import PiconetWire

/// A peer that a link has proven.
public struct ProvenPeer: Sendable, Hashable {
  public var node: NodeID
  public var name: String
  public var traits: LinkTraits
  /// The id of the association, the same on both sides.
  public var association: AssociationID
  /// The short code that was on both screens before the peer became a member; nil before that, and where no person was
  /// asked.
  public var code: String?
  /// Whether the trust policy knew the peer before.
  public var isKnown: Bool
  /// Whether the peer became a member by proving that it has the typed code.
  public var isProven = false
  /// The member by whose introduction it became a member; nil if it was not introduced.
  public var introducedBy: NodeID?
  /// What the peer's own invitation said to the application, whether that or ours made the peer a member; nil before
  /// that, and if the peer has not invited us.
  public var invitationContext: [UInt8]?
  /// What its application says to every peer that it connects to; nothing vouches for it.
  public var greeting: [UInt8] = []
  /// The longest message in bytes that both sides take.
  public var messageLimit: Int
  /// The longest unreliable message in bytes that both sides take: it goes in one frame.
  public var unreliableLimit: Int
  /// In how many channels it takes messages, channel 0 among them.
  public var channelLimit = 1

  /// - Parameter unreliableLimit: nil: as long as reliable ones.
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
