/// How frames name a third node: its key's fingerprint and its incarnation. That there is such a node is not proven.
public struct MemberName: Hashable, Sendable {
  public let peer: PeerID
  public let incarnation: Incarnation

  public init(peer: PeerID, incarnation: Incarnation) {
    self.peer = peer
    self.incarnation = incarnation
  }
}
