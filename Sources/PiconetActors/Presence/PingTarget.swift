import Piconet

/// What is pinged, and whose presence is watched.
@nonexhaustive
public enum PingTarget: Sendable, Hashable, CustomStringConvertible {
  /// The actor system of a node.
  case node(NodeID)
  /// An object: answers as soon as it gets to it, so one that is blocked does not.
  case object(RemoteObjectID)
  /// What is at the path of the node that has the name at the time (`PiconetActorSystem.claim`).
  case owner(of: String, path: String = "/")

  public var description: String {
    switch self {
    case .node(let id): "\(id)"
    case .object(let id): "\(id)"
    case .owner(let name, let path): path == "/" ? name : "\(path) of \(name)"
    }
  }
}
