import Piconet
import PiconetCalls

/// The id of one object of one node. It can be sent: a receiver that is a member of that node uses it to call the
/// object.
///
/// A restarted node has another `NodeID`: its former objects no longer exist, and calls to them fail with `restarted`.
public struct RemoteObjectID: Hashable, Sendable, CustomStringConvertible {
  /// The node that serves it.
  public let node: NodeID
  /// Its path there, such as `/basic`.
  public let path: String

  /// Creates the id of the object of this node that was published at this path.
  public init(_ node: NodeID, _ path: String) {
    self.node = node
    self.path = path
  }

  public var description: String { "\(path) of \(node)" }
}

extension RemoteObjectID: Codable {
  /// Reads it from an array of the key's fingerprint, the incarnation and the path.
  public init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    let peer = try container.decode([UInt8].self)
    let incarnation = try container.decode(UInt64.self)
    path = try container.decode(String.self)
    guard let peer = PeerID(bytes: peer), CallLimits.isPath(path) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "this is no object's id")
    }
    node = NodeID(peer: peer, incarnation: Incarnation(rawValue: incarnation))
  }

  /// Writes it as an array of the key's fingerprint, the incarnation and the path.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    try container.encode(node.peer.bytes)
    try container.encode(node.incarnation.rawValue)
    try container.encode(path)
  }
}
