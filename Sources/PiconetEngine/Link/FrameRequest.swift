import PiconetWire

/// What a frame asks of the engine, because it concerns more than its link and the association on it.
enum FrameRequest {
  // MARK: The handshake

  /// Says who the remote side is, and which association with us it still holds.
  case hello(Hello)
  /// The smaller node begins an association here, or goes on with one.
  case associate(AssociationID, received: UInt64)
  /// The remote side resumes here the association that we have asked it to resume.
  case associated(received: UInt64, begun: UInt64)

  // MARK: Other nodes

  /// A frame about invitations. It concerns the engine, since the session limits how many nodes become members.
  case invitation(InvitationFrame, Association)
  /// An offer that is allowed. A former run of its sender may have been sending the same resource.
  case offer(UInt64, ResourceOffer, Association)
  /// A member wants another one removed.
  case removal(NodeID, for: Association)

  /// A member introduces a node to us, and waits for an answer.
  case introduction(Introduce, Association)
  /// A member wants to be introduced to this node.
  case askedIntroduction(NodeID, Association)
  /// A node has told something new of its group.
  case groupView(Association)
  /// A member withdraws its introduction of this node, for this reason.
  case withdrawnIntroduction(NodeID, Reason, Association)
  /// A member to which we have introduced this node says how that ended; nil: the node is its member now.
  case introductionAnswer(NodeID, Ending?, Association)

  /// A member wants a tunnel to this node.
  case tunnelAsked(UInt64, to: NodeID, Association)
  /// A member that relays opens a tunnel to us from this node.
  case tunnelOffered(UInt64, from: NodeID, relays: Int, Association)
  /// A tunnel of ours to this node is open.
  case tunnelOpened(TunnelID, to: NodeID, relays: Int, Association)

  // MARK: The end

  /// The remote side's goodbye.
  case leave(Reason, String, Association)
  case close(Reason, String)

  /// An answer to a ping: a sign of life for which other links may wait.
  case pong(UInt64)
}
