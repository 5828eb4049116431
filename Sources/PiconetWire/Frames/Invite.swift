/// The content of an `invite`.
public struct Invite: Hashable, Sendable {
  /// How long the inviter waits for an answer, in milliseconds.
  public var timeout: UInt64
  public var terms: InvitationTerms
  /// SHA-256 of the inviter's nonce for the short code, 32 bytes. The nonce itself follows in a `codeReveal`, if
  /// requested.
  public var commitment: [UInt8]
  /// Data for the invited side's application.
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

/// Requests of an inviter beyond the answer. Unknown bits are kept and mean nothing.
public struct InvitationTerms: OptionSet, Hashable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// A person on the inviter's side compares the codes too, before the node is admitted.
  public static let comparesCodes = InvitationTerms(rawValue: 1 << 0)
}
