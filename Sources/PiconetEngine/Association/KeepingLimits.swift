import PiconetWire

/// What may be kept for one remote side until it acknowledges it: what we send of our own accord stops at a limit, and
/// waits; answers to what it sends go on until another one, at which the association ends, because who acknowledges as
/// the wire format says never gets there ([wire-format.md, section 12](../../../Documentation/wire-format.md)).
struct KeepingLimits: Sendable {
  /// For what goes of our own accord.
  let own: Int
  /// For all, beside what is about transfers and streams of ours.
  let all: Int
  /// For the number of control frames, beside what is about transfers and streams of ours.
  let frames: Int

  init(_ configuration: EngineConfiguration) {
    own = configuration.unacknowledgedLimit
    all = configuration.unacknowledgedLimit + configuration.answerLimit
    frames = 2_048 + 2 * (configuration.transferLimit + configuration.streamLimit)
  }

  /// Control frames of which there are so many stop what goes of our own accord.
  static let ownFrames = 1_024

  /// For each number of a transfer or stream that we have used: by its last frames, which are not held back, it may be
  /// given up here while the remote side gives it up. The number is not used again before less is kept.
  static let numberCost = 16

  /// Frames that may be unacknowledged by one who is no member: some sixty that need no acknowledgement yet, and what
  /// invitations need.
  static let strangerFrames: UInt64 = 256
  /// Bytes of control frames that may wait for one who is no member, and again as many that may be on their way to the
  /// kernel.
  static let strangerControl = 32 << 10
}

extension EngineConfiguration {
  /// Bytes of answers to a member that may be unacknowledged beyond `unacknowledgedLimit`: all about each transfer and
  /// stream that it may have open, and some that need no acknowledgement yet.
  public var answerLimit: Int {
    let ofTransfer = WireLimits.resourceName + 32
    return transferLimit * ofTransfer + streamLimit * 8 + (8 << 10)
  }

  /// Bytes kept for one member until it acknowledges them, with every number of a transfer or stream of ours in use.
  public var keptLimit: Int {
    unacknowledgedLimit + answerLimit
      + Int(WireLimits.transferNumbers + WireLimits.streamNumbers) * KeepingLimits.numberCost
  }
}

extension Association {
  /// Nothing goes of our own accord any more before the remote side has acknowledged something.
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

  /// Control frames that may wait.
  var controlLimit: Int { isMember ? Link.controlLimit : KeepingLimits.strangerControl }
}

extension Link {
  /// Control frames that may wait for this link.
  var controlLimit: Int { association?.controlLimit ?? KeepingLimits.strangerControl }
}

extension SessionEngine {
  /// Ends associations for which more is kept than may be.
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
  /// The same without words for people.
  var withoutDetail: Frame {
    switch self {
    case .decline(let reason, _): .decline(reason, detail: "")
    case .declineOffer(let transfer, let reason, _): .declineOffer(transfer: transfer, reason, detail: "")
    case .abandon(let transfer, let reason, _): .abandon(transfer: transfer, reason, detail: "")
    case .refuse(let transfer, let reason, _): .refuse(transfer: transfer, reason, detail: "")
    case .resetStream(let stream, let reason, _): .resetStream(stream: stream, reason, detail: "")
    case .stopStream(let stream, let reason, _): .stopStream(stream: stream, reason, detail: "")
    case .hello, .associate, .associated, .close, .ping, .pong, .acknowledge, .messageCredit, .unreliableMessage,
      .codeNonce, .codeReveal, .chunk, .position, .transferCredit, .end, .streamCredit, .message, .fragment, .invite,
      .accept, .withdraw, .admit, .inviteByCode, .codeAnswer, .codeConfirm, .leave, .removeMember, .removed,
      .offer, .acceptOffer, .stored, .present, .restart, .comparing, .senderPaused, .receiverPaused, .openStream,
      .streamData, .endStream, .streamDone, .unknownOptional:
      self
    }
  }
}
