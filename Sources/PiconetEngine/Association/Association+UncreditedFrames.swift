import PiconetWire

/// Rate limits for sequenced frames that neither credit nor our answers bound. These are ends of what the remote side
/// has begun, which may have no effect, hints, and frames of unknown types.
extension Allowance {
  /// For the frames of one member ([wire-format.md, section 12](../../../Documentation/wire-format.md)).
  static let uncredited = Allowance(burst: 4_096, interval: .microseconds(62_500))
  /// How much an invitation, offer, stream or introduction adds to the allowance when it begins. It ends once, and may
  /// be paused from time to time.
  static let uncreditedForEach = 8
  /// For our own pauses; less than any remote side accepts.
  static let ownPauses = Allowance(burst: 1_024, interval: .milliseconds(125))
  static let ownPausesForEach = 4
}

/// The allowances of one association.
struct WordAllowances {
  /// For the remote side's frames about other members.
  private var memberWords = Allowance.memberWords
  /// For its frames that no credit bounds.
  private var uncredited = Allowance.uncredited

  /// Counts a word about another member as one without effect.
  mutating func countMemberWord(at now: Instant) throws(Breach) {
    guard memberWords.take(at: now) else {
      throw Breach("more than \(memberWords.burst) words about members that come to nothing", .limitExceeded)
    }
  }

  /// Takes back the count of the last word about another member, which had an effect after all.
  mutating func giveBackMemberWord() { memberWords.giveBack() }

  /// Counts the beginning of an invitation, offer, stream or introduction, by a frame of either side. It ends once.
  mutating func countBeginning() { uncredited.earn(Allowance.uncreditedForEach) }

  /// Counts a frame that no credit bounds.
  mutating func countUncredited(at now: Instant) throws(Breach) {
    guard uncredited.take(at: now) else {
      throw Breach("more than \(uncredited.burst) frames that no credit bounds", .limitExceeded)
    }
  }
}

/// What holds back the sender of a frame.
enum CreditBound {
  /// Our answer to the frame bounds it. Frames about its end and hints about it are covered by what it adds to the
  /// allowance.
  case begins
  case none
  /// Credit, an answer or an allowance of its own bounds the frame; or the frame is not sequenced, and only restates
  /// something.
  case other
}

extension Frame {
  /// What holds back the sender of this frame.
  var creditBound: CreditBound {
    switch self {
    case .invite, .inviteByCode, .offer, .openStream, .introduce: .begins
    case .withdraw, .abandon, .resetStream, .withdrawIntroduction, .groupView, .senderPaused, .receiverPaused: .none
    case .unknownOptional(let type): FrameType.isSequenced(type) ? .none : .other
    case .hello, .associate, .associated, .close, .ping, .pong, .acknowledge, .messageCredit, .channelCredit,
      .listening, .unreliableMessage, .message, .fragment, .channelMessage, .channelFragment, .codeNonce, .codeReveal,
      .chunk, .position, .transferCredit, .end, .streamCredit, .accept, .decline, .admit, .codeAnswer, .codeConfirm,
      .comparison,
      .leave, .removeMember, .removed, .introduced, .introductionFailed, .askToIntroduce, .openTunnel, .offerTunnel,
      .tunnelOpened, .closeTunnel, .tunnelData, .tunnelCredit, .acceptOffer, .declineOffer, .stored, .present, .restart,
      .comparing, .refuse, .streamData, .endStream, .stopStream, .streamDone:
      .other
    }
  }
}
