import Distributed
import Piconet
import PiconetActors

/// What can be called.
@Resolvable
public protocol Lamp: RemoteObject where ActorSystem == PiconetActorSystem {
  distributed func brighten(by steps: Int) async throws -> Int
}

extension Lamp {
  public static var interface: RemoteInterface { lampInterface }
}

private let lampInterface = RemoteInterface(
  "org.example.lamp", of: (any Lamp).self,
  methods: [.method("brighten", "steps") { try await $0.brighten(by: $1) }])

/// A lamp that others call.
distributed actor CeilingLamp: Lamp {
  typealias ActorSystem = PiconetActorSystem
  private var brightness = 0

  distributed func brighten(by steps: Int) -> Int {
    brightness += steps
    return brightness
  }
}

/// Serves a lamp to members of the session until the task is cancelled.
func serveLamp(on node: Node) async throws {
  try await PiconetActorSystem.run(on: node) { system in
    try system.publish(CeilingLamp(actorSystem: system), at: "/ceiling")
    // A published object stays, and is served, until the system stops.
    for await _ in system.events {}
  }
}

/// Makes a member's lamp brighter, and says how bright it is then.
func brighten(lampOf member: Member, _ system: PiconetActorSystem) async throws -> Int {
  let lamp = try system.object($Lamp.self, at: "/ceiling", of: member)
  return try await CallDeadline.within(.seconds(5)) { try await lamp.brighten(by: 3) }
}

/// What a member has, as `piconet introspect` shows it.
func methods(of member: Member, _ system: PiconetActorSystem) async throws -> [String] {
  try await system.objects(of: member).flatMap { object in
    object.interface.methods.map { "\(object.path) \(object.interface.name) \($0.name) gives \($0.result)" }
  }
}
