import Distributed

/// An object that members of a session may call.
///
/// A service and its clients share a protocol that refines this one, and the table of its methods:
///
/// ```swift
/// @Resolvable
/// public protocol Concatenating: RemoteObject where ActorSystem == PiconetActorSystem {
///   distributed func concatenate(_ first: String, _ second: String) async throws -> String
/// }
///
/// extension Concatenating {
///   public static var interface: RemoteInterface { concatenating }
/// }
///
/// private let concatenating = RemoteInterface(
///   "org.example.concatenating", of: (any Concatenating).self,
///   methods: [.method("concatenate", "first", "second") { try await $0.concatenate($1, $2) }])
/// ```
///
/// The service is a `distributed actor` of the protocol, which `PiconetActorSystem.publish` puts under a path; a client
/// calls it by the stub that `@Resolvable` makes, here `$Concatenating`.
public protocol RemoteObject: DistributedActor where ActorSystem == PiconetActorSystem {
  /// The methods that may be called; no other method can be.
  static var interface: RemoteInterface { get }
}
