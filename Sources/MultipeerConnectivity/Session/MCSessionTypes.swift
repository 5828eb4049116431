/// The fewest peers of a session, this one among them.
public let kMCSessionMinimumNumberOfPeers = 2

/// The most peers of a session, this one among them.
public let kMCSessionMaximumNumberOfPeers = 8

/// How a message is sent.
public enum MCSessionSendDataMode: Int, Sendable {
  /// It arrives, in the order of the calls, or the peer leaves the session.
  case reliable = 0
  /// It is sent at once or not at all, may come in another order, and may be lost.
  case unreliable = 1
}

/// How a peer stands with a session.
public enum MCSessionState: Int, Sendable {
  /// It is not in the session.
  case notConnected = 0
  /// Both sides have agreed, and a connection is on its way.
  case connecting = 1
  /// It is in the session.
  case connected = 2
}

/// Whether a session wants encryption. Everything is encrypted here in any case: a preference only decides which
/// sessions meet, as with Apple's.
public enum MCEncryptionPreference: Int, Sendable {
  /// Meets everybody.
  case optional = 0
  /// Does not meet those that say `none`.
  case required = 1
  /// Does not meet those that say `required`.
  case none = 2
}
