import PiconetWire

/// The peer to invite.
public enum InvitationTarget: Sendable, Hashable {
  /// A peer in sight.
  /// - Parameter transports: those by which it may be dialled; nil: all those of the configuration.
  case node(NodeID, over: [TransportKind]? = nil)
  /// The peer that answers at these addresses; `expected` (a pinned key) refuses any other.
  case addresses([TransportAddress], expected: PeerID?)
}

/// How a message travels.
@nonexhaustive
public enum DeliveryMode: Sendable, Hashable, CaseIterable {
  /// In the order sent, exactly once, or the association ends with a reason.
  case reliable
  /// At most once, never queued behind anything: dropped, and counted, if the link can't take it now, or if a newer one
  /// has arrived already. At most 1,000 bytes are recommended: most transports carry them in one packet.
  case unreliable
}

/// What the application asks for. Each is answered by exactly one `reply` effect.
public enum Command: Sendable, Hashable {
  /// Invites a peer and waits for its answer, at most `timeout`. With a code the two prove to each other that they have
  /// the same one, and no person is asked.
  case invite(InvitationTarget, context: [UInt8], timeout: Duration, code: TypedCodeID? = nil)
  /// Sets the code by which this node can be invited, or none. Once a code is set, strangers can't invite it in any
  /// other way, even after the code is spent, until none is set. Each code has three wrong tries.
  case setCode(TypedCodeID?)
  /// Ends an invitation of ours that has no answer yet, or the acceptance of a peer's invitation that has led to no
  /// membership yet. It is named by its command, which is then answered.
  case cancelInvitation(CommandID)
  /// The question about an invitation is on the screen: answered with its short code, once the inviter has revealed its
  /// part.
  case showCode(NodeID)
  /// Answers an invitation that an event reported. If it compares codes, or our own policy demands that for its
  /// inviter, it can be accepted only once its code has been shown.
  case answerInvitation(NodeID, accept: Bool, Reason)
  /// Says whether the person confirmed the peer in `confirmationNeeded`.
  case confirm(NodeID, Bool, Reason)
  /// Compares short codes with a member, for more than 0 s and at most 300 s: `done` once both users have said that
  /// they see the same. There is one comparison with a member at a time; if the member has asked for it as well, both
  /// have the same one.
  case compareCodes(NodeID, timeout: Duration)
  /// Ends a comparison that a command of ours began. It is named by its command, which is then answered.
  case cancelComparison(CommandID)
  /// Says whether the person sees the code of `comparisonNeeded` on both screens.
  case answerComparison(NodeID, Bool, Reason)
  /// Measures the round trip to a member; answered by `roundTrip`, or by the reason why there is none within `timeout`.
  /// At most `PingTable.limit` to a peer may be under way.
  case ping(NodeID, timeout: Duration)
  /// Stops waiting for a ping of ours; the ping's own command is then answered. A later answer from the remote side is
  /// ignored.
  case cancelPing(CommandID)
  /// Leaves a peer once what was sent before is on its way.
  case leave(NodeID, Reason)
  /// Disconnects a member and asks all other members to do the same; answered when it is gone.
  case remove(NodeID)
  /// Offers a resource; the reply comes when it is stored on the remote side, or has failed.
  case offer(TransferID, to: NodeID, ResourceOffer)
  /// Takes an incoming offer whose store is open and has `offset` bytes of it already.
  case acceptOffer(TransferID, offset: UInt64)
  /// Declines an incoming offer, for a reason that its sender is told.
  case declineOffer(TransferID, Reason, detail: String)
  /// Tells the sender, before its offer is answered, how many bytes of a file that may be the same have been compared,
  /// so that it knows that the offer is not forgotten.
  case tellCompared(TransferID, byteCount: UInt64)
  /// Gives a transfer up, in either direction.
  case cancelTransfer(TransferID, Reason)
  /// Changes the disconnect timeout, also for present associations: 0, or 2 s to 24 hours.
  case setDisconnectTimeout(Duration)
  /// Sets what this device is called from now on. Handshakes of new links say it; peers that have a link know the
  /// previous name.
  case setName(String)
  /// Lets this key connect for this long (`ExpectedPeers.isDuration`), as often as it likes, while strangers may not.
  /// Its invitations are put to the application like those of any peer. At most `ExpectedPeers.limit` keys; one that is
  /// expected already has the new time.
  case expect(PeerID, for: Duration)
  /// Stops expecting a key. Links and associations that its peer has already stay.
  case stopExpecting(PeerID)
  /// Introduces two members to each other and waits for the outcome: `done` once each is a member of the other, or why
  /// that failed and which of them said so. The introduction stands for more than 0 s, and at most 300 s.
  case introduce(NodeID, to: NodeID, timeout: Duration)
  /// Takes an introduction of ours back. It is named by its command, which is then answered.
  case cancelIntroduction(CommandID)
  /// Answers an introduction that an event reported. A node that is wanted is let in and invited.
  case answerIntroduction(NodeID, accept: Bool, Reason)
  /// Pauses a transfer, or lets it go on, in either direction: a paused sender sends nothing, a paused receiver gives
  /// no credit.
  case pauseTransfer(TransferID, Bool)
  /// Opens a stream, with a name of at most `WireLimits.streamName` bytes; it may be written at once. Fails if the
  /// remote side takes no streams, or no more of them.
  case openStream(StreamID, to: NodeID, name: String)
  /// Ends a stream of ours after what was written; the reply comes when the remote side's application has read
  /// everything, or will not.
  case finishStream(StreamID)
  /// Gives a stream up, in either direction.
  case cancelStream(StreamID, Reason, detail: String)
  /// Leaves all peers and ends; afterwards the engine refuses everything.
  case shutDown
}

/// The answer to a command.
public enum Reply: Sendable, Hashable {
  /// It is done; the command has no other result.
  case done
  /// The invitation was accepted.
  case connected(NodeID)
  /// The remote side stored the resource under this name.
  /// - Parameter wasAlreadyPresent: whether it had this very content before.
  case stored(name: [UInt8], wasAlreadyPresent: Bool = false)
  /// It has come to nothing, for this reason.
  case failed(Ending)
  /// The short code that both screens show.
  case code(String)
  /// A ping was answered after this long.
  case roundTrip(Duration)
}
