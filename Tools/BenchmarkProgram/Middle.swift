import Glibc
import Piconet

/// The node between the two ends of a measurement (`--over`): it relays, or copies what comes from one to the other as
/// a program would that has a link to each. It ends when one of them leaves.
struct Middle {
  enum Way: String { case relay, copy }

  let options: BenchmarkOptions

  /// What a node that takes part has in common with the others.
  static func change(_ configuration: inout NodeConfiguration, _ way: Way) {
    guard way == .relay else { return }
    configuration.transports = [.tcp, .relay]
    configuration.membership = .group
    configuration.introductions = .takeWord
  }

  func run() async throws {
    guard let way = options.way, let one = options.address, let other = options.otherAddress else {
      throw BenchmarkFailure("middle needs --over, --address and --other-address")
    }
    var configuration = NodeConfiguration(sessionID: "benchmark", name: "middle")
    configuration.discovers = false
    configuration.mode = .client
    configuration.transports = [.tcp]
    Self.change(&configuration, way)
    if way == .relay {
      // What it costs is measured, and not what it is allowed.
      var quotas = RelayQuotas()
      (quotas.memberRate, quotas.rate) = (1 << 30, 1 << 30)
      configuration.relaying = quotas
    }
    try await Node.run(configuration) { node in
      let ends = [try await node.invite(at: one), try await node.invite(at: other)]
      let copying = way == .copy ? copy(node, ends) : []
      let measurement = Measurement()
      for await case .left in node.session.membership { break }
      for task in copying { task.cancel() }
      measurement.report(options, "")
    }
  }

  /// Passes messages and streams on, on the node's own thread.
  private func copy(_ node: Node, _ ends: [Member]) -> [Task<Void, any Error>] {
    @Sendable func other(than sender: NodeID) -> Member { sender == ends[0].id ? ends[1] : ends[0] }
    let messages = Task(executorPreference: node.executor) {
      for await message in node.session.messages { try await other(than: message.sender).send(message.bytes) }
    }
    let streams = Task(executorPreference: node.executor) {
      for await stream in node.session.streams {
        let outgoing = try await other(than: stream.member.id).openStream(named: "copy")
        for try await bytes in stream { try await outgoing.write(bytes) }
        try await outgoing.finish()
      }
    }
    return [messages, streams]
  }
}
