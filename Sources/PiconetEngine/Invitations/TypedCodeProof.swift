import PiconetWire

/// One step of one side's proof of a typed code. The driver computes it, because only the driver has codes and secrets.
/// Each step except `end` is answered by one finding, which may always be `failed`.
public enum TypedCodeStep: Sendable, Hashable {
  /// Inviter: begins, over the channel of this link, whose remote side is the invited node. The finding is `share`.
  case share(TypedCodeID, LinkID)
  /// Inviter: takes the share and the confirmation of the invited side. The finding is `confirmed`, `wrong` or `unfit`.
  case check(share: [UInt8], confirmation: [UInt8])
  /// Invited: begins, over the channel of this link, and takes the inviter's share. The finding is `answer` or `unfit`.
  case answer(TypedCodeID, LinkID, share: [UInt8])
  /// Invited: takes the inviter's confirmation. The finding is `right` or `wrong`.
  case confirm([UInt8])
  /// The proof is over: its secrets are erased.
  case end

  /// The link that the step names.
  public var link: LinkID? {
    switch self {
    case .share(_, let link), .answer(_, let link, _): link
    case .check, .confirm, .end: nil
    }
  }
}

/// The driver's finding in one step of a proof.
public enum TypedCodeFinding: Sendable, Hashable {
  case share([UInt8])
  /// The peer has proven that it has the same code. These bytes confirm the same to the peer.
  case confirmed([UInt8])
  case answer(share: [UInt8], confirmation: [UInt8])
  case right
  /// The peer has another code, or none.
  case wrong
  /// The share is not a point of the group, or is our own.
  case unfit
  /// Our own side could not compute the step.
  case failed(String)
}

/// The state of the peer's `inviteByCode`. It never outlives its link, to whose TLS it is bound.
struct CodeProof: Sendable {
  enum Phase: Equatable, Sendable {
    /// The driver computes our answer.
    case answering
    /// The inviter owes its confirmation.
    case awaitingConfirmation
    /// The driver checks it.
    case checking
  }

  let id: CodeID
  let one: TypedCodeTries.Try
  /// The time after which the attempt is over, and counts as wrong.
  let until: Instant
  /// The invitation's context, for the application.
  let context: [UInt8]
  var phase = Phase.answering

  /// How long an attempt may take from the inviter's share to its confirmation: two flights over the slowest link.
  static let time = Duration.seconds(10)
}
