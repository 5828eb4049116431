/// The smallest number of peers in a session, this one among them.
public let kMCSessionMinimumNumberOfPeers = 2

/// The largest number of peers in a session, this one among them.
public let kMCSessionMaximumNumberOfPeers = 8

/// The way to send a message.
public enum MCSessionSendDataMode: Int, Sendable {
  /// It arrives, in the order of the calls, or the peer leaves the session.
  case reliable = 0
  /// It is sent at once or not at all, may come in another order, and may be lost.
  case unreliable = 1
}

/// The state of a peer in a session.
public enum MCSessionState: Int, Sendable {
  /// It is not in the session.
  case notConnected = 0
  /// Both sides have agreed, and a connection is on its way.
  case connecting = 1
  /// It is in the session.
  case connected = 2
}

/// Whether a session wants encryption. Everything is encrypted here in any case: a preference only decides which
/// sessions connect, as with Apple's.
public enum MCEncryptionPreference: Int, Sendable {
  /// Connects to sessions with any preference.
  case optional = 0
  /// Does not connect to sessions with `none`.
  case required = 1
  /// Does not connect to sessions with `required`.
  case none = 2
}
