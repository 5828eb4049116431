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
  /// A word about comparing codes: another question may have to make room for it.
  case comparison(Comparison, Association)
  /// An offer that is allowed. A former run of its sender may have been sending the same resource.
  case offer(UInt64, ResourceOffer, Association)
  /// A member wants another one removed.
  case removal(NodeID, for: Association)

  case introduction(IntroductionRequest, Association)
  /// A member has told where it listens.
  case listening(Association)
  /// A node has told something new of its group.
  case groupView(Association)

  /// A member wants a tunnel to this node.
  case tunnelAsked(UInt64, to: NodeID, Association)
  /// A tunnel that ends here.
  case tunnel(TunnelRequest, over: Association)

  // MARK: The end

  /// The remote side's goodbye.
  case leave(Reason, String, Association)
  case close(Reason, String)

  /// An answer to a ping: a sign of life for which other links may wait.
  case pong(UInt64)
}

/// What a member says of introductions.
enum IntroductionRequest {
  /// It introduces a node to us, and waits for an answer.
  case introduce(Introduce)
  /// It wants to be introduced to this node.
  case ask(NodeID)
  /// It withdraws its introduction of this node, for this reason.
  case withdraw(NodeID, Reason)
  /// It says how our introduction of this node to it has ended; nil: the node is its member now.
  case answer(NodeID, Ending?)
}

/// What a member that relays says of a tunnel that ends here.
enum TunnelRequest {
  /// It opens one to us, from this node.
  case offered(UInt64, from: NodeID, relays: Int)
  /// One of ours to this node is open.
  case opened(TunnelID, to: NodeID, relays: Int)
}
