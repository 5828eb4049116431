import PiconetWire

/// One peer as the discovery table sees it, merged over all sources.
public struct PeerSummary: Sendable, Hashable {
  public var node: NodeID
  public var name: String
  public var info: [String: String]
  /// Best first.
  public var addresses: [TransportAddress]
  /// In dBm, from the source that hears it best; nil if no source says.
  public var signalStrength: Int?
  /// Other names that it is advertised under. Any device can advertise it under any name.
  public var otherNames: [String]
  /// The transports that it offers and this node does not use.
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

/// A node that a member suggests as a member of ours.
public struct IntroducedNode: Sendable, Hashable {
  public var node: NodeID
  /// What the introducer calls it: a label, and no proof of anything.
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

/// What the application is told. Rare and large ones are `indirect`, for the reason given at `Fact`.
public enum Event: Sendable, Hashable {
  indirect case peerFound(PeerSummary)
  indirect case peerChanged(PeerSummary)
  case peerLost(NodeID)
  /// A peer invites us; to be answered before `expires`. If `comparesCodes`, a person compares the short codes on the
  /// inviter's side, or has to on ours: it can be accepted once its code has been shown.
  indirect case invitationReceived(ProvenPeer, context: [UInt8], expires: Instant, comparesCodes: Bool)
  /// The invitation ended unanswered: withdrawn, expired, or its association is gone.
  indirect case invitationEnded(NodeID, Ending)
  /// A person has to compare this short code with that on the peer's screen before an invitation of ours makes it a
  /// member.
  indirect case confirmationNeeded(ProvenPeer, code: String)
  /// The peer that an invitation of ours has reached shows this short code, and our screen should, too; the command is
  /// that of the invitation.
  indirect case codeShown(CommandID, ProvenPeer, code: String)
  /// A member, or a command of ours, wants codes to be compared: a person is to compare this one with that on the
  /// member's screen.
  indirect case comparisonNeeded(NodeID, code: String)
  /// That comparison has ended without success, whether or not it was answered here.
  indirect case comparisonEnded(NodeID, Ending)
  /// Both users have seen the same code, so the member's key is theirs. It may follow `comparisonEnded` where the
  /// member's word came late.
  indirect case codesCompared(NodeID, code: String)
  /// A peer has tried the code that is or was set: it was wrong, broke off, or was too late. The one that is set now
  /// has `left` tries; at 0 it is spent, and strangers can't invite this node until `setCode` sets another, or none.
  indirect case codeFailed(ProvenPeer, TypedCodeID, left: Int, Ending)
  /// An invitation of ours reached the peer and waits for its answer; the command is that of the invitation.
  indirect case invitationSent(CommandID, ProvenPeer)
  /// A member introduces a node to us; to be answered before it expires.
  indirect case introductionReceived(IntroducedNode)
  /// Two members of our group do not become members of one another, for the reason that one of them gave. Never
  /// `full`: who has no place leaves the group, and is told so by its own ending. Where they have not found a way to
  /// one another (`Reason.mayPass`), they are introduced again all the same.
  indirect case membersApart(NodeID, NodeID, Ending)
  /// Two members of which we have told that they are apart, for this reason, are members of one another now.
  indirect case membersTogether(NodeID, NodeID, Ending)
  /// An introduced node does not become a member by its introduction.
  indirect case introductionEnded(NodeID, Ending)
  /// A peer was refused, for this reason: the trust policy has refused one that dialled us, or too many codes of a
  /// stranger were wrong. The name is the peer's own word. Not every refusal by the policy is reported: `suppressed`
  /// others came since the last one that was.
  indirect case peerRefused(NodeID, name: String, LinkTraits, Ending, suppressed: Int)
  /// The peer is a member of the session now.
  indirect case connected(ProvenPeer)
  indirect case disconnected(NodeID, Ending)
  /// The member's link is gone, for this reason; the association lives on, and both sides look for another.
  indirect case suspended(NodeID, Ending)
  /// The member is reached over another link than before: after a suspension, or because the association has moved.
  indirect case resumed(NodeID, LinkTraits)
  /// Messages of one channel, in their order; for unreliable ones the channel means nothing.
  case messagesReceived(NodeID, [Bytes], DeliveryMode, in: MessageChannel = 0)
  /// The condition of a peer has changed; reported after the event that brought it about. See `PeerCondition.mayFollow`
  /// for the order.
  indirect case stateChanged(NodeID, name: String, PeerCondition)
  /// A member opens a stream to us: up to `firstStreamWindow` bytes come, and more as `streamConsumed` says that they
  /// were read.
  indirect case streamOpened(StreamID, from: NodeID, name: String)
  case streamReceived(StreamID, Bytes)
  /// An incoming stream ended, even if we cancelled it ourselves; reported once, except that `cancelled` may follow
  /// `finished` if the sender gives up a stream that was not read to its end.
  indirect case streamEnded(StreamID, StreamEnd)
  /// An outgoing stream takes nothing more: one side has given it up, or its association is over.
  indirect case streamStopped(StreamID, Ending)
  indirect case offerReceived(TransferID, from: NodeID, ResourceOffer)
  /// The remote side has stored this much of an outgoing transfer.
  case transferProgressed(TransferID, stored: UInt64)
  /// An outgoing offer was accepted; the remote side has `offset` bytes already.
  case transferAccepted(TransferID, offset: UInt64)
  /// Before an outgoing transfer is accepted: how many bytes of what it already has the remote side has compared with
  /// it.
  case transferCompared(TransferID, byteCount: UInt64)
  /// The remote side says that its disk is still at work on an outgoing transfer that it has accepted.
  case transferStoring(TransferID)
  /// The remote side pauses a transfer, or lets it go on; each change is reported.
  case transferPaused(TransferID, Bool)
  /// An incoming transfer ended: nil if it is stored.
  indirect case transferEnded(TransferID, Ending?)
}
