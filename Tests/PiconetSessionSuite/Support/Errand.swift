import Distributed
import Piconet
import PiconetActors

enum ErrandFailure: Error, Codable, Hashable { case closed(until: Int) }

/// An object of the suite: what is called over every transport.
@Resolvable
protocol Errand: RemoteObject where ActorSystem == PiconetActorSystem {
  distributed func join(_ first: String, _ second: String) async throws -> String
  distributed func reversed(_ bytes: [UInt8]) async throws -> [UInt8]
  distributed func fail() async throws
  distributed func waitForEver() async throws -> Int
  distributed func waitForLeave() async throws -> Int
}

extension Errand { static var interface: RemoteInterface { errand } }

private let errand = RemoteInterface(
  "suite.errand", version: 2, of: (any Errand).self, errors: ["errandFailure": ErrandFailure.self],
  methods: [
    .method("join", "first", "second") { try await $0.join($1, $2) },
    .method("reversed", "bytes", since: 2) { try await $0.reversed($1) },
    .method("fail") { try await $0.fail() },
    .method("waitForEver") { try await $0.waitForEver() },
    .method("waitForLeave") { try await $0.waitForLeave() },
  ])

/// What errands tell the test: a call that waits has begun, or one that waits for ever was cancelled.
final class ErrandLog: Sendable {
  let waits = AsyncStream.makeStream(of: Void.self)
  let cancellations = AsyncStream.makeStream(of: Void.self)
  /// Lets a call of `waitForLeave` end with this.
  let leave = AsyncStream.makeStream(of: Int.self)
}

distributed actor Errands: Errand {
  typealias ActorSystem = PiconetActorSystem
  private let log: ErrandLog

  init(log: ErrandLog, actorSystem: PiconetActorSystem) {
    self.log = log
    self.actorSystem = actorSystem
  }

  distributed func join(_ first: String, _ second: String) -> String { first + second }

  distributed func reversed(_ bytes: [UInt8]) -> [UInt8] { bytes.reversed() }

  distributed func fail() throws { throw ErrandFailure.closed(until: 9) }

  distributed func waitForEver() async -> Int {
    log.waits.continuation.yield()
    await withTaskCancellationHandler {
      for await _ in AsyncStream<Void>.makeStream().stream {}
    } onCancel: {
      log.cancellations.continuation.yield()
    }
    return 1
  }

  distributed func waitForLeave() async throws -> Int {
    log.waits.continuation.yield()
    for await number in log.leave.stream { return number }
    throw CancellationError()
  }
}
