import PiconetWire

/// Limits on the frames kept for one remote side until it acknowledges them. At one limit we stop sending of our own
/// accord and wait. Answers to the remote side's frames continue up to a second limit, at which the association ends. A
/// peer that acknowledges as the wire format demands never reaches it ([wire-format.md, section
/// 12](../../../Documentation/wire-format.md)).
struct KeepingLimits: Sendable {
  /// Bytes at which we stop sending of our own accord.
  let own: Int
  /// Bytes in all, apart from frames about our own transfers and streams.
  let all: Int
  /// The number of control frames, apart from those about our own transfers and streams.
  let frames: Int

  init(_ configuration: EngineConfiguration) {
    own = configuration.unacknowledgedLimit
    all = configuration.unacknowledgedLimit + configuration.answerLimit
    frames = 2_048 + 2 * (configuration.transferLimit + configuration.streamLimit)
  }

  /// The number of kept control frames at which we stop sending of our own accord.
  static let ownFrames = 1_024

  /// Bytes allowed for each transfer or stream number that we have used. The last frames of a number are not held back,
  /// and we may give it up while the remote side does so too. The number is not used again before less is kept.
  static let numberCost = 16

  /// The number of frames that a node which is not a member may leave unacknowledged: about sixty that need no
  /// acknowledgement yet, plus those that invitations need.
  static let strangerFrames: UInt64 = 256
  /// Bytes of control frames that may wait for a node which is not a member. The same amount again may be on its way to
  /// the kernel.
  static let strangerControl = 32 << 10
}

extension Association {
  /// Whether we must send nothing more of our own accord until the remote side has acknowledged something.
  var isCrowded: Bool {
    sequenced.unacknowledged.byteCount >= keeping.own || sequenced.unacknowledged.aloneCount >= KeepingLimits.ownFrames
  }

  /// Whether the remote side leaves more frames unacknowledged than it may.
  var keepsTooMuch: Bool {
    guard isDurable else { return false }
    guard isMember else { return sequenced.sent - sequenced.acknowledged > KeepingLimits.strangerFrames }
    return sequenced.unacknowledged.byteCount > keptLimit || sequenced.unacknowledged.aloneCount > keptFrames
  }

  /// How the association ends if too much is kept for the remote side.
  var endOfCrowded: Ending {
    let detail =
      keepsTooMuch
      ? isMember
        ? "leaves more than \(keptLimit) bytes or \(keptFrames) control frames unacknowledged"
        : "leaves more than \(KeepingLimits.strangerFrames) frames unacknowledged"
      : "more than \(controlLimit) bytes wait behind what it does not take again"
    return Ending(.limitExceeded, .peer, detail)
  }

  private var ownNumbers: Int { transfers.usedNumberCount + streams.usedNumberCount }
  var keptLimit: Int { keeping.all + ownNumbers * KeepingLimits.numberCost }
  var keptFrames: Int { keeping.frames + 2 * ownNumbers }

  /// The limit on bytes of waiting control frames.
  var controlLimit: Int { isMember ? Link.controlLimit : KeepingLimits.strangerControl }
}

extension Link {
  /// The limit on bytes of control frames waiting for this link.
  var controlLimit: Int { association?.controlLimit ?? KeepingLimits.strangerControl }
}
