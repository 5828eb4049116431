import PiconetWire

/// One peer as the discovery table sees it, merged over all sources.
public struct PeerSummary: Sendable, Hashable {
  public var node: NodeID
  public var name: String
  public var info: [String: String]
  /// Best first.
  public var addresses: [TransportAddress]
  /// In dBm, by the source that hears it best; nil where nobody tells.
  public var signalStrength: Int?

  public init(
    node: NodeID, name: String, info: [String: String], addresses: [TransportAddress], signalStrength: Int? = nil
  ) {
    self.node = node
    self.name = name
    self.info = info
    self.addresses = addresses
    self.signalStrength = signalStrength
  }
}

/// What the application is told. Rare and large ones are `indirect`, for the reason of `Fact`.
public enum Event: Sendable, Hashable {
  indirect case peerFound(PeerSummary)
  indirect case peerChanged(PeerSummary)
  case peerLost(NodeID)
  /// A peer invites us; to be answered before `expires`. Where `comparesCodes`, a person compares the short codes on
  /// the inviter's side, or has to on ours: it can be accepted once its code was shown.
  indirect case invitationReceived(ProvenPeer, context: [UInt8], expires: Instant, comparesCodes: Bool)
  /// The invitation ended unanswered: withdrawn, expired, or its association is gone.
  indirect case invitationEnded(NodeID, Ending)
  /// A person has to compare this short code with that on the peer's screen before an invitation of ours makes it a
  /// member.
  indirect case confirmationNeeded(ProvenPeer, code: String)
  /// The peer that an invitation of ours has reached shows this short code, and our screen should, too; the command is
  /// that of the invitation.
  indirect case codeShown(CommandID, ProvenPeer, code: String)
  /// A peer has tried the code that is or was set: it was wrong, broke off, or was too late. `left` tries are left;
  /// with 0 the code is over, and strangers can't invite this node before it has another.
  indirect case codeFailed(ProvenPeer, TypedCodeID, left: Int, Ending)
  /// An invitation of ours reached the peer and waits for its answer; the command is that of the invitation.
  indirect case invitationSent(CommandID, ProvenPeer)
  /// The trust policy has refused a peer that came to us, for this reason; its name is its own word. Not told of every
  /// one: `suppressed` came before it, since the last that was told.
  indirect case peerRefused(NodeID, name: String, LinkTraits, Ending, suppressed: Int)
  /// The peer is a member of the session now.
  indirect case connected(ProvenPeer)
  indirect case disconnected(NodeID, Ending)
  /// The member's link is gone, for this reason; the association lives on, and both sides look for another.
  indirect case suspended(NodeID, Ending)
  /// The member is reached over another link than before: after a suspension, or because the association has moved.
  indirect case resumed(NodeID, LinkTraits)
  case messagesReceived(NodeID, [Bytes], DeliveryMode)
  /// A peer stands with us as follows now; told after what brought it about. See `PeerCondition.mayFollow` for the
  /// order.
  indirect case stateChanged(NodeID, name: String, PeerCondition)
  /// A member opens a stream to us: its bytes come as far as `firstStreamWindow`, and further as `streamConsumed` tells
  /// that they were read.
  indirect case streamOpened(StreamID, from: NodeID, name: String)
  case streamReceived(StreamID, Bytes)
  /// An incoming stream ended, also when we have cancelled it ourselves; told once, but that `cancelled` may follow
  /// `finished` where the sender gives up a stream that was not read to its end.
  indirect case streamEnded(StreamID, StreamEnd)
  /// An outgoing stream takes nothing more: given up, by either side, or its association is over.
  indirect case streamStopped(StreamID, Ending)
  indirect case offerReceived(TransferID, from: NodeID, ResourceOffer)
  /// The remote side has stored this much of an outgoing transfer.
  case transferProgressed(TransferID, stored: UInt64)
  /// An outgoing offer was accepted; `offset` bytes are there already.
  case transferAccepted(TransferID, offset: UInt64)
  /// Before an outgoing transfer is accepted: so much of what the remote side has is compared with it.
  case transferCompared(TransferID, byteCount: UInt64)
  /// The remote side lets a transfer rest, or go on; each change is told.
  case transferPaused(TransferID, Bool)
  /// An incoming transfer ended: nil if it is stored.
  indirect case transferEnded(TransferID, Ending?)
}
