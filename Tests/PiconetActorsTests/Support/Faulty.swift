import Distributed
import PiconetActors

@Resolvable
protocol Fault: RemoteObject where ActorSystem == PiconetActorSystem {
  distributed func twice() async throws
}

extension Fault { static var interface: RemoteInterface { fault } }

private let fault = RemoteInterface(
  "test.fault", of: (any Fault).self,
  methods: [.method("twice") { try await $0.twice() }, .method("twice") { try await $0.twice() }])

distributed actor Faulty: Fault {
  typealias ActorSystem = PiconetActorSystem
  distributed func twice() {}
}

/// Its table is not complete.
@Resolvable
protocol Half: RemoteObject where ActorSystem == PiconetActorSystem {
  distributed func told() async throws
  distributed func add(_ number: Int, to other: Int) async throws -> Int
}

extension Half { static var interface: RemoteInterface { half } }

private let half = RemoteInterface("test.half", of: (any Half).self, methods: [.method("told") { try await $0.told() }])

distributed actor Halved: Half {
  typealias ActorSystem = PiconetActorSystem
  distributed func told() {}
  distributed func add(_ number: Int, to other: Int) -> Int { number + other }
}

/// Its interface has the name of the one that every object has.
@Resolvable
protocol Same: RemoteObject where ActorSystem == PiconetActorSystem {
  distributed func ping() async throws
}

extension Same { static var interface: RemoteInterface { same } }

private let same = RemoteInterface(
  "piconet.object", of: (any Same).self, methods: [.method("ping") { try await $0.ping() }])

distributed actor Namesake: Same {
  typealias ActorSystem = PiconetActorSystem
  distributed func ping() {}
}
