import PiconetWire

/// One peer as the discovery table sees it, merged over all sources.
public struct PeerSummary: Sendable, Hashable {
  public var node: NodeID
  public var name: String
  public var info: [String: String]
  /// Best first.
  public var addresses: [TransportAddress]
  /// In dBm, from the source that hears it best; nil if no source reports it.
  public var signalStrength: Int?
  /// Other names under which the peer is advertised. Any device can advertise it under any name.
  public var otherNames: [String]
  /// The transports that the peer offers and this node does not use.
  public var otherKinds: [TransportKind]

  public init(
    node: NodeID, name: String, info: [String: String], addresses: [TransportAddress], signalStrength: Int? = nil,
    otherNames: [String] = [], otherKinds: [TransportKind] = []
  ) {
    self.otherKinds = otherKinds
    self.node = node
    self.name = name
    self.info = info
    self.addresses = addresses
    self.signalStrength = signalStrength
    self.otherNames = otherNames
  }

  /// `name`, then `otherNames`.
  public var names: [String] { [name] + otherNames }
}

/// A node that a member suggests as our member.
public struct IntroducedNode: Sendable, Hashable {
  public var node: NodeID
  /// The introducer's name for the node: a label, and no proof of anything.
  public var name: String
  public var by: NodeID
  public var expires: Instant

  public init(node: NodeID, name: String, by: NodeID, expires: Instant) {
    self.node = node
    self.name = name
    self.by = by
    self.expires = expires
  }
}

/// What the application is told. Rare and large events are `indirect`, for the reason given at `Fact`.
public enum Event: Sendable, Hashable {
  indirect case peerFound(PeerSummary)
  indirect case peerChanged(PeerSummary)
  case peerLost(NodeID)
  /// A peer invites us; to be answered before `expires`. If `comparesCodes`, a person compares the short codes on the
  /// inviter's side or has to compare them on ours. The invitation can be accepted once its code has been shown.
  indirect case invitationReceived(ProvenPeer, context: [UInt8], expires: Instant, comparesCodes: Bool)
  /// The invitation ended unanswered: it was withdrawn, it expired, or its association is gone.
  indirect case invitationEnded(NodeID, Ending)
  /// A person has to compare this short code with that on the peer's screen before our invitation makes the peer a
  /// member.
  indirect case confirmationNeeded(ProvenPeer, code: String)
  /// The peer that our invitation has reached shows this short code, and our screen should show it too. The command is
  /// that of the invitation.
  indirect case codeShown(CommandID, ProvenPeer, code: String)
  /// A member or a command of the application wants codes to be compared. A person compares this code with that on the
  /// member's screen.
  indirect case comparisonNeeded(NodeID, code: String)
  /// That comparison has ended without success, answered here or not.
  indirect case comparisonEnded(NodeID, Ending)
  /// Both users have seen the same code, so the member's key is theirs. This may follow `comparisonEnded` if the
  /// member's word came late.
  indirect case codesCompared(NodeID, code: String)
  /// A peer has tried a typed code that is or was set, and the try failed: the code was wrong, or the try broke off or
  /// came too late. The code set now has `left` tries. At 0 it is spent, and strangers can't invite this node until
  /// `setCode` sets another code, or none.
  indirect case codeFailed(ProvenPeer, TypedCodeID, left: Int, Ending)
  /// Our invitation has reached the peer and waits for its answer. The command is that of the invitation.
  indirect case invitationSent(CommandID, ProvenPeer)
  /// A member introduces a node to us; to be answered before it expires.
  indirect case introductionReceived(IntroducedNode)
  /// Two members of our group do not become members of one another, for the reason that one of them gave. The reason is
  /// never `full`: a node without a place leaves the group, and its own ending says so. If they could not reach one
  /// another (`Reason.mayPass`), they are introduced again nevertheless.
  indirect case membersApart(NodeID, NodeID, Ending)
  /// Two members that we have reported apart, for this reason, are members of one another now.
  indirect case membersTogether(NodeID, NodeID, Ending)
  /// An introduced node does not become a member by its introduction.
  indirect case introductionEnded(NodeID, Ending)
  /// A peer was refused, for this reason. Either the trust policy has refused a peer that dialled us, or a stranger has
  /// given too many wrong codes. The name is the peer's own claim. Not every refusal by the policy is reported:
  /// `suppressed` others came since the last report.
  indirect case peerRefused(NodeID, name: String, LinkTraits, Ending, suppressed: Int)
  /// The peer is a member of the session now.
  indirect case connected(ProvenPeer)
  indirect case disconnected(NodeID, Ending)
  /// The member's link is gone, for this reason. The association continues, and both sides look for another link.
  indirect case suspended(NodeID, Ending)
  /// The member is reached over another link than before, after a suspension or because the association has moved.
  indirect case resumed(NodeID, LinkTraits)
  /// Messages of one channel, in their order. For unreliable messages the channel means nothing.
  case messagesReceived(NodeID, [Bytes], DeliveryMode, in: MessageChannel = 0)
  /// The condition of a peer has changed. This is reported after the event that caused it. See
  /// `PeerCondition.mayFollow` for the order.
  indirect case stateChanged(NodeID, name: String, PeerCondition)
  /// A member opens a stream to us. Up to `firstStreamWindow` bytes come, and more when `streamConsumed` reports that
  /// they were read.
  indirect case streamOpened(StreamID, from: NodeID, name: String)
  case streamReceived(StreamID, Bytes)
  /// An incoming stream ended, even if we cancelled it ourselves. This is reported once, with one exception:
  /// `cancelled` may follow `finished` if the sender gives up a stream that was not read to its end.
  indirect case streamEnded(StreamID, StreamEnd)
  /// An outgoing stream takes nothing more: one side has given it up, or its association is over.
  indirect case streamStopped(StreamID, Ending)
  indirect case offerReceived(TransferID, from: NodeID, ResourceOffer)
  /// The remote side has stored this many bytes of an outgoing transfer.
  case transferProgressed(TransferID, stored: UInt64)
  /// An outgoing offer was accepted; the remote side has `offset` bytes already.
  case transferAccepted(TransferID, offset: UInt64)
  /// The number of bytes that the remote side has compared with what it already has, before it accepts an outgoing
  /// transfer.
  case transferCompared(TransferID, byteCount: UInt64)
  /// The remote side pauses a transfer, or lets it go on; each change is reported.
  case transferPaused(TransferID, Bool)
  /// An incoming transfer ended: nil if it is stored.
  indirect case transferEnded(TransferID, Ending?)
}
