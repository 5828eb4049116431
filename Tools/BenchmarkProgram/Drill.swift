import Distributed
import Piconet
import PiconetActors

// What .ci/run shows of calls in a release build beside the plainest one: release builds have faults of their own.

struct DrillItem: Codable, Hashable, Sendable {
  var title: String
  var bytes: [UInt8]
  var parts: [DrillItem]
  var size: Double?
}

enum DrillFailure: Error, Codable, Hashable {
  case closed(until: Int)
}

@Resolvable
protocol Drill: RemoteObject where ActorSystem == PiconetActorSystem {
  distributed func turned(_ item: DrillItem, times: Int) async throws -> [DrillItem]
  distributed func fail(at number: Int) async throws
  distributed func add(_ first: Int, to second: Int) async throws -> Int
  distributed func add(_ first: String, after second: String) async throws -> String
  distributed func caller() async throws -> String?
  distributed func waitForEver() async throws
}

extension Drill {
  static var interface: RemoteInterface { drill }
}

private let drill = RemoteInterface(
  "piconet.drill", version: 2, of: (any Drill).self, errors: ["drillFailure": DrillFailure.self],
  methods: [
    .method("turned", "item", "times") { try await $0.turned($1, times: $2) },
    .method("fail", "number") { try await $0.fail(at: $1) },
    .method("add(_:to:)", "first", "second", since: 2) { try await $0.add($1, to: $2) },
    .method("add(_:after:)", "first", "second", since: 2) { try await $0.add($1, after: $2) },
    .method("caller") { try await $0.caller() },
    .method("waitForEver") { try await $0.waitForEver() },
  ])

distributed actor DrillActor: Drill {
  typealias ActorSystem = PiconetActorSystem

  distributed func turned(_ item: DrillItem, times: Int) -> [DrillItem] {
    var turned = item
    turned.bytes.reverse()
    return Array(repeating: turned, count: times)
  }

  distributed func fail(at number: Int) throws { throw DrillFailure.closed(until: number) }

  distributed func add(_ first: Int, to second: Int) -> Int { first + second }

  distributed func add(_ first: String, after second: String) -> String { second + first }

  distributed func caller() -> String? { IncomingCall.current?.caller.name }

  distributed func waitForEver() async throws { try await Task.sleep(for: .seconds(3_600)) }
}

/// The same interface, as a later program has it.
@Resolvable
protocol LaterDrill: RemoteObject where ActorSystem == PiconetActorSystem {
  distributed func caller() async throws -> String?
  distributed func multiply(_ first: Int, by second: Int) async throws -> Int
}

extension LaterDrill {
  static var interface: RemoteInterface { laterDrill }
}

private let laterDrill = RemoteInterface(
  "piconet.drill", version: 3, of: (any LaterDrill).self,
  methods: [
    .method("caller") { try await $0.caller() },
    .method("multiply", "first", "second", since: 3) { try await $0.multiply($1, by: $2) },
  ])

/// Its table lacks a method.
@Resolvable
protocol HalfDrill: RemoteObject where ActorSystem == PiconetActorSystem {
  distributed func caller() async throws -> String?
  distributed func forgotten() async throws
}

extension HalfDrill {
  static var interface: RemoteInterface { halfDrill }
}

private let halfDrill = RemoteInterface(
  "piconet.drill", of: (any HalfDrill).self, methods: [.method("caller") { try await $0.caller() }])

/// One of each kind of call, signal and value, whose results are compared.
enum DrillRound {
  private static let told = RemoteSignal<DrillItem>("piconet.drill", "told")
  private static let state = RemoteSignal<[String: Int]>("piconet.drill", "state")
  private static let item = DrillItem(
    title: "Code", bytes: Array(0..<200), parts: [DrillItem(title: "Monkies", bytes: [], parts: [], size: 0.5)])

  static func serve(_ system: PiconetActorSystem) throws {
    try system.publish(DrillActor(actorSystem: system), at: "/drill")
    try system.set(state, ["open": 1], of: "/drill")
  }

  /// Tells signals for as long as somebody may listen: until the task is cancelled.
  static func tell(_ system: PiconetActorSystem) async throws {
    while true {
      try await system.emit(told, item, from: "/drill")
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  static func ask(_ system: PiconetActorSystem, _ member: Member) async throws {
    let drill = try system.object($Drill.self, at: "/drill", of: member)
    var turned = item
    turned.bytes.reverse()
    try expect(try await drill.turned(item, times: 3) == [turned, turned, turned], "structures")
    do {
      try await drill.fail(at: 7)
      throw BenchmarkFailure("no error was thrown")
    } catch DrillFailure.closed(until: let number) {
      try expect(number == 7, "a thrown error")
    }
    try expect(try await drill.add(2, to: 3) == 5, "a method with a name of two")
    try expect(try await drill.add("b", after: "a") == "ab", "the other one")
    try expect(try await drill.caller() == system.node.name, "the caller")
    let later = try system.object($LaterDrill.self, at: "/drill", of: member)
    try expect(try await later.caller() != nil, "a later client")
    try await expect(.wrongVersion) { _ = try await later.multiply(2, by: 3) }
    try await expect(.timedOut) { try await CallDeadline.within(.milliseconds(20)) { try await drill.waitForEver() } }
    let waiting = Task { try await drill.waitForEver() }
    waiting.cancel()
    try await expect(.cancelled) { try await waiting.value }
    try await expect(.notDeclared) { _ = try system.object($HalfDrill.self, at: "/drill", of: member) }
    let objects = try await system.objects(of: member, under: "/drill")
    try expect(objects.first?.interface.methods.count == 6 && objects.first?.interface.version == 2, "a description")
    for await value in system.values(of: state, at: "/drill", of: member) {
      try expect(value == ["open": 1], "a value")
      break
    }
    for await signal in system.signals(told) {
      try expect(signal.value == item && signal.path == "/drill" && signal.sender == member, "a signal")
      break
    }
    try expect(try await system.claim("piconet.drill") == .owner, "a name")
  }

  private static func expect(_ holds: Bool, _ what: String) throws {
    if !holds { throw BenchmarkFailure("the drill fails: \(what)") }
  }

  private static func expect(_ code: RemoteCallError.Code, _ body: () async throws -> Void) async throws {
    do {
      try await body()
    } catch let error as RemoteCallError where error.code == code {
      return
    }
    throw BenchmarkFailure("the drill fails: there is no error \(code)")
  }
}
