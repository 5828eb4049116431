import PiconetWire

/// One peer as the discovery table sees it, merged over all sources.
public struct PeerSummary: Sendable, Hashable {
  public var node: NodeID
  public var name: String
  public var info: [String: String]
  /// Best first.
  public var addresses: [TransportAddress]

  public init(node: NodeID, name: String, info: [String: String], addresses: [TransportAddress]) {
    self.node = node
    self.name = name
    self.info = info
    self.addresses = addresses
  }
}

/// A peer that a link has proven.
public struct ProvenPeer: Sendable, Hashable {
  public var node: NodeID
  public var name: String
  public var traits: LinkTraits
  /// The short code of the link, which both screens can show.
  public var code: String
  /// Whether the trust policy knew the peer before.
  public var isKnown: Bool
  /// The longest message in bytes that both sides take.
  public var messageLimit: Int

  public init(
    node: NodeID, name: String, traits: LinkTraits, code: String, isKnown: Bool, messageLimit: Int
  ) {
    self.node = node
    self.name = name
    self.traits = traits
    self.code = code
    self.isKnown = isKnown
    self.messageLimit = messageLimit
  }
}

/// What the application is told.
public enum Event: Sendable, Hashable {
  case peerFound(PeerSummary)
  case peerChanged(PeerSummary)
  case peerLost(NodeID)
  /// A peer invites us; to be answered before `expires`.
  case invitationReceived(ProvenPeer, context: [UInt8], expires: Instant)
  /// The invitation ended unanswered: withdrawn, expired, or its association is gone.
  case invitationEnded(NodeID, Ending)
  /// A person has to compare the short codes before we invite the peer.
  case confirmationNeeded(ProvenPeer)
  /// An invitation of ours reached the peer and waits for its answer; the command is that of the invitation.
  case invitationSent(CommandID, ProvenPeer)
  /// The peer is a member of the session now.
  case connected(ProvenPeer)
  case disconnected(NodeID, Ending)
  case messagesReceived(NodeID, [Bytes], DeliveryMode)
  case offerReceived(TransferID, from: NodeID, ResourceOffer)
  /// The far side has stored this much of an outgoing transfer.
  case transferProgressed(TransferID, stored: UInt64)
  /// An outgoing offer was accepted; `offset` bytes are there already.
  case transferAccepted(TransferID, offset: UInt64)
  /// An incoming transfer ended: nil if it is stored.
  case transferEnded(TransferID, Ending?)
}
