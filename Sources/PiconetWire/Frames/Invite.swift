/// What an `invite` says.
public struct Invite: Hashable, Sendable {
  /// How long the inviter waits for an answer, in milliseconds.
  public var timeout: UInt64
  public var terms: InvitationTerms
  /// SHA-256 of the inviter's nonce for the short code, 32 bytes; the nonce itself follows in a `codeReveal`, if it is
  /// asked for.
  public var commitment: [UInt8]
  /// For the invited side's application.
  public var context: Bytes

  public init(timeout: UInt64, terms: InvitationTerms = [], commitment: [UInt8], context: Bytes = []) {
    self.timeout = timeout
    self.terms = terms
    self.commitment = commitment
    self.context = context
  }

  /// The length of nonces and commitments.
  public static let nonceCount = 32
}

/// What an inviter wants beyond the answer; unknown bits are kept and mean nothing.
public struct InvitationTerms: OptionSet, Hashable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// A person on the inviter's side compares the codes, too, before the node is admitted.
  public static let comparesCodes = InvitationTerms(rawValue: 1 << 0)
}
