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
