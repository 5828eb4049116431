import PiconetWire

/// A frame's request to the engine, because it concerns more than its link and the association on it.
enum FrameRequest {
  // MARK: The handshake

  /// States which node the remote side is, and which association with us it still holds.
  case hello(Hello)
  /// The smaller node begins an association here, or continues one.
  case associate(AssociationID, received: UInt64)
  /// The remote side resumes here the association that we have asked it to resume.
  case associated(received: UInt64, begun: UInt64)

  // MARK: Other nodes

  /// A frame about invitations. It concerns the engine, since the session limits how many nodes become members.
  case invitation(InvitationFrame, Association)
  /// A word about comparing codes. Another question may have to make room for it.
  case comparison(Comparison, Association)
  /// An offer that is allowed. A former run of its sender may have been sending the same resource.
  case offer(UInt64, ResourceOffer, Association)
  /// A member wants another member removed.
  case removal(NodeID, for: Association)

  case introduction(IntroductionRequest, Association)
  /// A member has told where it listens.
  case listening(Association)
  /// A node has sent news of its group.
  case groupView(Association)

  /// A member wants a tunnel to this node.
  case tunnelAsked(UInt64, to: NodeID, Association)
  /// A tunnel that ends here.
  case tunnel(TunnelRequest, over: Association)

  // MARK: Endings

  /// The remote side's goodbye.
  case leave(Reason, String, Association)
  case close(Reason, String)

  /// An answer to a ping: a sign of life that other links may be waiting for.
  case pong(UInt64)
}

/// A frame of a member about introductions.
enum IntroductionRequest {
  /// The member introduces a node to us, and waits for an answer.
  case introduce(Introduce)
  /// The member wants to be introduced to this node.
  case ask(NodeID)
  /// The member withdraws its introduction of this node, for this reason.
  case withdraw(NodeID, Reason)
  /// The member states how our introduction of this node to it has ended; nil: the node is its member now.
  case answer(NodeID, Ending?)
}

/// A frame of a member that relays, about a tunnel that ends here.
enum TunnelRequest {
  /// The member opens a tunnel to us, from this node.
  case offered(UInt64, from: NodeID, relays: Int)
  /// Our own tunnel to this node is open.
  case opened(TunnelID, to: NodeID, relays: Int)
}
