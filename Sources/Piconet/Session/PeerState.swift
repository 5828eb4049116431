import PiconetEngine
import PiconetWire

/// The state of a peer, seen from this node.
///
/// A peer first appears as `available` or `connecting`. `available` goes to `unavailable` or `connecting`; `connecting`
/// to `connected` or `disconnected`; `connected` to `suspended` or `disconnected`; `suspended` to `connected` or
/// `disconnected`. After `disconnected` a peer that is in sight is `available` at once; one out of sight has no state
/// until it comes again.
@nonexhaustive
public enum PeerState: Sendable {
  /// In sight, with no connection to us.
  case available
  /// No longer in sight.
  case unavailable
  /// An invitation is under way, ours or the peer's. Our invitation by address counts from when the peer's key is
  /// proven.
  case connecting
  /// A member of the session.
  case connected
  /// A member whose connections are gone while both sides look for another way.
  case suspended
  /// An invitation or a membership has ended.
  case disconnected(PiconetError)

  init(_ condition: PeerCondition, peer: NodeID) {
    self =
      switch condition {
      case .available: .available
      case .unavailable: .unavailable
      case .connecting: .connecting
      case .connected: .connected
      case .suspended: .suspended
      case .disconnected(let ending): .disconnected(PiconetError(ending, peer: peer))
      }
  }
}

/// A change of one peer's state.
public struct PeerStateChange: Sendable {
  /// The peer's id: from a sighting, and proven once the peer is connected.
  public let peer: NodeID
  /// What people call the device; the peer's own words: escape it before showing it on a terminal. Empty as long as no
  /// name is known.
  public let name: String
  /// The state from now on.
  public let state: PeerState
}
