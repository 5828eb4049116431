import PiconetWire

/// An invitation of ours on its way to its peer: transports race, and a link is made. With an association it becomes
/// an `OutgoingInvitation`.
struct InvitationAttempt: Sendable {
  enum Phase: Equatable, Sendable {
    /// Transports race.
    case dialling
    /// A link is in its handshake; nil: a link of the node, whichever is used.
    case linking(LinkID?)
  }

  let command: CommandID
  /// The node to invite: from the start, or as soon as a hello has told.
  var node: NodeID?
  /// The key that must answer.
  let expectedPeer: PeerID?
  let context: [UInt8]
  /// The code that a person has typed for it.
  let code: TypedCodeID?
  /// Memberships of this run that were begun before it (`Turn.membershipCount`).
  let formerMemberships: UInt64
  let deadline: Instant
  var race: ConnectRace
  var phase = Phase.dialling
  /// Another key has answered at one of the addresses: how the attempt ends if no other address leads to the peer.
  var wrongKey: Ending?

  /// Invitations of ours that may be under way at once.
  static let limit = 256

  /// How it ends where no transport has led to the peer.
  var unreachable: Ending {
    if let wrongKey { return wrongKey }
    let words =
      race.failures.isEmpty ? "no transport for the peer's addresses" : ConnectRace.describe(race.failures)
    return Ending(.unreachable, .link, words)
  }

  /// - Returns: nil where the key may be the one that was wanted.
  func wrongKey(_ found: PeerID) -> Ending? {
    guard let expectedPeer, expectedPeer != found else { return nil }
    let words = "expected \(expectedPeer.shortDescription), but \(found.shortDescription) answers there"
    return Ending(.identity, .peer, words)
  }
}
