import PiconetWire

/// A fact about a comparison of short codes with a member.
enum ComparisonFact: Sendable {
  // MARK: The application

  /// Our user wants to compare codes, and has this much time.
  case wanted(CommandID, Duration)
  /// The application cancels the comparison.
  case cancelled
  /// A person has compared the codes.
  case answered(CommandID, isSame: Bool, Reason)

  // MARK: Answers of the driver

  case nonceDrawn(CodeID, CodeNonce?)
  case codeDerived(CodeID, String?)

  // MARK: The remote side, and other members

  case received(Comparison)
  /// The remote side's question has reached the head of the queue.
  case asked
  /// Another question has taken the place of this one in the queue.
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
  /// This node's question must leave the queue, since ours has taken its place.
  case displaces(NodeID)
  /// The remote side has broken a rule.
  case breach(Breach)
}
