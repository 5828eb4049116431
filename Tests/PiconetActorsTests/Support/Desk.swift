import Distributed
import Piconet
import PiconetActors
import TestSupport

struct Entry: Codable, Hashable, Sendable {
  var title: String
  var pages: [UInt8]
  var next: [Entry]
}

enum DeskFailure: Error, Codable, Hashable {
  case locked(by: String)
}

/// An error that no interface declares.
struct Private: Error { let secret = "it is under the mat" }

// Not public on purpose: the compiler's own way to serve calls fails for such a protocol in release builds.
@Resolvable
protocol Desk: RemoteObject where ActorSystem == PiconetActorSystem {
  distributed func concatenate(_ first: String, _ second: String) async throws -> String
  distributed func file(_ entry: Entry, copies: Int) async throws -> [Entry]
  distributed func reset() async throws
  distributed func fail(privately: Bool) async throws
  distributed func waitForEver() async throws -> Int
  distributed func waitForGate() async throws -> Int
  distributed func resetCount() async throws -> Int
  distributed func callers() async throws -> [String]
  distributed func visit(_ guest: $Guest, times: Int) async throws -> Int
  distributed func callBack(_ guest: RemoteObjectID, times: Int) async throws -> Int
  distributed func length(of bytes: [UInt8]) async throws -> Int
  distributed func bytes(_ count: Int) async throws -> [UInt8]
  distributed func lengthCount() async throws -> Int
  distributed func keep(_ bytes: [UInt8]) async throws
}

extension Desk { static var interface: RemoteInterface { desk } }

private let desk = RemoteInterface(
  "test.desk", of: (any Desk).self, errors: ["deskFailure": DeskFailure.self],
  methods: [
    .method("concatenate", "first", "second") { try await $0.concatenate($1, $2) },
    .method("file", "entry", "copies") { try await $0.file($1, copies: $2) },
    .method("reset") { try await $0.reset() },
    .method("fail", "privately") { try await $0.fail(privately: $1) },
    .method("waitForEver") { try await $0.waitForEver() },
    .method("waitForGate") { try await $0.waitForGate() },
    .method("resetCount") { try await $0.resetCount() },
    .method("callers") { try await $0.callers() },
    .method("visit", "guest", "times") { try await $0.visit($1, times: $2) },
    .method("callBack", "guest", "times") { try await $0.callBack($1, times: $2) },
    .method("length", "bytes") { try await $0.length(of: $1) },
    .method("bytes", "count") { try await $0.bytes($1) },
    .method("lengthCount") { try await $0.lengthCount() },
    .method("keep", "bytes") { try await $0.keep($1) },
  ])

/// What a desk tells the test that has made it.
final class DeskLog: Sendable {
  let waits = AsyncStream.makeStream(of: Void.self)
  let cancellations = AsyncStream.makeStream(of: Void.self)
  /// Why a call that waits for ever has ended, as its method sees it.
  let endings = AsyncStream.makeStream(of: RemoteCallError?.self)
  /// Lets a call of `waitForGate` end.
  let gate = AsyncStream.makeStream(of: Void.self)
}

distributed actor WorkingDesk: Desk {
  typealias ActorSystem = PiconetActorSystem
  private let log: DeskLog
  private var resets = 0
  private var lengths = 0

  init(log: DeskLog = DeskLog(), actorSystem: PiconetActorSystem) {
    self.log = log
    self.actorSystem = actorSystem
  }

  distributed func concatenate(_ first: String, _ second: String) -> String { first + second }

  distributed func file(_ entry: Entry, copies: Int) -> [Entry] { Array(repeating: entry, count: copies) }

  distributed func reset() { resets += 1 }

  distributed func fail(privately: Bool) throws {
    if privately { throw Private() }
    throw DeskFailure.locked(by: "Ada")
  }

  distributed func waitForEver() async -> Int {
    log.waits.continuation.yield()
    await withTaskCancellationHandler {
      for await _ in AsyncStream<Void>.makeStream().stream {}
    } onCancel: {
      log.cancellations.continuation.yield()
    }
    log.endings.continuation.yield(IncomingCall.current?.ending)
    return 1
  }

  distributed func waitForGate() async -> Int {
    log.waits.continuation.yield()
    for await _ in log.gate.stream { return 7 }
    return 0
  }

  distributed func resetCount() -> Int { resets }

  distributed func callers() -> [String] {
    guard let call = IncomingCall.current else { return [] }
    return [call.caller.name, call.path, call.interface, call.method]
  }

  distributed func visit(_ guest: $Guest, times: Int) async throws -> Int {
    var sum = 0
    for number in 0..<times { sum += try await guest.greet(number) }
    return sum
  }

  distributed func callBack(_ guest: RemoteObjectID, times: Int) async throws -> Int {
    try await visit($Guest.resolve(id: guest, using: actorSystem), times: times)
  }

  distributed func length(of bytes: [UInt8]) -> Int {
    lengths += 1
    return bytes.count
  }

  distributed func lengthCount() -> Int { lengths }

  distributed func keep(_ bytes: [UInt8]) async { _ = await waitForEver() }

  distributed func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 7, count: count) }

  /// In no protocol.
  distributed func secret() {}
}

@Resolvable
protocol Guest: RemoteObject where ActorSystem == PiconetActorSystem {
  distributed func greet(_ number: Int) async throws -> Int
}

extension Guest { static var interface: RemoteInterface { guest } }

private let guest = RemoteInterface(
  "test.guest", of: (any Guest).self, methods: [.method("greet", "number") { try await $0.greet($1) }])

distributed actor Visitor: Guest {
  typealias ActorSystem = PiconetActorSystem

  distributed func greet(_ number: Int) -> Int { number * 10 }
}
