import Distributed
import Piconet
import PiconetCalls

extension PiconetActorSystem {
  /// Publishes an object under a path, where members call it. It stays, and is kept alive, until `unpublish` or `stop`.
  /// - Parameters:
  ///   - object: an actor of this system.
  ///   - path: `/`, then names of ASCII letters and digits, `_`, `-` and `.`, with a `/` between them; at most 255
  ///     bytes.
  /// - Throws: `invalidArgument` naming the broken rule, such as a fault of the interface's declaration; `notDeclared`:
  ///   a distributed method of the protocol is not in it. For a protocol that is private to a file, or in another
  ///   library than this module, that shows when the method is called.
  public func publish<Object: RemoteObject>(_ object: Object, at path: String) throws(RemoteCallError) {
    let interface = Object.interface
    if let fault = interface.fault { throw fault }
    guard interface.name != objectInterface.name else {
      throw RemoteCallError(.invalidArgument, detail: "every object has \(interface.name): give it another name")
    }
    guard CallLimits.isPath(path) else {
      throw RemoteCallError(
        .invalidArgument,
        detail: "'\(path)' is no path: names of ASCII letters and digits, '_', '-' and '.', each behind one '/'")
    }
    guard object.id.node == node.id, self === object.actorSystem else {
      throw RemoteCallError(.invalidArgument, detail: "the object is not of this system")
    }
    guard let methods = interface.bind(object) else {
      throw RemoteCallError(.invalidArgument, detail: "\(Object.self) is none of those that \(interface.name) declares")
    }
    try objects.publish(
      .init(interface: interface, methods: methods, common: objectMethods(of: object)), at: path, as: object.id.path)
  }

  /// Removes an object from its path. Calls that are being served go on; later ones get `noSuchObject`.
  public func unpublish(_ path: String) { objects.unpublish(path) }

  /// Returns the object that a member has published at a path. It sends nothing: the first call shows whether the
  /// object exists.
  /// - Parameters:
  ///   - type: the stub that `@Resolvable` has made, such as `$Concatenating.self`.
  ///   - path: the path where the member has published it.
  ///   - member: the member that serves it.
  /// - Throws: the fault of the interface's declaration, see `publish(_:at:)`.
  public func object<Object: RemoteObject>(
    _ type: Object.Type, at path: String, of member: Member
  ) throws -> Object {
    if let fault = Object.interface.fault { throw fault }
    return try Object.resolve(id: RemoteObjectID(member.id, path), using: self)
  }

  // MARK: Requirements of `Distributed`

  /// Returns the object of this process with the id; nil if it is another node's.
  /// - Throws: `noSuchObject` if it is gone, or of another type.
  public func resolve<Act>(
    id: RemoteObjectID, as actorType: Act.Type
  ) throws -> Act? where Act: DistributedActor, Act.ID == RemoteObjectID {
    guard id.node == node.id else { return nil }
    guard let actor = objects.actor(at: id.path) as? Act else {
      throw RemoteCallError(.noSuchObject, node: id.node, detail: "this program has no \(Act.self) at \(id.path)")
    }
    return actor
  }

  /// Returns an id for an object that is being made. Its path is good for calls once the object is published.
  public func assignID<Act>(_ actorType: Act.Type) -> RemoteObjectID
  where Act: DistributedActor, Act.ID == RemoteObjectID { RemoteObjectID(node.id, objects.newPath()) }

  /// Notes that the object exists.
  public func actorReady<Act>(_ actor: Act) where Act: DistributedActor, Act.ID == RemoteObjectID {
    objects.ready(actor, at: actor.id.path)
  }

  /// Notes that the object no longer exists.
  public func resignID(_ id: RemoteObjectID) { objects.resigned(id.path) }

  /// Returns an encoder for calls through the compiler's table; no call uses it.
  public func makeInvocationEncoder() -> RemoteCallEncoder { RemoteCallEncoder() }
}
