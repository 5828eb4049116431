/// What an `inviteByCode` says: an invitation whose inviter proves that a person has typed the code of the invited
/// side.
public struct InviteByCode: Hashable, Sendable {
  /// How long the inviter waits for an answer, in milliseconds.
  public var timeout: UInt64
  /// pA of SPAKE2, `shareCount` bytes.
  public var share: [UInt8]
  /// For the invited side's application.
  public var context: Bytes

  public init(timeout: UInt64, share: [UInt8], context: Bytes = []) {
    self.timeout = timeout
    self.share = share
    self.context = context
  }

  /// A point of P-256 in uncompressed form.
  public static let shareCount = 65
  /// A MAC of SPAKE2.
  public static let confirmationCount = 32
}

/// What a `codeAnswer` says.
public struct CodeAnswer: Hashable, Sendable {
  /// pB of SPAKE2, 65 bytes.
  public var share: [UInt8]
  /// cB: it tells the inviter whether the invited side has the same code; 32 bytes.
  public var confirmation: [UInt8]
  /// How many tries the code has left if this one is wrong.
  public var left: UInt64

  public init(share: [UInt8], confirmation: [UInt8], left: UInt64) {
    self.share = share
    self.confirmation = confirmation
    self.left = left
  }
}
