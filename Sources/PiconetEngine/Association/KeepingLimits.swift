import PiconetWire

/// What may be kept for one remote side until it acknowledges it. What we send of our own accord stops and waits at one
/// limit. Answers to what the remote side sends go on up to another, at which the association ends: a peer that
/// acknowledges as the wire format says never gets there
/// ([wire-format.md, section 12](../../../Documentation/wire-format.md)).
struct KeepingLimits: Sendable {
  /// For what goes of our own accord.
  let own: Int
  /// For everything, apart from what is about transfers and streams of ours.
  let all: Int
  /// For the number of control frames, apart from those about transfers and streams of ours.
  let frames: Int

  init(_ configuration: EngineConfiguration) {
    own = configuration.unacknowledgedLimit
    all = configuration.unacknowledgedLimit + configuration.answerLimit
    frames = 2_048 + 2 * (configuration.transferLimit + configuration.streamLimit)
  }

  /// With so many control frames kept, nothing goes of our own accord.
  static let ownFrames = 1_024

  /// Bytes for each number of a transfer or stream that we have used: its last frames are not held back, and we may
  /// give it up while the remote side does so too. The number is not used again before less is kept.
  static let numberCost = 16

  /// Frames that a node which is no member may leave unacknowledged: some sixty that need no acknowledgement yet, and
  /// what invitations need.
  static let strangerFrames: UInt64 = 256
  /// Bytes of control frames that may wait for a node which is no member; as many again may be on their way to the
  /// kernel.
  static let strangerControl = 32 << 10
}

extension EngineConfiguration {
  /// Bytes of answers to a member that may be unacknowledged beyond `unacknowledgedLimit`: everything about each
  /// transfer and stream that it may have open, and some that need no acknowledgement yet.
  public var answerLimit: Int {
    let ofTransfer = WireLimits.resourceName + 32
    return transferLimit * ofTransfer + streamLimit * 8 + (8 << 10)
  }

  /// Bytes kept for one member until it acknowledges them, if every number of a transfer or stream of ours is in use.
  public var keptLimit: Int {
    unacknowledgedLimit + answerLimit
      + Int(WireLimits.transferNumbers + WireLimits.streamNumbers) * KeepingLimits.numberCost
  }
}

extension Association {
  /// Nothing more goes of our own accord before the remote side has acknowledged something.
  var isCrowded: Bool {
    sequenced.unacknowledged.byteCount >= keeping.own || sequenced.unacknowledged.aloneCount >= KeepingLimits.ownFrames
  }

  /// The remote side leaves more unacknowledged than it may.
  var keepsTooMuch: Bool {
    guard isDurable else { return false }
    guard isMember else { return sequenced.sent - sequenced.acknowledged > KeepingLimits.strangerFrames }
    return sequenced.unacknowledged.byteCount > keptLimit || sequenced.unacknowledged.aloneCount > keptFrames
  }

  private var ownNumbers: Int { transfers.usedNumberCount + streams.usedNumberCount }
  var keptLimit: Int { keeping.all + ownNumbers * KeepingLimits.numberCost }
  var keptFrames: Int { keeping.frames + 2 * ownNumbers }

  /// Bytes of control frames that may wait.
  var controlLimit: Int { isMember ? Link.controlLimit : KeepingLimits.strangerControl }
}

extension Link {
  /// Bytes of control frames that may wait for this link.
  var controlLimit: Int { association?.controlLimit ?? KeepingLimits.strangerControl }
}

extension SessionEngine {
  /// Ends associations for which too much is kept.
  mutating func endCrowded(_ turn: Turn) {
    let peers = turn.crowded.sorted()
    turn.crowded = []
    for remote in peers {
      guard let association = associations[remote] else { continue }
      let detail =
        association.keepsTooMuch
        ? association.isMember
          ? "leaves more than \(association.keptLimit) bytes or \(association.keptFrames) control frames unacknowledged"
          : "leaves more than \(KeepingLimits.strangerFrames) frames unacknowledged"
        : "more than \(association.controlLimit) bytes wait behind what it does not take again"
      end(association, Ending(.limitExceeded, .peer, detail), turn)
    }
  }
}

extension Frame {
  /// The same frame without words for people.
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
      .listening, .unreliableMessage,
      .codeNonce, .codeReveal, .chunk, .position, .transferCredit, .end, .streamCredit, .message, .fragment,
      .channelMessage, .channelFragment, .invite,
      .accept, .withdraw, .admit, .inviteByCode, .codeAnswer, .codeConfirm, .leave, .removeMember, .removed, .introduce,
      .introduced, .withdrawIntroduction, .askToIntroduce, .openTunnel, .offerTunnel, .tunnelOpened, .tunnelData,
      .tunnelCredit,
      .offer, .acceptOffer, .stored, .present, .restart, .comparing, .senderPaused, .receiverPaused, .openStream,
      .streamData, .endStream, .streamDone, .unknownOptional:
      self
    }
  }
}
