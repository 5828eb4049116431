import PiconetWire

/// Our invitation on its way to its peer: transports race, and a link is made. With an association it becomes an
/// `OutgoingInvitation`.
struct InvitationAttempt: Sendable {
  enum Phase: Equatable, Sendable {
    /// Transports race.
    case dialling
    /// Waits for the handshake of this link; nil: for any link to the node, whichever is used in the end.
    case linking(LinkID?)
  }

  let caller: Caller<ResultKind.Connected>
  /// The node to invite, known from the start or as soon as a hello has stated it.
  var node: NodeID?
  /// The key that must answer.
  let expectedPeer: PeerID?
  let context: [UInt8]
  /// The code that a person has typed for this invitation.
  let code: TypedCodeID?
  /// The number of memberships that had begun in this run before it (`Turn.membershipCount`).
  let formerMemberships: UInt64
  let deadline: Instant
  /// The transports over which the node is dialled at new addresses if it comes in sight in the meantime; nil if we
  /// don't look for it.
  let transports: [TransportKind]?
  /// Whether any other node of the key is acceptable too.
  var takesOthers = false
  /// The time before which the attempt does not end, even if no address has led to the peer. Nil: it ends as soon as no
  /// address is left.
  let lookedForUntil: Instant?
  var race: ConnectRace
  var phase = Phase.dialling
  /// How the attempt ends if no other address leads to the peer, because another key has answered at one of the
  /// addresses.
  var wrongKey: Ending?

  var command: CommandID { caller.command }

  /// The minimum time for which a node is looked for. Any device can advertise the node's key at an address that
  /// refuses, and the node's own first answer may come later. Answers to one question are spread over a tenth of a
  /// second.
  static let lookTime = Duration.seconds(1)

  /// Returns whether no address has led to the peer, and no other address is awaited.
  func isLost(at now: Instant) -> Bool { race.isLost && lookedForUntil.map { $0 <= now } ?? true }

  /// When the attempt has to be looked at again.
  var nextDeadline: Instant {
    guard phase == .dialling else { return deadline }
    let times = [race.nextDeadline, race.isLost ? lookedForUntil : nil].compactMap(\.self)
    return min(deadline, times.min() ?? deadline)
  }

  /// The maximum number of our own invitations under way at once.
  static let limit = 256

  /// How the attempt ends if no transport has led to the peer.
  var unreachable: Ending {
    // A member can give us the address of any device, so another key there says nothing about the node.
    if let wrongKey, !command.isOwn { return wrongKey }
    let words =
      race.failures.isEmpty ? "no transport for the peer's addresses" : ConnectRace.describe(race.failures)
    return Ending(.unreachable, .link, words)
  }

  /// How the attempt ends if its time is up.
  var timedOut: Ending {
    let failures = phase == .dialling ? race.failuresInTime : race.failures
    return Ending(.timedOut, .peer, ConnectRace.describe(failures), failures: failures)
  }

  /// Returns how the attempt ends if this key has answered.
  /// - Returns: nil if the key may be the wanted one.
  func wrongKey(_ found: PeerID) -> Ending? {
    guard let expectedPeer, expectedPeer != found else { return nil }
    let words = "expected \(expectedPeer.shortDescription), but \(found.shortDescription) answers there"
    return Ending(.identity, .peer, words)
  }
}
