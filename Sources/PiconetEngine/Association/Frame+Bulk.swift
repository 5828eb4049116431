import PiconetWire

extension Frame {
  /// The bytes of a sequenced frame of a kind that may be large. They make an acknowledgement due earlier than the
  /// number of frames does.
  var bulkCount: Int {
    switch self {
    case .message(let bytes), .fragment(let bytes), .channelMessage(_, let bytes), .channelFragment(_, let bytes),
      .streamData(_, let bytes), .tunnelData(_, let bytes):
      bytes.count
    case .hello, .associate, .associated, .close, .ping, .pong, .acknowledge, .messageCredit, .channelCredit,
      .listening, .unreliableMessage, .codeNonce, .codeReveal, .chunk, .position, .transferCredit, .end, .streamCredit,
      .invite, .accept, .decline, .withdraw, .admit, .inviteByCode, .codeAnswer, .codeConfirm, .comparison, .leave,
      .removeMember,
      .removed, .introduce, .introduced, .introductionFailed, .withdrawIntroduction, .askToIntroduce, .groupView,
      .openTunnel,
      .offerTunnel, .tunnelOpened, .closeTunnel, .tunnelCredit, .offer, .acceptOffer, .declineOffer, .stored, .present,
      .restart, .comparing, .abandon, .refuse, .senderPaused, .receiverPaused, .openStream, .endStream, .resetStream,
      .stopStream, .streamDone, .unknownOptional:
      0
    }
  }
}
