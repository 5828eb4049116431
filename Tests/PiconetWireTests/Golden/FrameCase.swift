import PiconetWire

/// One name for each case of `Frame`: the switch stops compiling when a frame is added, and the tests over `allCases`
/// fail until it has a golden vector and a random generator.
enum FrameCase: CaseIterable {
  case hello, associate, associated, close, ping, pong
  case acknowledge, messageCredit, unreliableMessage, codeNonce, codeReveal, chunk, position, transferCredit, end
  case channelMessage, channelFragment, channelCredit
  case message, fragment, invite, accept, decline, withdraw, leave, admit, removeMember, removed
  case introduce, introduced, introductionFailed, withdrawIntroduction, askToIntroduce, groupView
  case inviteByCode, codeAnswer, codeConfirm
  case askToCompare, compareNonce, compareReveal, sameCode, endComparison
  case offer, acceptOffer, declineOffer, stored, present, restart, comparing, listening, abandon, refuse, senderPaused,
    receiverPaused
  case streamCredit, openStream, streamData, endStream, resetStream, stopStream, streamDone, unknownOptional
  case tunnelCredit, openTunnel, offerTunnel, tunnelOpened, tunnelData, closeTunnel

  init(_ frame: Frame) {
    self =
      switch frame {
      case .hello: .hello
      case .codeNonce: .codeNonce
      case .codeReveal: .codeReveal
      case .admit: .admit
      case .inviteByCode: .inviteByCode
      case .codeAnswer: .codeAnswer
      case .codeConfirm: .codeConfirm
      case .comparison(.ask): .askToCompare
      case .comparison(.nonce): .compareNonce
      case .comparison(.reveal): .compareReveal
      case .comparison(.same): .sameCode
      case .comparison(.end): .endComparison
      case .associate: .associate
      case .associated: .associated
      case .close: .close
      case .ping: .ping
      case .pong: .pong
      case .acknowledge: .acknowledge
      case .messageCredit: .messageCredit
      case .unreliableMessage: .unreliableMessage
      case .chunk: .chunk
      case .position: .position
      case .transferCredit: .transferCredit
      case .end: .end
      case .message: .message
      case .fragment: .fragment
      case .channelMessage: .channelMessage
      case .channelFragment: .channelFragment
      case .channelCredit: .channelCredit
      case .invite: .invite
      case .accept: .accept
      case .decline: .decline
      case .withdraw: .withdraw
      case .leave: .leave
      case .removeMember: .removeMember
      case .removed: .removed
      case .introduce: .introduce
      case .introduced: .introduced
      case .askToIntroduce: .askToIntroduce
      case .groupView: .groupView
      case .introductionFailed: .introductionFailed
      case .withdrawIntroduction: .withdrawIntroduction
      case .offer: .offer
      case .acceptOffer: .acceptOffer
      case .declineOffer: .declineOffer
      case .stored: .stored
      case .present: .present
      case .restart: .restart
      case .comparing: .comparing
      case .listening: .listening
      case .abandon: .abandon
      case .refuse: .refuse
      case .senderPaused: .senderPaused
      case .receiverPaused: .receiverPaused
      case .streamCredit: .streamCredit
      case .openStream: .openStream
      case .streamData: .streamData
      case .endStream: .endStream
      case .resetStream: .resetStream
      case .stopStream: .stopStream
      case .streamDone: .streamDone
      case .tunnelCredit: .tunnelCredit
      case .openTunnel: .openTunnel
      case .offerTunnel: .offerTunnel
      case .tunnelOpened: .tunnelOpened
      case .tunnelData: .tunnelData
      case .closeTunnel: .closeTunnel
      case .unknownOptional: .unknownOptional
      }
  }
}
