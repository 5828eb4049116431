import PiconetWire

/// An invitation from the peer that is not over yet.
struct IncomingInvitation: Sendable {
  let terms: InvitationTerms
  let commitment: [UInt8]
  let context: [UInt8]
  var expires: Instant
  /// Whether the application was told of it.
  var isDelivered = false
  /// Whether it waits for the application's answer to an introduction of its inviter. In that case it is not a question
  /// of its own.
  var isHeld = false
  /// How it was accepted; nil until it is. Once accepted, we have sent `accept`, keep a place, and wait until the
  /// inviter admits us or withdraws.
  var acceptance: Acceptance?
  /// The command by which the application has accepted it after our own invitation had already done so.
  var alsoAccepted: CommandID?
  /// Whether its inviter has proven our typed code.
  let isProven: Bool

  enum Acceptance: Hashable, Sendable {
    /// Accepted by the application, whose command is answered once there is a membership.
    case command(CommandID)
    /// Accepted by our own invitation, whose code is compared or was typed.
    case ownInvitation
    /// Both sides have invited. The peer's `accept` of our invitation admits us.
    case crossing
    /// Accepted by the right code.
    case code

    var command: CommandID? {
      switch self {
      case .command(let command): command
      case .ownInvitation, .crossing, .code: nil
      }
    }
  }

  /// The application's command that has accepted it, which is answered with the outcome; nil if there is no such
  /// command.
  var command: CommandID? { acceptance?.command ?? alsoAccepted }

  /// Unanswered invitations expire here after this time even if the inviter would wait longer.
  static let longestTime = Duration.seconds(300)

  init(_ invite: Invite, expires: Instant) {
    terms = invite.terms
    commitment = invite.commitment
    context = Array(invite.context)
    self.expires = expires
    isProven = false
  }

  /// Makes an invitation by a typed code. The code was right, so the invitation is accepted.
  init(provenWith context: [UInt8], expires: Instant) {
    terms = []
    commitment = []
    self.context = context
    self.expires = expires
    isProven = true
    acceptance = .code
  }
}

/// Our invitation frame that has no answer yet.
struct SentInvitation: Sendable {
  /// The command that began it; nil if we have withdrawn it.
  var command: CommandID?
  let terms: InvitationTerms
  /// The typed code that it proves.
  var code: TypedCodeID?
  /// Whether the peer has asked for our nonce, or has answered our share.
  var hasNonce = false
}
