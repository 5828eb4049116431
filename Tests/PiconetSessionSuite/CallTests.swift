import PiconetActors
import PiconetEngine
import TestSupport
import Testing

@testable import Piconet

extension SessionSuite {
  /// What `PiconetActors` needs of a link: two channels, long messages beside short ones, and the change of links.
  @Suite(
    "Calls of objects", .timeLimit(.minutes(15)),
    .machine("--adapters 3 --env PICONET_SUITE=rfcomm", or: .anywhere))
  struct CallTests {
    private func pair(over transport: SuiteTransport, _ body: @escaping @Sendable (ErrandPair) async throws -> Void)
      async throws
    {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, onServer) = try await pair.connect()
          try await ErrandPair.run(onClient, of: pair.client, onServer, of: pair.server, body)
        }
      }
    }

    @Test(
      "a result, an error, long arguments beside short ones, a cancellation and a deadline each come to the other side",
      arguments: SuiteTransport.all)
    func calls(over transport: SuiteTransport) async throws {
      try await pair(over: transport) { try await $0.calls(size: transport.amount(1_000_000)) }
    }

    @Test(
      "signals come in order, the value of a kept one first, a name has one owner, objects are described, and one that goes is missed",
      arguments: SuiteTransport.all)
    func surroundings(over transport: SuiteTransport) async throws {
      try await pair(over: transport) { pair in
        try await pair.signals()
        try await pair.namesAndPresence(patience: transport.patience)
      }
    }

    @Test(
      "a call that is under way while the link is cut is answered over the next one, and one is made meanwhile",
      arguments: SuiteTransport.breakable)
    func cut(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, onServer) = try await pair.connect(breakable: true)
          try await ErrandPair.run(onClient, of: pair.client, onServer, of: pair.server) { errands in
            var changes = [pair.client, pair.server].map { $0.session.membership.makeAsyncIterator() }
            let call = await errands.heldCall()
            try await world.cut()
            #expect(try await errands.errand.join("a", "b") == "ab")
            for side in changes.indices {
              while let change = await changes[side].next() { if case .resumed = change { break } }
            }
            errands.giveLeave(with: 7)
            #expect(try await call.value == 7)
          }
        }
      }
    }
  }
}
