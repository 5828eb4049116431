import PiconetWire

/// Limits on what is kept for one remote side until it acknowledges it. At one limit we stop sending of our own accord
/// and wait. Answers to what the remote side sends go on up to another limit, at which the association ends: a peer
/// that acknowledges as the wire format demands never gets there ([wire-format.md, section
/// 12](../../../Documentation/wire-format.md)).
struct KeepingLimits: Sendable {
  /// Bytes at which we stop sending of our own accord.
  let own: Int
  /// Bytes in all, apart from frames about transfers and streams of ours.
  let all: Int
  /// The number of control frames, apart from those about transfers and streams of ours.
  let frames: Int

  init(_ configuration: EngineConfiguration) {
    own = configuration.unacknowledgedLimit
    all = configuration.unacknowledgedLimit + configuration.answerLimit
    frames = 2_048 + 2 * (configuration.transferLimit + configuration.streamLimit)
  }

  /// The number of kept control frames at which we stop sending of our own accord.
  static let ownFrames = 1_024

  /// Bytes for each number of a transfer or stream that we have used: its last frames are not held back, and we may
  /// give it up while the remote side does so too. The number is not used again before less is kept.
  static let numberCost = 16

  /// Frames that a node which is not a member may leave unacknowledged: some sixty that need no acknowledgement yet,
  /// and what invitations need.
  static let strangerFrames: UInt64 = 256
  /// Bytes of control frames that may wait for a node which is not a member; as many again may be on their way to the
  /// kernel.
  static let strangerControl = 32 << 10
}

extension Association {
  /// Whether we must send nothing more of our own accord until the remote side has acknowledged something.
  var isCrowded: Bool {
    sequenced.unacknowledged.byteCount >= keeping.own || sequenced.unacknowledged.aloneCount >= KeepingLimits.ownFrames
  }

  /// Whether the remote side leaves more unacknowledged than it may.
  var keepsTooMuch: Bool {
    guard isDurable else { return false }
    guard isMember else { return sequenced.sent - sequenced.acknowledged > KeepingLimits.strangerFrames }
    return sequenced.unacknowledged.byteCount > keptLimit || sequenced.unacknowledged.aloneCount > keptFrames
  }

  /// How the association ends if too much is kept for it.
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

  /// Bytes of control frames that may wait.
  var controlLimit: Int { isMember ? Link.controlLimit : KeepingLimits.strangerControl }
}

extension Link {
  /// Bytes of control frames that may wait for this link.
  var controlLimit: Int { association?.controlLimit ?? KeepingLimits.strangerControl }
}
