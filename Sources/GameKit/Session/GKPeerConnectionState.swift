/// The state of a peer in the session.
public enum GKPeerConnectionState: Int32, Sendable {
  /// In sight and not connected: `connect(toPeer:withTimeout:)` can reach it.
  case stateAvailable = 0
  /// No longer in sight.
  case stateUnavailable = 1
  /// Data can be sent to it.
  case stateConnected = 2
  /// It was connected, and no longer is.
  case stateDisconnected = 3
  /// One of the two has asked to connect, and the other has not answered yet.
  case stateConnecting = 4
  /// Connected over another peer that relays, and can't read what it relays: no network leads from one to the other.
  /// Such a peer is reported, and counts, as `stateConnected`, so that data for connected peers reaches it.
  /// `peers(with:)` lists it in this state as well while it is reached this way.
  case stateConnectedRelay = 5
}
