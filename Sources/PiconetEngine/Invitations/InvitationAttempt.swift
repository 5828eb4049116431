import PiconetWire

/// An invitation of ours on its way to its peer: transports race, and a link is made. With an association it becomes
/// an `OutgoingInvitation`.
struct InvitationAttempt: Sendable {
  enum Phase: Equatable, Sendable {
    /// Transports race.
    case dialling
    /// Waits for the handshake of this link; nil: for any link to the node, whichever is used in the end.
    case linking(LinkID?)
  }

  let caller: Caller<ResultKind.Connected>
  /// The node to invite: known from the start, or as soon as a hello has told.
  var node: NodeID?
  /// The key that must answer.
  let expectedPeer: PeerID?
  let context: [UInt8]
  /// The code that a person has typed for it.
  let code: TypedCodeID?
  /// How many memberships had begun in this run before it (`Turn.membershipCount`).
  let formerMemberships: UInt64
  let deadline: Instant
  /// The transports over which the node is dialled at new addresses if it comes in sight in the meantime; nil if it is
  /// not looked for.
  let transports: [TransportKind]?
  /// Whether any other node of the key will do.
  var takesOthers = false
  /// Until then it is not over, although no address has led to the peer; nil: it is as soon as that is so.
  let lookedForUntil: Instant?
  var race: ConnectRace
  var phase = Phase.dialling
  /// Another key has answered at one of the addresses: how the attempt ends if no other address leads to the peer.
  var wrongKey: Ending?

  var command: CommandID { caller.command }

  /// How long a node is looked for at least. Any device can advertise its key at an address that refuses, and the first
  /// word of the node itself may come after that: answers to one question are spread over a tenth of a second.
  static let lookTime = Duration.seconds(1)

  /// Whether no address has led to the peer, and no other is waited for.
  func isLost(at now: Instant) -> Bool { race.isLost && lookedForUntil.map { $0 <= now } ?? true }

  /// When it has to be looked at again.
  var nextDeadline: Instant {
    guard phase == .dialling else { return deadline }
    let times = [race.nextDeadline, race.isLost ? lookedForUntil : nil].compactMap(\.self)
    return min(deadline, times.min() ?? deadline)
  }

  /// How many invitations of ours may be under way at once.
  static let limit = 256

  /// How it ends if no transport has led to the peer.
  var unreachable: Ending {
    // A member can give us the address of any device: another key there says nothing of the node.
    if let wrongKey, !command.isOwn { return wrongKey }
    let words =
      race.failures.isEmpty ? "no transport for the peer's addresses" : ConnectRace.describe(race.failures)
    return Ending(.unreachable, .link, words)
  }

  /// How it ends if its time is up.
  var timedOut: Ending {
    let failures = phase == .dialling ? race.failuresInTime : race.failures
    return Ending(.timedOut, .peer, ConnectRace.describe(failures), failures: failures)
  }

  /// How the attempt ends if this key has answered.
  /// - Returns: nil if the key may be the wanted one.
  func wrongKey(_ found: PeerID) -> Ending? {
    guard let expectedPeer, expectedPeer != found else { return nil }
    let words = "expected \(expectedPeer.shortDescription), but \(found.shortDescription) answers there"
    return Ending(.identity, .peer, words)
  }
}
