/// One frame. On a link it is a type byte, the length of the body as a variable-length integer, and the body. See
/// `Documentation/wire-format.md` for every layout byte by byte.
public enum Frame: Equatable, Sendable {
  // The link.
  indirect case hello(Hello)
  /// The node with the smaller id makes this link the active one of the association. So far, `received` sequenced
  /// frames have arrived at that node (0: a new association).
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
  /// The total cost of reliable messages that the receiver accepts since the association began: their bytes, and
  /// `WireLimits.messageCost` for each.
  case messageCredit(limit: UInt64)
  /// An unreliable message. Those of one side are numbered 1, 2, 3 ... over the whole association, including dropped
  /// ones.
  case unreliableMessage(number: UInt64, Bytes)
  /// The invited side's nonce for the short code, sent when its question is on the screen.
  case codeNonce([UInt8])
  /// The answer: the inviter's nonce, which its invitation committed to.
  case codeReveal([UInt8])
  /// Where the sender can be dialled, at the address from which its links come. Each frame lists all ports. It is a
  /// hint, which a receiver may skip.
  case listening([ListeningPort])
  /// Like `messageCredit`, for the messages in one channel; never for channel 0.
  case channelCredit(MessageChannel, limit: UInt64)
  /// The next bytes of a transfer. Their place follows from the order on the link.
  case chunk(transfer: UInt64, Bytes)
  /// The next chunk of the transfer begins here. Sent when chunks don't continue where the last one on this link ended.
  case position(transfer: UInt64, offset: UInt64)
  /// The receiver has stored the transfer up to one offset and accepts bytes up to another.
  case transferCredit(transfer: UInt64, stored: UInt64, limit: UInt64)
  /// All bytes were sent; the digest is the one that they must have.
  case end(transfer: UInt64, size: UInt64, ResourceDigest)
  /// The number of bytes of the stream that the receiver accepts in all.
  case streamCredit(stream: UInt64, limit: UInt64)
  /// The number of bytes of the tunnel that the receiver has consumed, and the number that it accepts in all.
  case tunnelCredit(tunnel: UInt64, consumed: UInt64, limit: UInt64)

  // The association, sequenced.
  /// A reliable message, or the last fragment of one.
  case message(Bytes)
  /// A part of a reliable message; more follow.
  case fragment(Bytes)
  /// Like `message`, in a channel other than 0.
  case channelMessage(MessageChannel, Bytes)
  /// Like `fragment`, in a channel other than 0.
  case channelFragment(MessageChannel, Bytes)
  /// An invitation without a typed code.
  case invite(Invite)
  case accept
  case decline(Reason, detail: String)
  case withdraw(Reason)
  /// The inviter has a place for the node that has accepted, and nothing has to be compared any more. Both are members.
  case admit
  /// An invitation that proves a typed code.
  indirect case inviteByCode(InviteByCode)
  /// The invited side's part of the proof.
  indirect case codeAnswer(CodeAnswer)
  /// cA of SPAKE2. It proves to the invited side that the inviter has the same code.
  case codeConfirm([UInt8])
  /// A frame of two members that compare a short code. Nonces are not sequenced, and are valid only on their link.
  indirect case comparison(Comparison)
  /// The association ends.
  case leave(Reason, detail: String)
  /// A member asks us to disconnect another member from the group.
  case removeMember(subject: NodeID, Reason)
  /// The following `leave` is another member's wish: this member has removed the receiver from the group.
  case removed(by: NodeID)
  /// A member introduces another one of its members to us.
  indirect case introduce(Introduce)
  /// Positive answer to `introduce`: this node is a member here.
  case introduced(NodeID)
  /// Negative answer to `introduce`: the node did not become a member, for this reason.
  case introductionFailed(NodeID, Reason, detail: String)
  /// The introducer withdraws its introduction.
  case withdrawIntroduction(NodeID, Reason)
  /// A member has lost another of our members, and asks us to introduce it again.
  case askToIntroduce(NodeID)
  /// The sender's knowledge of its group, so that places are counted for the whole group.
  indirect case groupView(GroupView)
  /// The sender asks the receiver to connect it to another of the receiver's members.
  case openTunnel(tunnel: UInt64, to: NodeID)
  /// The sender connects the receiver to one of the sender's members, which has asked for that. This many relays will
  /// lie between the two.
  case offerTunnel(tunnel: UInt64, from: NodeID, relays: UInt64)
  /// The tunnel leads to its other end. This many relays lie between the two ends.
  case tunnelOpened(tunnel: UInt64, relays: UInt64)
  /// The next bytes of a tunnel, for the end that did not send them.
  case tunnelData(tunnel: UInt64, Bytes)
  /// No more bytes come from this side. Each side sends it once.
  case closeTunnel(tunnel: UInt64, Reason, detail: String)
  indirect case offer(transfer: UInt64, ResourceOffer)
  /// The receiver accepts the offer, has bytes up to `offset` already, and accepts bytes up to `limit`.
  case acceptOffer(transfer: UInt64, offset: UInt64, limit: UInt64)
  case declineOffer(transfer: UInt64, Reason, detail: String)
  /// The resource is on the receiver's disk, verified, under this name.
  case stored(transfer: UInt64, name: [UInt8])
  /// The receiver already had the same content, under this name.
  case present(transfer: UInt64, name: [UInt8])
  /// The content that the receiver had taken for the resource is something else. It has bytes up to `offset`, and
  /// accepts bytes up to `limit`.
  case restart(transfer: UInt64, offset: UInt64, limit: UInt64)
  /// The receiver is comparing its content with the offer, and has read this many bytes of it. It is a hint, which a
  /// receiver may leave out.
  case comparing(transfer: UInt64, compared: UInt64)
  /// The sender of the transfer gives up.
  case abandon(transfer: UInt64, Reason, detail: String)
  /// The receiver of the transfer gives up.
  case refuse(transfer: UInt64, Reason, detail: String)
  /// The sender of the transfer pauses it, or continues. It is a hint for display; a peer that does not know the frame
  /// skips it.
  case senderPaused(transfer: UInt64, Bool)
  /// The receiver of the transfer pauses it, or continues. It is a hint as well.
  case receiverPaused(transfer: UInt64, Bool)
  /// The sender opens a stream of bytes to the receiver.
  case openStream(stream: UInt64, name: String)
  /// The next bytes of a stream.
  case streamData(stream: UInt64, Bytes)
  /// No more bytes follow.
  case endStream(stream: UInt64)
  /// The sender gives up the stream.
  case resetStream(stream: UInt64, Reason, detail: String)
  /// The receiver gives up the stream.
  case stopStream(stream: UInt64, Reason, detail: String)
  /// The receiver's application has read everything up to the end.
  case streamDone(stream: UInt64)

  /// A frame of an optional type that this version does not know. It is skipped, and counted if it is sequenced.
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
