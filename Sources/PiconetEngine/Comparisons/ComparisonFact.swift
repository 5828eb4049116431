import PiconetWire

/// A fact about a comparison of short codes with a member.
enum ComparisonFact: Sendable {
  // MARK: The application

  /// Our user wants to compare codes, for this long.
  case wanted(CommandID, Duration)
  /// The application takes that back.
  case cancelled
  /// A person has compared the codes.
  case answered(CommandID, isSame: Bool, Reason)

  // MARK: Answers of the driver

  case nonceDrawn(CodeID, CodeNonce?)
  case codeDerived(CodeID, String?)

  // MARK: The remote side, and other members

  case received(Comparison)
  /// It is the turn of the remote side's question.
  case asked
  /// Another question has taken its place in the queue.
  case displaced
  case timePassed

  // MARK: The association

  /// The link to which the nonces are bound is gone.
  case linkLost
  /// We are leaving, or the association is over.
  case ended(Ending)
}

/// What a comparison asks of the engine.
enum ComparisonRequest: Sendable {
  /// The question of this node has to go, since ours has taken its place.
  case displaces(NodeID)
  /// The remote side has broken a rule.
  case breach(Breach)
}
