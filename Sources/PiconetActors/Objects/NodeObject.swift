import Distributed
import Piconet
import PiconetCalls

/// The object that every actor system serves at `/`; it lists the other objects.
@Resolvable
public protocol RemoteNode: RemoteObject where ActorSystem == PiconetActorSystem {
  /// Answers, which shows that the program runs.
  distributed func ping() async throws
  /// Returns the published objects whose paths begin with this, in the order of paths; 1,000 at most.
  distributed func objects(under prefix: String) async throws -> [ObjectDescription]
}

extension RemoteNode {
  /// `piconet.node`.
  public static var interface: RemoteInterface { nodeInterface }
}

let nodeInterface = RemoteInterface(
  "piconet.node", of: (any RemoteNode).self,
  methods: [
    .method("ping") { try await $0.ping() },
    .method("objects", "prefix") { try await $0.objects(under: $1) },
  ])

/// The description of an object for programs that ask.
public struct ObjectDescription: Codable, Hashable, Sendable {
  /// The object's path.
  public var path: String
  /// The object's interface.
  public var interface: InterfaceDescription
}

/// The description of an interface for programs that ask.
public struct InterfaceDescription: Codable, Hashable, Sendable {
  /// Its name on the wire.
  public var name: String
  /// The present version.
  public var version: Int
  /// The oldest version whose clients are served.
  public var oldest: Int
  /// Its methods.
  public var methods: [MethodDescription]

  init(_ interface: RemoteInterface) {
    name = interface.name
    version = interface.version
    oldest = interface.oldest
    methods = interface.methods
  }
}

distributed actor NodeObject: RemoteNode {
  typealias ActorSystem = PiconetActorSystem

  distributed func ping() {}

  distributed func objects(under prefix: String) -> [ObjectDescription] {
    Array(actorSystem.objects.descriptions(under: prefix).prefix(1_000))
  }
}

extension PiconetActorSystem {
  func publishNodeObject() throws(RemoteCallError) { try publish(NodeObject(actorSystem: self), at: "/") }

  /// Returns the objects that a member has published: paths, interfaces, versions, methods, the types of parameters and
  /// results.
  /// - Parameters:
  ///   - member: the member to ask.
  ///   - prefix: the beginning of the paths. Default: all.
  /// - Throws: `RemoteCallError`, as every call.
  public func objects(of member: Member, under prefix: String = "/") async throws -> [ObjectDescription] {
    try await object($RemoteNode.self, at: "/", of: member).objects(under: prefix)
  }
}
