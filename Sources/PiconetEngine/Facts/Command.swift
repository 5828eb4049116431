import PiconetWire

/// The peer to invite.
public enum InvitationTarget: Sendable, Hashable {
  /// A peer in sight.
  /// - Parameter transports: the transports over which it may be dialled; nil: all transports of the configuration.
  case node(NodeID, over: [TransportKind]? = nil)
  /// The peer that answers at these addresses. `expected` (a pinned key) refuses any other peer.
  case addresses([TransportAddress], expected: PeerID?)
}

/// How a message travels.
@nonexhaustive
public enum DeliveryMode: Sendable, Hashable, CaseIterable {
  /// In the order sent, exactly once, or the association ends with a reason.
  case reliable
  /// At most once, never queued behind other data. The message is dropped and counted if the link can't take it now, or
  /// if a newer one has arrived already. At most 1,000 bytes are recommended: most transports carry them in one packet.
  case unreliable
}

/// What the application asks for. Each command is answered by exactly one `reply` effect.
public enum Command: Sendable, Hashable {
  /// Invites a peer and waits for its answer, at most `timeout`. With a typed code the two nodes prove to each other
  /// that they have the same code, and no person is asked.
  case invite(InvitationTarget, context: [UInt8], timeout: Duration, code: TypedCodeID? = nil)
  /// Sets the code by which this node can be invited, or none. While a code is set, strangers can't invite this node in
  /// any other way, even after the code is spent. Each code has three wrong tries.
  case setCode(TypedCodeID?)
  /// Ends our invitation that has no answer yet, or our acceptance of a peer's invitation that has led to no membership
  /// yet. The invitation is identified by its command, which is then answered.
  case cancelInvitation(CommandID)
  /// The question about an invitation is on the screen. Answered with its short code once the inviter has revealed its
  /// part.
  case showCode(NodeID)
  /// Answers an invitation that an event reported. If it compares codes, or our own policy demands that for its
  /// inviter, it can be accepted only after its code has been shown.
  case answerInvitation(NodeID, accept: Bool, Reason)
  /// Says whether the person confirmed the peer in `confirmationNeeded`.
  case confirm(NodeID, Bool, Reason)
  /// Compares short codes with a member, for more than 0 s and at most 300 s. The reply is `done` once both users have
  /// said that they see the same code. There is one comparison with a member at a time. If the member has asked for one
  /// as well, both sides share it.
  case compareCodes(NodeID, timeout: Duration)
  /// Ends a comparison that our command began. It is identified by that command, which is then answered.
  case cancelComparison(CommandID)
  /// Says whether the person sees the code of `comparisonNeeded` on both screens.
  case answerComparison(NodeID, Bool, Reason)
  /// Measures the round trip to a member. Answered by `roundTrip`, or by the reason why there was no answer within
  /// `timeout`. At most `PingTable.limit` pings to a peer may be under way.
  case ping(NodeID, timeout: Duration)
  /// Stops waiting for our ping; the ping's own command is then answered. A later answer from the remote side is
  /// ignored.
  case cancelPing(CommandID)
  /// Leaves a peer once everything sent before is on its way.
  case leave(NodeID, Reason)
  /// Disconnects a member and asks all other members to do the same; answered when it is gone.
  case remove(NodeID)
  /// Offers a resource. The reply comes when the resource is stored on the remote side, or has failed.
  case offer(TransferID, to: NodeID, ResourceOffer)
  /// Accepts an incoming offer whose store is open and has `offset` bytes of it already.
  case acceptOffer(TransferID, offset: UInt64)
  /// Declines an incoming offer, for a reason that the sender is told.
  case declineOffer(TransferID, Reason, detail: String)
  /// Tells the sender how many bytes of a file that may be the same have been compared, before its offer is answered.
  /// The sender then knows that the offer is not forgotten.
  case tellCompared(TransferID, byteCount: UInt64)
  /// Gives up a transfer, in either direction.
  case cancelTransfer(TransferID, Reason)
  /// Changes the disconnect timeout, also for existing associations: 0, or 2 s to 24 hours.
  case setDisconnectTimeout(Duration)
  /// Sets the name of this device from now on. Handshakes of new links state it. Peers that have a link know the
  /// previous name.
  case setName(String)
  /// Lets this key connect for this long (`ExpectedPeers.isDuration`), as often as it likes, while strangers may not.
  /// The application is asked about its invitations like about those of any peer. At most `ExpectedPeers.limit` keys
  /// are expected. A key that is expected already gets the new time.
  case expect(PeerID, for: Duration)
  /// Stops expecting a key. Links and associations that its peer already has stay.
  case stopExpecting(PeerID)
  /// Introduces two members to each other and waits for the outcome. The reply is `done` once each is a member of the
  /// other; if not, it says why that failed and which of them said so. The introduction stands for more than 0 s, and
  /// at most 300 s.
  case introduce(NodeID, to: NodeID, timeout: Duration)
  /// Withdraws our introduction. It is identified by its command, which is then answered.
  case cancelIntroduction(CommandID)
  /// Answers an introduction that an event reported. A node that is accepted is let in and invited.
  case answerIntroduction(NodeID, accept: Bool, Reason)
  /// Pauses a transfer or lets it continue, in either direction. A paused sender sends nothing; a paused receiver gives
  /// no credit.
  case pauseTransfer(TransferID, Bool)
  /// Opens a stream with a name of at most `WireLimits.streamName` bytes; it may be written at once. Fails if the
  /// remote side takes no streams, or no more of them.
  case openStream(StreamID, to: NodeID, name: String)
  /// Ends our outgoing stream after everything written. The reply comes when the remote side's application has read
  /// everything, or will not read it.
  case finishStream(StreamID)
  /// Gives up a stream, in either direction.
  case cancelStream(StreamID, Reason, detail: String)
  /// Leaves all peers and ends. Afterwards the engine refuses everything.
  case shutDown
}

/// The answer to a command.
public enum Reply: Sendable, Hashable {
  /// It is done; the command has no other result.
  case done
  /// The invitation was accepted.
  case connected(NodeID)
  /// The remote side stored the resource under this name.
  /// - Parameter wasAlreadyPresent: whether it had exactly this content before.
  case stored(name: [UInt8], wasAlreadyPresent: Bool = false)
  /// The command has failed, for this reason.
  case failed(Ending)
  /// The short code that both screens show.
  case code(String)
  /// A ping was answered after this long.
  case roundTrip(Duration)
}
