/// One presence of a peer: its proven key and the incarnation that it drew at its start.
///
/// Two programs on one device share the key and differ in the incarnation. So both can be peers of a third one at once,
/// and of each other. The smaller of two nodes decides which link is the active one.
public struct NodeID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The SHA-256 of the peer's public key.
  public let peer: PeerID
  /// Drawn at random at each start of the peer's program.
  public let incarnation: Incarnation

  /// Makes the node of this key that has drawn this incarnation.
  public init(peer: PeerID, incarnation: Incarnation) {
    self.peer = peer
    self.incarnation = incarnation
  }

  public static func < (left: NodeID, right: NodeID) -> Bool {
    left.peer == right.peer ? left.incarnation.rawValue < right.incarnation.rawValue : left.peer < right.peer
  }

  public var description: String { "\(peer.shortDescription)/\(incarnation)" }
}
