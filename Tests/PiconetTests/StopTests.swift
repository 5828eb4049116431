import Foundation
import Glibc
import PiconetEngine
import PiconetWire
import TestSupport
import Testing

@testable import Piconet

@Suite("The end of a node", .timeLimit(.minutes(15)))
struct StopTests {
  @Test("stopping in the middle of everything ends every wait with shuttingDown, and leaves nothing: 100 seeds")
  func middleOfEverything() async throws {
    try await inOwnProcess {
      let folder = try TemporaryFolder()
      let path = try folder.write("a.bin", [UInt8](repeating: 1, count: 2_000_000))
      try await stopInTheMiddle(seed: 1000, path: path, in: folder.folder("in"))
      let before = descriptorCount()
      for seed in UInt64(0)..<100 {
        try await stopInTheMiddle(seed: seed, path: path, in: folder.folder("in"))
        try #require(
          try FileManager.default.contentsOfDirectory(atPath: folder.path + "/in").allSatisfy { !$0.hasPrefix(".") })
      }
      try expectNothingLeft(since: before)
    }
  }

  /// Nothing but this patience ends a wait within minutes, so that what did shows on a busy machine, too.
  private static func alonePatience(_ leave: Duration) -> @Sendable (inout NodeConfiguration) -> Void {
    { configuration in
      configuration.patience.leave = leave
      configuration.disconnectTimeout = .seconds(300)
    }
  }

  @Test("a member that does not answer the farewell keeps the node no longer than its patience")
  func silentMember() async throws {
    try await Host.run(Self.alonePatience(.milliseconds(300))) { host in
      let raw = try await blocking {
        let raw = try RawLink(to: host.address)
        try raw.join()
        return raw
      }
      // From here on the peer reads nothing, answers nothing, closes nothing.
      let clock = ContinuousClock()
      let start = clock.now
      await host.node.stop()
      #expect(clock.now - start < .seconds(100))
      #expect(host.node.session.members.isEmpty)
      withExtendedLifetime(raw) {}
    }
  }

  @Test("waiting sends, and files on their way in, end at once when the node stops, although a member keeps it waiting")
  func waitsEndAtOnce() async throws {
    try await Host.run(Self.alonePatience(.seconds(300))) { host in
      let raw = try await blocking {
        let raw = try RawLink(to: host.address)
        try raw.join()
        try raw.send(.offer(transfer: 0, ResourceOffer(name: [65], size: 1000)))
        _ = try raw.wait(for: "acceptance") { if case .acceptOffer = $0 { true } else { nil } }
        return raw
      }
      let member = try #require(host.node.session.members.first)
      let sending = Task {
        await failure { while true { try await member.send([UInt8](repeating: 1, count: 50_000)) } }
      }
      while member.budgets[0].waitingCount == 0 { await Task.yield() }
      let clock = ContinuousClock()
      let start = clock.now
      let stopping = Task { await host.node.stop() }
      #expect(await sending.value?.code == .shuttingDown)
      guard case .failure(let error)? = await host.outcomes.first() else {
        Issue.record("stored")
        return
      }
      #expect(error.code == .shuttingDown && error.blame == .us, "\(error)")
      #expect(clock.now - start < .seconds(100))
      shutdown(raw.socket, Int32(SHUT_RDWR))
      await stopping.value
    }
  }
}

/// Two nodes with everything under way; one stops at a moment that the seed chooses.
func stopInTheMiddle(seed: UInt64, path: String, in directory: String) async throws {
  var random = SeededRandom(seed: seed)
  func configuration(_ name: String) -> NodeConfiguration {
    var configuration = Host.configuration(name)
    // The peer reads no messages here: what is queued can't go before the farewell.
    configuration.patience.leave = .milliseconds(500)
    configuration.disconnectTimeout = .seconds(300)
    return configuration
  }
  let server = try await Node(configuration("Server"))
  let client = try await Node(configuration("Client"))
  try await server.setAvailable(true)
  guard let address = await server.listeningAddresses.first?.text else { throw RawLink.Failure("no address") }
  let yields = Int(random.next() % 3000)
  let stopsServer = random.next() % 2 == 0
  let accepts = random.next() % 4 != 0
  let codes = try await withThrowingTaskGroup(of: [PiconetError.Code].self) { group in
    group.addTask {
      for await invitation in server.invitations {
        if accepts { _ = try? await invitation.accept() } else { _ = await invitation.ended() }
      }
      return []
    }
    group.addTask {
      let into = try? await server.receivingDirectory(at: directory)
      for await offer in server.session.offers {
        if let into { _ = try? await offer.store(in: into, onConflict: .overwrite) }
      }
      return []
    }
    group.addTask {
      for await _ in server.session.membership {}
      for await _ in server.peers {}
      return []
    }
    group.addTask {
      do throws(PiconetError) {
        let member = try await client.invite(at: address)
        return await withTaskGroup(of: PiconetError.Code?.self) { group in
          group.addTask { await failure { while true { _ = try await member.send(.file(path)) } }?.code }
          // The peer reads nothing: sooner or later these have to wait.
          group.addTask {
            await failure { while true { try await member.send([UInt8](repeating: 1, count: 90_000)) } }?.code
          }
          group.addTask {
            await failure {
              while true {
                try await member.send([1], mode: .unreliable)
                await Task.yield()
              }
            }?.code
          }
          var codes: [PiconetError.Code] = []
          for await code in group { if let code { codes.append(code) } }
          return codes
        }
      } catch {
        return [error.code]
      }
    }
    group.addTask {
      // No node listens there: the error is `unreachable`, or the node's end.
      await failure { try await client.invite(at: "127.0.0.1:1") }.map { [$0.code] } ?? []
    }
    for _ in 0..<yields { await Task.yield() }
    let first = stopsServer ? server : client
    let clock = ContinuousClock()
    let start = clock.now
    await first.stop()
    let took = clock.now - start
    await (stopsServer ? client : server).stop()
    guard took < .seconds(100) else { throw RawLink.Failure("seed \(seed): stopping took \(took)") }
    var codes: [PiconetError.Code] = []
    for try await more in group { codes += more }
    return codes
  }
  let allowed: Set<PiconetError.Code> = [.shuttingDown, .unreachable, .left, .linkFailed, .notConnected]
  for code in codes where !allowed.contains(code) { throw RawLink.Failure("seed \(seed): \(code)") }
}
