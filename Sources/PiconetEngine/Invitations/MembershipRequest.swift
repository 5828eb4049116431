/// What an association asks of the engine on the way to membership, because it concerns more than two nodes.
enum MembershipRequest: Sendable {
  /// A place in the session: whether there is one is told as `placeFound` or `noPlaceFound`.
  case place(Entry)
  /// An invitation has come: the application may be told of it, and who waits in its place no longer is turned away.
  case question(insteadOf: NodeID?)
  /// The association has to end.
  case end(Ending)
  /// The remote side, or what it has sent, broke a rule.
  case breach(Breach)

  /// How a node becomes a member.
  enum Entry: Sendable {
    /// Our `accept` to its invitation is to be sent, by this command, or because of an invitation of ours.
    case accepting(CommandID?)
    /// Both have invited, and no code is compared: each takes the other's invitation as the answer to its own.
    case crossing
    /// Our person has confirmed the code of our invitation, and the peer is to be told.
    case confirming
    /// It has accepted our invitation, or confirmed what we have accepted.
    case agreed
    /// It has accepted our invitation by a code, which both have proven.
    case agreedByCode
    /// It has proven our code, and its invitation said this to the application.
    case proven(context: [UInt8])
  }
}
