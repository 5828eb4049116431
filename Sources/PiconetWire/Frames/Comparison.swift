/// What two members say to one another while their users compare a short code
/// ([wire-format.md, section 7](../../../Documentation/wire-format.md)): it is that of an invitation, with whoever asks
/// in the place of the inviter.
public enum Comparison: Equatable, Sendable {
  /// The sender's user wants to compare a code, for so many milliseconds. The commitment is to the nonce of the sender,
  /// which has `Invite.nonceCount` bytes, as the nonces have.
  case ask(timeout: UInt64, commitment: [UInt8])
  /// The nonce of the side that was asked: the question is on its screen.
  case nonce([UInt8])
  /// The nonce of the side that has asked, which it had committed to.
  case reveal([UInt8])
  /// The sender's user says that both screens show the same code.
  case same
  /// The sender's user does not say so, for this reason.
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
