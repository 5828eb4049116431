/// How a peer stands with the session.
public enum GKPeerConnectionState: Int32, Sendable {
  /// In sight and not connected: `connect(toPeer:withTimeout:)` can reach it.
  case stateAvailable = 0
  /// Not in sight any more.
  case stateUnavailable = 1
  /// Data can be sent to it.
  case stateConnected = 2
  /// It was connected, and is not any more.
  case stateDisconnected = 3
  /// One of the two has asked to connect, and there is no answer yet.
  case stateConnecting = 4
  /// Connected by way of another peer, which passes on what it can't read: no network leads from one to the other. Such
  /// a peer is reported, and counts, as `stateConnected`, so that data for those reaches it; `peers(with:)` has it here
  /// as well while it is reached this way.
  case stateConnectedRelay = 5
}
