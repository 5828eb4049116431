import Piconet

/// The target of a ping, or of a presence watch.
@nonexhaustive
public enum PingTarget: Sendable, Hashable, CustomStringConvertible {
  /// The actor system of a node.
  case node(NodeID)
  /// An object: it answers as soon as it gets to it, so a blocked object does not answer.
  case object(RemoteObjectID)
  /// The object at the path of the node that has the name at the time (`PiconetActorSystem.claim`).
  case owner(of: String, path: String = "/")

  public var description: String {
    switch self {
    case .node(let id): "\(id)"
    case .object(let id): "\(id)"
    case .owner(let name, let path): path == "/" ? name : "\(path) of \(name)"
    }
  }
}
