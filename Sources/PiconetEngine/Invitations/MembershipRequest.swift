import PiconetWire

/// What an association asks of the engine on the way to membership, because it concerns more than two nodes.
enum MembershipRequest: Sendable {
  /// Asks for a place in the session; answered by `placeFound` or `noPlaceFound`.
  case place(Entry)
  /// An invitation has come: the application may be told of it, and the one that loses its place in the queue is turned
  /// away.
  case question(insteadOf: NodeID?)
  /// The remote side, or what it has sent, broke a rule.
  case breach(Breach)

  /// How a node becomes a member.
  enum Entry: Sendable {
    /// Our `accept` to its invitation is to be sent.
    case accepting(IncomingInvitation.Acceptance)
    /// It has proven our typed code, and its invitation says this to the application: our `accept` is to be sent.
    case proven(context: [UInt8])
    /// A person on our side has confirmed the code of our invitation.
    case confirming
    /// It has accepted our invitation, and nothing has to be compared any more.
    case accepted
    /// It admits us; each side has kept a place for the other.
    case admitted
  }
}
