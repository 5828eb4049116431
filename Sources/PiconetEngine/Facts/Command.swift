import PiconetWire

/// Whom to invite.
public enum InvitationTarget: Sendable, Hashable {
  /// A peer in sight.
  case node(NodeID)
  /// Whoever answers at these addresses; `expected` (a pinned key) refuses anybody else.
  case addresses([TransportAddress], expected: PeerID?)
}

/// How a message travels.
public enum DeliveryMode: Sendable, Hashable {
  /// In the order sent, exactly once, or the association ends with a reason.
  case reliable
  /// At most once, never queued behind anything: dropped when the link can't take it now.
  case unreliable
}

/// What the application asks for. Each is answered by exactly one `reply` effect, but for `send` and `consumed`.
public enum Command: Sendable, Hashable {
  /// Invites a peer and waits for its answer, at most `timeout`.
  case invite(InvitationTarget, context: [UInt8], timeout: Duration)
  /// Ends an invitation of ours that nobody has answered yet; the invitation's own command is then answered.
  case cancelInvitation(CommandID)
  /// Answers an invitation that an event told of.
  case answerInvitation(NodeID, accept: Bool, Reason)
  /// Says whether the person confirmed a peer that `confirmationNeeded` told of.
  case confirm(NodeID, Bool, Reason)
  /// Leaves a peer once what was sent before is on its way.
  case leave(NodeID, Reason)
  /// Offers a resource; the reply comes when it is stored on the far side, or has failed.
  case offer(TransferID, to: NodeID, ResourceOffer)
  /// Takes an incoming offer whose store is open; `offset` bytes of it are there already.
  case acceptOffer(TransferID, offset: UInt64)
  case declineOffer(TransferID, Reason, detail: String)
  /// Gives a transfer up, in either direction.
  case cancelTransfer(TransferID, Reason)
  /// Leaves everybody and ends; afterwards the engine refuses everything.
  case shutDown
}

/// The answer to a command.
public enum Reply: Sendable, Hashable {
  case done
  /// The invitation was accepted.
  case connected(NodeID)
  /// The far side stored the resource under this name.
  case stored(name: [UInt8])
  case failed(Ending)
}
