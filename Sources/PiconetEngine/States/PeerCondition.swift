/// Where a peer stands with us.
public enum PeerCondition: Sendable, Hashable {
  /// In sight, and nothing is between us.
  case available
  /// Not in sight any more, and nothing is between us.
  case unavailable
  /// An invitation is under way, ours or the peer's.
  case connecting
  /// A member of the session.
  case connected
  /// A member whose links are gone; both sides look for another way.
  case suspended
  /// An invitation or a membership has ended. It stays so for a peer out of sight; one in sight is `available` at once.
  case disconnected(Ending)

  /// Whether the condition can come right after another one; nil stands for a peer that nothing was told of yet.
  public func mayFollow(_ former: PeerCondition?) -> Bool {
    switch (former, self) {
    case (nil, .available), (.unavailable, .available), (.disconnected, .available): true
    case (.available, .unavailable): true
    case (nil, .connecting), (.available, .connecting), (.unavailable, .connecting), (.disconnected, .connecting): true
    case (.connecting, .connected), (.suspended, .connected): true
    case (.connected, .suspended): true
    case (.connecting, .disconnected), (.connected, .disconnected), (.suspended, .disconnected): true
    default: false
    }
  }
}
