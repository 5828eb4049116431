import PiconetWire

/// What a frame asks for that only the engine can do, because it concerns more than the link that it came on and the
/// association there.
enum FrameRequest {
  // MARK: The handshake

  /// Says who the remote side is, and whom it takes us for.
  case hello(Hello)
  /// The smaller node begins an association here, or goes on with one.
  case associate(AssociationID, received: UInt64)
  /// The remote side goes on here with the association that we have asked for.
  case associated(received: UInt64, begun: UInt64)

  // MARK: Other nodes

  /// A frame about invitations: how many may become members is up to the session.
  case invitation(InvitationFrame, Association)
  /// An offer that may stand; what it offers may still be on its way from a former run of its sender.
  case offer(UInt64, ResourceOffer, Association)
  /// A member wants another one removed.
  case removal(NodeID, for: Association)

  /// A member introduces a node to us, and waits for an answer.
  case introduction(Introduce, Association)
  /// A member wants to be introduced to this node.
  case askedIntroduction(NodeID, Association)
  /// It takes that back.
  case withdrawnIntroduction(NodeID, Reason, Association)
  /// A member to whom we have introduced this node says what came of it; nil: it is a member there.
  case introductionAnswer(NodeID, Ending?, Association)

  /// A member wants a tunnel to this node.
  case tunnelAsked(UInt64, to: NodeID, Association)
  /// A member brings us a tunnel from this node.
  case tunnelOffered(UInt64, from: NodeID, relays: Int, Association)
  /// A tunnel of ours leads to this node.
  case tunnelOpened(TunnelID, to: NodeID, relays: Int, Association)

  // MARK: The end

  /// The remote side's goodbye.
  case leave(Reason, String, Association)
  case close(Reason, String)

  /// A sign of life, for which other links may wait.
  case pong(UInt64)
}
