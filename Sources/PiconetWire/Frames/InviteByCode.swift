/// The content of an `inviteByCode`: an invitation whose inviter proves that a person has typed the code of the invited
/// side.
public struct InviteByCode: Hashable, Sendable {
  /// How long the inviter waits for an answer, in milliseconds.
  public var timeout: UInt64
  /// pA of SPAKE2, `shareCount` bytes.
  public var share: [UInt8]
  /// Data for the invited side's application.
  public var context: Bytes

  public init(timeout: UInt64, share: [UInt8], context: Bytes = []) {
    self.timeout = timeout
    self.share = share
    self.context = context
  }

  /// The length of a P-256 point in uncompressed form.
  public static let shareCount = 65
  /// The length of a MAC of SPAKE2.
  public static let confirmationCount = 32
}

/// The content of a `codeAnswer`.
public struct CodeAnswer: Hashable, Sendable {
  /// pB of SPAKE2, 65 bytes.
  public var share: [UInt8]
  /// cB, 32 bytes. It shows the inviter whether the invited side has the same code.
  public var confirmation: [UInt8]
  /// The number of tries that the code has left if this one is wrong.
  public var left: UInt64

  public init(share: [UInt8], confirmation: [UInt8], left: UInt64) {
    self.share = share
    self.confirmation = confirmation
    self.left = left
  }
}
