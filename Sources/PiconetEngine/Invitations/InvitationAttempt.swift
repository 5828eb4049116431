import PiconetWire

/// One invitation of ours, from the command to its one reply.
struct InvitationAttempt: Sendable {
  enum Phase: Equatable, Sendable {
    /// Transports race.
    case dialling
    /// A link is in its handshake, or the far side decides which of two links is used.
    case linking(LinkID?)
    /// A person compares the short codes.
    case confirming
    /// The invite frame was sent.
    case invited
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
  /// Another key has answered at one of the addresses: how the attempt ends if no other address leads to the peer.
  var wrongKey: Ending?

  static let limit = 256
}
