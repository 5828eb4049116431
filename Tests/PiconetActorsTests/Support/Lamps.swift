import Distributed
import Piconet
import PiconetActors

// One interface, as programs of different age have it.

@Resolvable
protocol FirstLamp: RemoteObject where ActorSystem == PiconetActorSystem {
  distributed func turnOn() async throws -> Bool
}

extension FirstLamp { static var interface: RemoteInterface { first } }

private let first = RemoteInterface(
  "test.lamp", of: (any FirstLamp).self, methods: [.method("turnOn") { try await $0.turnOn() }])

@Resolvable
protocol SecondLamp: RemoteObject where ActorSystem == PiconetActorSystem {
  distributed func turnOn() async throws -> Bool
  distributed func dim(_ percent: Int) async throws -> Int
  distributed func dim(by percent: Int) async throws -> Int
}

extension SecondLamp { static var interface: RemoteInterface { second } }

private let second = RemoteInterface(
  "test.lamp", version: 2, of: (any SecondLamp).self,
  methods: [
    .method("turnOn") { try await $0.turnOn() },
    .method("dim(_:)", "percent", since: 2) { try await $0.dim($1) },
    .method("dim(by:)", "percent", since: 2) { try await $0.dim(by: $1) },
  ])

/// Its table has one entry for three methods of one name.
@Resolvable
protocol Switch: RemoteObject where ActorSystem == PiconetActorSystem {
  distributed func turn(on lamp: Int) async throws -> String
  distributed func turn(off lamp: Int) async throws -> String
  distributed func turn(_ lamp: Int, by degrees: Int) async throws -> String
}

extension Switch { static var interface: RemoteInterface { switches } }

private let switches = RemoteInterface(
  "test.switch", of: (any Switch).self, methods: [.method("turn", "lamp") { try await $0.turn(on: $1) }])

distributed actor OneSwitch: Switch {
  typealias ActorSystem = PiconetActorSystem
  distributed func turn(on lamp: Int) -> String { "on" }
  distributed func turn(off lamp: Int) -> String { "off" }
  distributed func turn(_ lamp: Int, by degrees: Int) -> String { "turned" }
}

/// Clients of version 1 are not served any more, and `turnOn` is gone; `dim(_:)` gives something else.
@Resolvable
protocol ThirdLamp: RemoteObject where ActorSystem == PiconetActorSystem {
  distributed func dim(_ percent: Int) async throws -> [String]
}

extension ThirdLamp { static var interface: RemoteInterface { third } }

private let third = RemoteInterface(
  "test.lamp", version: 3, servesFrom: 2, of: (any ThirdLamp).self,
  methods: [.method("dim(_:)", "percent", since: 2) { try await $0.dim($1) }])

distributed actor OldLamp: FirstLamp {
  typealias ActorSystem = PiconetActorSystem
  distributed func turnOn() -> Bool { true }
}

distributed actor NewLamp: SecondLamp {
  typealias ActorSystem = PiconetActorSystem
  distributed func turnOn() -> Bool { true }
  distributed func dim(_ percent: Int) -> Int { percent }
  distributed func dim(by percent: Int) -> Int { -percent }
}

distributed actor NewestLamp: ThirdLamp {
  typealias ActorSystem = PiconetActorSystem
  distributed func dim(_ percent: Int) -> [String] { ["\(percent)"] }
}
