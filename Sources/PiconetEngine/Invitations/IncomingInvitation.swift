import PiconetWire

/// An invitation of the peer that is not over.
struct IncomingInvitation: Sendable {
  let terms: InvitationTerms
  let commitment: [UInt8]
  let context: [UInt8]
  let expires: Instant
  /// The application knows of it.
  var isDelivered = false
  /// We have sent `accept`, and the inviter's person compares the codes yet; the command is answered with membership.
  var acceptance: Acceptance?

  struct Acceptance: Sendable {
    /// Nil where an invitation of ours was the acceptance.
    let command: CommandID?
  }

  /// Invitations that nobody answers expire here even if the inviter would wait for longer.
  static let longestTime = Duration.seconds(300)

  init(_ invite: Invite, expires: Instant) {
    terms = invite.terms
    commitment = invite.commitment
    context = Array(invite.context)
    self.expires = expires
  }
}

/// A frame with an invitation of ours that has no answer yet.
struct SentInvitation: Sendable {
  /// Nil where we have withdrawn it.
  var command: CommandID?
  let terms: InvitationTerms
  /// The typed code that it proves.
  var code: TypedCodeID?
  /// The peer has asked for our nonce, or has answered our share.
  var hasNonce = false
}
