import PiconetWire

/// A request of an association to the engine on the way to membership, for what concerns more than two nodes.
enum MembershipRequest: Sendable {
  /// Asks for a place in the session; answered by `placeFound` or `noPlaceFound`.
  case place(Entry)
  /// An invitation has come. The application may be told of it. The invitation that loses its place in the queue is
  /// turned away.
  case question(insteadOf: NodeID?)
  /// The remote side broke a rule, by an action or by what it sent.
  case breach(Breach)

  /// How a node becomes a member.
  enum Entry: Sendable {
    /// Our `accept` to the node's invitation has to be sent.
    case accepting(IncomingInvitation.Acceptance)
    /// The node has proven our typed code, and its invitation carries this context for the application. Our `accept`
    /// has to be sent.
    case proven(context: [UInt8])
    /// A person on our side has confirmed the code of our invitation.
    case confirming
    /// The node has accepted our invitation, and nothing has to be compared any more.
    case accepted
    /// The node admits us; each side has kept a place for the other.
    case admitted
  }
}
