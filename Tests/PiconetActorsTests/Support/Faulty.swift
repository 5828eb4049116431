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
