/// The frames of two members while their users compare a short code ([wire-format.md, section
/// 7](../../../Documentation/wire-format.md)). They follow those of an invitation, with the asking member in place of
/// the inviter.
public enum Comparison: Equatable, Sendable {
  /// The sender's user wants to compare a code, and has this many milliseconds. The commitment is to the nonce of the
  /// sender. Commitments and nonces have `Invite.nonceCount` bytes.
  case ask(timeout: UInt64, commitment: [UInt8])
  /// The nonce of the member that was asked. The question is on its screen.
  case nonce([UInt8])
  /// The nonce of the member that has asked. It had committed to this nonce.
  case reveal([UInt8])
  /// The sender's user says that both screens show the same code.
  case same
  /// The sender's user does not say that, for this reason.
  case end(Reason, detail: String)

  /// The type byte of the frame.
  var type: UInt8 {
    switch self {
    case .ask: FrameType.askToCompare
    case .nonce: FrameType.compareNonce
    case .reveal: FrameType.compareReveal
    case .same: FrameType.sameCode
    case .end: FrameType.endComparison
    }
  }
}
