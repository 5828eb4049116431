import PiconetWire

extension Frame {
  /// This frame without its human-readable detail.
  var withoutDetail: Frame {
    switch self {
    case .decline(let reason, _): .decline(reason, detail: "")
    case .declineOffer(let transfer, let reason, _): .declineOffer(transfer: transfer, reason, detail: "")
    case .abandon(let transfer, let reason, _): .abandon(transfer: transfer, reason, detail: "")
    case .refuse(let transfer, let reason, _): .refuse(transfer: transfer, reason, detail: "")
    case .introductionFailed(let member, let reason, _): .introductionFailed(member, reason, detail: "")
    case .closeTunnel(let tunnel, let reason, _): .closeTunnel(tunnel: tunnel, reason, detail: "")
    case .resetStream(let stream, let reason, _): .resetStream(stream: stream, reason, detail: "")
    case .stopStream(let stream, let reason, _): .stopStream(stream: stream, reason, detail: "")
    case .hello, .associate, .associated, .close, .ping, .pong, .acknowledge, .messageCredit, .channelCredit,
      .listening, .unreliableMessage, .codeNonce, .codeReveal, .chunk, .position, .transferCredit, .end, .streamCredit,
      .message, .fragment, .channelMessage, .channelFragment, .invite, .accept, .withdraw, .admit, .inviteByCode,
      .codeAnswer, .codeConfirm, .comparison, .leave, .removeMember, .removed, .introduce, .introduced,
      .withdrawIntroduction,
      .askToIntroduce, .groupView, .openTunnel, .offerTunnel, .tunnelOpened, .tunnelData, .tunnelCredit, .offer,
      .acceptOffer,
      .stored, .present, .restart, .comparing, .senderPaused, .receiverPaused, .openStream, .streamData, .endStream,
      .streamDone, .unknownOptional:
      self
    }
  }
}
