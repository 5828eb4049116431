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
    /// The invite frame was sent.
    case invited
    /// The far side has invited us at the same time: its invitation is the one that counts, and ours is its acceptance.
    case answering
  }

  let command: CommandID
  /// The node to invite: from the start, or as soon as a hello has told.
  var node: NodeID?
  /// The key that must answer.
  let expectedPeer: PeerID?
  let context: [UInt8]
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
  /// There is an association, and what becomes of it is decided there.
  var isWithPeer: Bool {
    switch phase {
    case .drawing, .invited, .answering: true
    case .dialling, .linking: false
    }
  }
}
