import Foundation
import PiconetEngine
import PiconetWire
import TestSupport
import Testing

@testable import Piconet

@Suite("Cancellation at any point", .timeLimit(.minutes(15)))
struct CancellationTests {
  @Test("a task cancelled anywhere between connecting and stored ends at once, and leaves nothing: 200 seeds")
  func anywhere() async throws {
    try await inOwnProcess {
      let folder = try TemporaryFolder()
      let path = try folder.write("a.bin", [UInt8](repeating: 1, count: 300_000))
      var before = 0
      try await Host.run(policy: .overwrite) { host in
        try await Host.client { client in
          for seed in UInt64(0)..<200 {
            // The first runs open some descriptors for good: the count begins after them.
            if seed == 20 { before = descriptorCount() }
            var random = SeededRandom(seed: seed)
            let yields = Int(random.next() % 600)
            let task = Task { () -> PiconetError? in
              do throws(PiconetError) {
                let member = try await client.invite(at: host.address)
                _ = try await member.send(.file(path))
                try await member.send([1])
                await member.disconnect()
                return nil
              } catch {
                return error
              }
            }
            for _ in 0..<yields { await Task.yield() }
            task.cancel()
            let error = await task.value
            // A membership that the cancelled task has left behind would be in the way of the next one.
            for member in client.session.members { await member.disconnect() }
            let allowed: Set<PiconetError.Code> = [.cancelled, .inProgress, .left, .alreadyConnected]
            if let error, !allowed.contains(error.code) { throw RawLink.Failure("seed \(seed): \(error)") }
          }
          try await host.servesAnHonestPeer()
          // Everything that was begun is over: no transfer, no invitation.
          try #require(host.node.core.log.offerCount == 0)
          try #require(host.node.core.invitations.count == 0)
          try #require(host.entries().allSatisfy { !$0.hasPrefix(".") })
        }
      }
      try #require(descriptorCount() < before + 8)
      try expectNothingLeft(since: before)
    }
  }
}
