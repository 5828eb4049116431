import Foundation
import PiconetEngine
import PiconetWire
import TestSupport
import Testing

@testable import Piconet

@Suite("Ten nodes of a host, of which some end", .timeLimit(.minutes(15)))
struct HostChurnTests {
  @Test("a hundred rounds: five end at random under load, the others lose nothing, and nothing is left")
  func rounds() async throws {
    try await inOwnProcess {
      try await NodeHost.run { host in try await churn(host, seed: 1000) }
      let before = descriptorCount()
      for seed in UInt64(0)..<100 { try await NodeHost.run { host in try await churn(host, seed: seed) } }
      try expectNothingLeft(since: before)
    }
  }

  @Test("on one host that stays, and whose nodes search: after thirty rounds it has what it had after the first")
  func stays() async throws {
    try await inOwnProcess {
      let before = descriptorCount()
      var configuration = NodeHostConfiguration()
      configuration.interfaces = ["lo"]
      try await NodeHost.run(configuration) { host in
        try await churn(host, seed: 1_000, discovers: true)
        let (descriptors, threads) = (descriptorCount(), nodeThreadCount())
        for seed in UInt64(0)..<30 {
          try await churn(host, seed: seed, discovers: true)
          try #require(descriptorCount() < descriptors + 4 && nodeThreadCount() == threads)
        }
      }
      try expectNothingLeft(since: before)
    }
  }
}

private func configuration(_ name: String, _ session: String, discovers: Bool) -> NodeConfiguration {
  var configuration = NodeConfiguration(sessionID: session, name: name)
  configuration.listen = "127.0.0.1:0"
  configuration.discovers = discovers
  configuration.transports = [.tcp]
  configuration.patience.leave = .milliseconds(500)
  return configuration
}

/// A server and a client of one session, the client sending numbered messages.
private struct Couple: Sendable {
  let server: Node
  let client: Node
  let onClient: Member
  let onServer: Member

  static func make(_ number: Int, on host: NodeHost, discovers: Bool) async throws -> Couple {
    let server = try await host.node(configuration("Server \(number)", "churn-\(number)", discovers: discovers))
    let client = try await host.node(configuration("Client \(number)", "churn-\(number)", discovers: discovers))
    try await server.setAvailable(true)
    let address = try #require(await server.listeningAddresses.first).text
    async let accepted = server.invitations.first()?.accept()
    let onClient = try await client.invite(at: address)
    return Couple(server: server, client: client, onClient: onClient, onServer: try #require(try await accepted))
  }

  /// Sends all numbers, each in 10,000 bytes, or as many as it can until the couple ends.
  func send(_ count: Int) async throws {
    for number in 0..<count {
      try await onClient.send([UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 7, count: 10_000))
    }
  }

  /// What has come, in order, until there are `count` messages or the client is gone.
  func receive(_ count: Int) async -> [Int] {
    var numbers: [Int] = []
    for await event in server.session.events {
      if case .left = event { break }
      guard case .message(let message) = event else { continue }
      numbers.append(message.bytes.prefix(2).reduce(0) { $0 << 8 | Int($1) })
      if numbers.count == count { break }
    }
    return numbers
  }
}

/// Five couples talk. At moments that the seed chooses five nodes stop: one of some couples, both of others.
private func churn(_ host: NodeHost, seed: UInt64, discovers: Bool = false) async throws {
  var random = SeededRandom(seed: seed)
  var couples: [Couple] = []
  for number in 0..<5 { couples.append(try await Couple.make(number, on: host, discovers: discovers)) }
  let all = couples.flatMap { [$0.server, $0.client] }
  let ended = Array(all.shuffled(using: &random).prefix(5))
  let moments = ended.map { _ in Int(random.next() % 200) }
  let count = 100
  try await withThrowingTaskGroup(of: Void.self) { group in
    for (node, yields) in zip(ended, moments) {
      group.addTask {
        for _ in 0..<yields { await Task.yield() }
        await node.stop()
      }
    }
    for couple in couples {
      let survives = !ended.contains { $0 === couple.server || $0 === couple.client }
      group.addTask {
        let outcome = await failure { try await couple.send(count) }
        if survives { try #require(outcome == nil) }
      }
      group.addTask {
        let numbers = await couple.receive(count)
        // A server that loses its client has the first numbers, and no server has any others.
        try #require(numbers == Array(0..<numbers.count))
        if survives { try #require(numbers.count == count) }
      }
      // A client whose server ends is told; a server learns of its client's end from what it reads.
      if ended.contains(where: { $0 === couple.server }) {
        group.addTask {
          for await change in couple.client.session.membership {
            if case .left = change { break }
          }
        }
      }
    }
    try await group.waitForAll()
  }
  for couple in couples {
    let survives = !ended.contains { $0 === couple.server || $0 === couple.client }
    try #require(!survives || couple.server.session.members == [couple.onServer])
  }
  for node in all { await node.stop() }
}
