/// What an association has to know of all else that its engine knows, to look for another link. Lent for one look.
struct Surroundings {
  /// Where discovery sees the peer.
  let seen: [TransportAddress]
  /// The peer is not in sight, and another incarnation of it is.
  let seesOnlyOther: Bool
  /// An invitation of ours is with the peer.
  let isInvited: Bool
}
