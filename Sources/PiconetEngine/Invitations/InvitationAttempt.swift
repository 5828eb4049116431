import PiconetWire

/// One invitation of ours, from the command to its one reply.
struct InvitationAttempt: Sendable {
  enum Phase: Equatable, Sendable {
    /// Transports race.
    case dialling
    /// A link is in its handshake, or the far side decides which of two links is used.
    case linking(LinkID?)
    /// The driver draws the nonce of its short code.
    case drawing(CodeID)
    /// The driver makes the share with which a typed code is proven.
    case sharing
    /// The invite frame was sent, of whichever kind.
    case invited
    /// The driver checks the invited's answer; this many tries are left if it is wrong.
    case proving(left: UInt64)
    /// The invited has proven that it has the same code, and gets our proof.
    case proven
    /// The far side has invited us at the same time: its invitation is the one that counts, and ours is its acceptance.
    case answering
  }

  let command: CommandID
  /// The node to invite: from the start, or as soon as a hello has told.
  var node: NodeID?
  /// The key that must answer.
  let expectedPeer: PeerID?
  let context: [UInt8]
  /// The code that a person has typed for it, and our side's proof of it.
  let code: TypedCodeID?
  var proof: CodeID?
  let deadline: Instant
  var race: ConnectRace
  var phase: Phase = .dialling
  /// Of its short code, which never has another one's.
  var nonce: CodeNonce?
  /// Another key has answered at one of the addresses: how the attempt ends if no other address leads to the peer.
  var wrongKey: Ending?

  static let limit = 256
}

extension InvitationAttempt {
  /// When it is over, or the next transport is dialled.
  var nextDeadline: Instant {
    guard phase == .dialling, let next = race.nextDeadline else { return deadline }
    return min(next, deadline)
  }

  /// There is an association, and what becomes of it is decided there.
  var isWithPeer: Bool {
    switch phase {
    case .drawing, .sharing, .invited, .proving, .proven, .answering: true
    case .dialling, .linking: false
    }
  }
}
