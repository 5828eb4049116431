/// How a peer stands with us.
public enum PeerCondition: Sendable, Hashable {
  /// In sight, with no connection to us.
  case available
  /// No longer in sight, with no connection to us.
  case unavailable
  /// An invitation is under way, ours or the peer's.
  case connecting
  /// A member of the session.
  case connected
  /// A member whose links are gone. Both sides look for another link.
  case suspended
  /// An invitation or a membership has ended. A peer out of sight stays in this condition; a peer in sight is
  /// `available` at once.
  case disconnected(Ending)

  /// Returns whether the condition can come right after another one. Nil stands for a peer of which nothing has been
  /// reported yet.
  public func mayFollow(_ former: PeerCondition?) -> Bool {
    switch former {
    case nil: self == .available || self == .connecting
    case .available: self == .unavailable || self == .connecting
    case .unavailable, .disconnected: self == .available || self == .connecting
    case .connecting: self == .connected || isDisconnected
    case .connected: self == .suspended || isDisconnected
    case .suspended: self == .connected || isDisconnected
    }
  }

  private var isDisconnected: Bool { if case .disconnected = self { true } else { false } }
}
