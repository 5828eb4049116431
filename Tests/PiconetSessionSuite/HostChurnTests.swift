import PiconetEngine
import TestSupport
import Testing

@testable import Piconet

extension SessionSuite {
  @Suite("Nodes of one host that come and go", .timeLimit(.minutes(60)))
  struct HostChurnTests {
    // Over Bluetooth BlueZ 5.66's bluetoothd died of it, of an advertisement that was taken back while it was renewed:
    // `SharedAdapters` is against that.
    // A hundred rounds with PICONET_SLOW_TESTS.
    @Test(
      "five rounds in which half of the nodes of two hosts end at random under load: the others lose nothing, nothing is left",
      arguments: SuiteTransport.all)
    func rounds(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport, limit: .seconds(isLongRun ? 1_800 : 600)) { world in
        // The first round opens some descriptors for good: the count begins after it.
        try await churn(in: world, seed: 1_000)
        var before = Holdings.now()
        try await world.until("what is held does not change") {
          let former = before
          before = Holdings.now()
          return before == former
        }
        for seed in UInt64(0)..<(isLongRun ? 100 : 5) {
          try await churn(in: world, seed: seed)
          var after = before
          do {
            try await world.until("nothing is left") {
              after = Holdings.now()
              return after.threads == before.threads && after.registrations == before.registrations
            }
          } catch { throw SuiteWorld.Failure(description: "round \(seed): \(error): \(before); \(after)") }
          // libdispatch may open up to three for itself at any time.
          try #require(after.descriptors < before.descriptors + 8, "round \(seed): \(before); \(after)")
        }
      }
    }
  }
}

/// A server and a client of one session, at two hosts.
private struct Couple: Sendable {
  let server: Node
  let client: Node
  let onClient: Member
  let onServer: Member

  static func make(_ number: Int, in world: SuiteWorld, _ first: NodeHost, _ second: NodeHost) async throws -> Couple {
    var configuration = world.configuration(0, "Server \(number)")
    configuration.sessionID += "-\(number)"
    configuration.mode = .server
    let server = try await first.node(configuration)
    configuration = world.configuration(1, "Client \(number)")
    configuration.sessionID += "-\(number)"
    let client = try await second.node(configuration)
    try await server.setAvailable(true)
    let addresses = try await world.addresses(of: server)
    async let accepted = server.invitations.first()?.accept()
    let onClient = try await client.invite(at: addresses, timeout: world.transport.patience)
    return Couple(server: server, client: client, onClient: onClient, onServer: try #require(try await accepted))
  }

  func has(_ node: Node) -> Bool { node === server || node === client }

  func send(_ count: Int) async throws {
    for number in 0..<count { try await onClient.send([UInt8(number)] + [UInt8](repeating: 7, count: 2_000)) }
  }

  /// The numbers of what has come, until there are `count` messages or the client is gone.
  func receive(_ count: Int) async -> [Int] {
    var numbers: [Int] = []
    for await event in server.session.events {
      if case .left = event { break }
      guard case .message(let message) = event else { continue }
      numbers.append(message.bytes.first.map { Int($0) } ?? -1)
      if numbers.count == count { break }
    }
    return numbers
  }
}

/// Three couples talk. At moments that the seed chooses three of their nodes stop: one of some couples, both of others.
private func churn(in world: SuiteWorld, seed: UInt64) async throws {
  var random = SeededRandom(seed: seed)
  try await NodeHost.run(world.configuration(0, "").device.host) { first in
    try await NodeHost.run(world.configuration(1, "").device.host) { second in
      var couples: [Couple] = []
      for number in 0..<3 { couples.append(try await Couple.make(number, in: world, first, second)) }
      let ended = Array(couples.flatMap { [$0.server, $0.client] }.shuffled(using: &random).prefix(3))
      let moments = ended.map { _ in Int(random.next() % 100) }
      let count = world.transport.amount(200)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (node, yields) in zip(ended, moments) {
          group.addTask {
            for _ in 0..<yields { await Task.yield() }
            await node.stop()
          }
        }
        for couple in couples {
          let survives = !ended.contains(where: couple.has)
          group.addTask {
            do {
              try await couple.send(count)
            } catch {
              if survives { throw error }
            }
          }
          group.addTask {
            let numbers = await couple.receive(count)
            // A server that loses its client has the first numbers, and no server has any others.
            try #require(numbers == Array(0..<numbers.count))
            if survives { try #require(numbers.count == count) }
          }
        }
        try await group.waitForAll()
      }
      for couple in couples where !ended.contains(where: couple.has) {
        try #require(couple.server.session.members == [couple.onServer])
        try #require(couple.client.session.members == [couple.onClient])
      }
    }
  }
}
