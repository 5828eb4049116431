/// One frame. On a link it is a type byte, the length of the body as a variable-length integer, and the body.
/// `Documentation/wire-format.md` has every layout byte by byte.
public enum Frame: Equatable, Sendable {
  // The link.
  indirect case hello(Hello)
  /// The node with the smaller id makes this link the active one of the association; `received` sequenced frames have
  /// arrived there so far (0: a new association).
  case associate(AssociationID, received: UInt64)
  /// The answer: how many sequenced frames have arrived here, and how many associations have begun with the other side.
  case associated(received: UInt64, begun: UInt64)
  /// Ends the link, not the association.
  case close(Reason, detail: String)
  case ping(UInt64)
  case pong(UInt64)

  // The association, not sequenced.
  /// All sequenced frames up to this number have arrived.
  case acknowledge(received: UInt64)
  /// The receiver takes reliable messages of this total cost since the association began: their bytes, and
  /// `WireLimits.messageCost` for each.
  case messageCredit(limit: UInt64)
  /// Unreliable messages of one side are numbered 1, 2, 3 ... over the whole association, those that were dropped
  /// included.
  case unreliableMessage(number: UInt64, Bytes)
  /// The invited side's nonce for the short code, sent when its question is on the screen.
  case codeNonce([UInt8])
  /// The answer: the inviter's nonce, which its invitation committed to.
  case codeReveal([UInt8])
  /// Where the sender can be dialled, at the address from which its links come: all of it, each time. A hint, which a
  /// receiver may skip.
  case listening([ListeningPort])
  /// As `messageCredit`, of the messages in one channel; never of channel 0.
  case channelCredit(MessageChannel, limit: UInt64)
  /// The next bytes of a transfer: where they belong follows from the order on the link.
  case chunk(transfer: UInt64, Bytes)
  /// The next chunk of the transfer begins here: sent when chunks don't go on where the last one on this link ended.
  case position(transfer: UInt64, offset: UInt64)
  /// The receiver has stored the transfer up to one offset and takes bytes up to another.
  case transferCredit(transfer: UInt64, stored: UInt64, limit: UInt64)
  /// All bytes were sent; what they must hash to.
  case end(transfer: UInt64, size: UInt64, ResourceDigest)
  /// The receiver takes this many bytes of the stream in all.
  case streamCredit(stream: UInt64, limit: UInt64)
  /// The receiver takes this many bytes of the tunnel in all.
  case tunnelCredit(tunnel: UInt64, consumed: UInt64, limit: UInt64)

  // The association, sequenced.
  /// A reliable message, or the last fragment of one.
  case message(Bytes)
  /// A part of a reliable message; more follow.
  case fragment(Bytes)
  /// As `message`, in a channel other than 0.
  case channelMessage(MessageChannel, Bytes)
  /// As `fragment`, in a channel other than 0.
  case channelFragment(MessageChannel, Bytes)
  /// An invitation without a typed code.
  case invite(Invite)
  case accept
  case decline(Reason, detail: String)
  case withdraw(Reason)
  /// The inviter has a place for the node that has accepted, and nothing has to be compared any more: both are members.
  case admit
  /// An invitation that proves a typed code.
  indirect case inviteByCode(InviteByCode)
  /// The invited side's part of the proof.
  indirect case codeAnswer(CodeAnswer)
  /// cA of SPAKE2: it tells the invited side that the inviter has the same code.
  case codeConfirm([UInt8])
  /// A word of two members that compare a short code. Nonces are not sequenced, and hold for their link.
  indirect case comparison(Comparison)
  /// The association ends.
  case leave(Reason, detail: String)
  /// A member asks us to disconnect another one from the group.
  case removeMember(subject: NodeID, Reason)
  /// The `leave` that follows is another member's wish: this one has removed the receiver from the group.
  case removed(by: NodeID)
  /// A member introduces another one of its members to us.
  indirect case introduce(Introduce)
  /// Positive answer to `introduce`: this node is a member here.
  case introduced(NodeID)
  /// Negative answer to `introduce`: the node did not become a member, for this reason.
  case introductionFailed(NodeID, Reason, detail: String)
  /// The introducer takes its introduction back.
  case withdrawIntroduction(NodeID, Reason)
  /// A member has lost another one of ours, and asks us to introduce it again.
  case askToIntroduce(NodeID)
  /// What the sender knows of its group, so that places are counted for the whole group.
  indirect case groupView(GroupView)
  /// The sender asks the receiver to connect it to another member of its own.
  case openTunnel(tunnel: UInt64, to: NodeID)
  /// The sender connects the receiver to a member of its own, which has asked for that; this many relays will lie
  /// between the two.
  case offerTunnel(tunnel: UInt64, from: NodeID, relays: UInt64)
  /// The tunnel leads to its other end; this many relays lie between the two.
  case tunnelOpened(tunnel: UInt64, relays: UInt64)
  /// The next bytes of a tunnel, to whichever of its ends did not send them.
  case tunnelData(tunnel: UInt64, Bytes)
  /// No more bytes come from this side; each side sends it once.
  case closeTunnel(tunnel: UInt64, Reason, detail: String)
  indirect case offer(transfer: UInt64, ResourceOffer)
  /// The receiver takes the offer, has bytes up to `offset` already, and takes bytes up to `limit`.
  case acceptOffer(transfer: UInt64, offset: UInt64, limit: UInt64)
  case declineOffer(transfer: UInt64, Reason, detail: String)
  /// The resource is on the receiver's disk, verified, under this name.
  case stored(transfer: UInt64, name: [UInt8])
  /// The receiver had this very content already, under this name.
  case present(transfer: UInt64, name: [UInt8])
  /// What the receiver had taken for the resource is something else: it has bytes up to `offset`, and takes bytes up to
  /// `limit`.
  case restart(transfer: UInt64, offset: UInt64, limit: UInt64)
  /// The receiver is comparing what it has with the offer, and has read this much of it: a hint, which a receiver may
  /// leave out.
  case comparing(transfer: UInt64, compared: UInt64)
  /// The sender of the transfer gives up.
  case abandon(transfer: UInt64, Reason, detail: String)
  /// The receiver of the transfer gives up.
  case refuse(transfer: UInt64, Reason, detail: String)
  /// The sender of the transfer lets it rest, or goes on: a hint to show, skipped by a peer that does not know the
  /// frame.
  case senderPaused(transfer: UInt64, Bool)
  /// The receiver of the transfer lets it rest, or goes on: a hint as well.
  case receiverPaused(transfer: UInt64, Bool)
  /// The sender opens a stream of bytes to the receiver.
  case openStream(stream: UInt64, name: String)
  /// The next bytes of a stream.
  case streamData(stream: UInt64, Bytes)
  /// No more bytes follow.
  case endStream(stream: UInt64)
  /// The sender gives the stream up.
  case resetStream(stream: UInt64, Reason, detail: String)
  /// The receiver gives the stream up.
  case stopStream(stream: UInt64, Reason, detail: String)
  /// The receiver's application has read everything up to the end.
  case streamDone(stream: UInt64)

  /// A frame of an optional type that this version does not know: skipped, and counted if it is sequenced.
  case unknownOptional(type: UInt8)

  /// The type byte.
  public var type: UInt8 {
    switch self {
    case .hello: FrameType.hello
    case .associate: FrameType.associate
    case .associated: FrameType.associated
    case .close: FrameType.close
    case .ping: FrameType.ping
    case .pong: FrameType.pong
    case .acknowledge: FrameType.acknowledge
    case .messageCredit: FrameType.messageCredit
    case .unreliableMessage: FrameType.unreliableMessage
    case .codeNonce: FrameType.codeNonce
    case .codeReveal: FrameType.codeReveal
    case .listening: FrameType.listening
    case .channelCredit: FrameType.channelCredit
    case .chunk: FrameType.chunk
    case .position: FrameType.position
    case .transferCredit: FrameType.transferCredit
    case .end: FrameType.end
    case .streamCredit: FrameType.streamCredit
    case .tunnelCredit: FrameType.tunnelCredit
    case .message: FrameType.message
    case .fragment: FrameType.fragment
    case .channelMessage: FrameType.channelMessage
    case .channelFragment: FrameType.channelFragment
    case .invite: FrameType.invite
    case .accept: FrameType.accept
    case .decline: FrameType.decline
    case .withdraw: FrameType.withdraw
    case .leave: FrameType.leave
    case .inviteByCode: FrameType.inviteByCode
    case .codeAnswer: FrameType.codeAnswer
    case .codeConfirm: FrameType.codeConfirm
    case .comparison(let word): word.type
    case .admit: FrameType.admit
    case .removeMember: FrameType.removeMember
    case .removed: FrameType.removed
    case .introduce: FrameType.introduce
    case .introduced: FrameType.introduced
    case .introductionFailed: FrameType.introductionFailed
    case .withdrawIntroduction: FrameType.withdrawIntroduction
    case .askToIntroduce: FrameType.askToIntroduce
    case .groupView: FrameType.groupView
    case .openTunnel: FrameType.openTunnel
    case .offerTunnel: FrameType.offerTunnel
    case .tunnelOpened: FrameType.tunnelOpened
    case .tunnelData: FrameType.tunnelData
    case .closeTunnel: FrameType.closeTunnel
    case .offer: FrameType.offer
    case .acceptOffer: FrameType.acceptOffer
    case .declineOffer: FrameType.declineOffer
    case .stored: FrameType.stored
    case .present: FrameType.present
    case .restart: FrameType.restart
    case .comparing: FrameType.comparing
    case .abandon: FrameType.abandon
    case .refuse: FrameType.refuse
    case .senderPaused: FrameType.senderPaused
    case .receiverPaused: FrameType.receiverPaused
    case .openStream: FrameType.openStream
    case .streamData: FrameType.streamData
    case .endStream: FrameType.endStream
    case .resetStream: FrameType.resetStream
    case .stopStream: FrameType.stopStream
    case .streamDone: FrameType.streamDone
    case .unknownOptional(let type): type
    }
  }

  /// Whether the frame counts in the association's sequence numbers.
  public var isSequenced: Bool { FrameType.isSequenced(type) }
}
