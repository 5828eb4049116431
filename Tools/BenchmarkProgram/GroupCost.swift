import Glibc
import Piconet

/// What a member costs in a group of `--peers` nodes, all of them in this process, which one after the other invites
/// the first: memory for each membership, and control frames, while the group grows and while nothing is said. They
/// reach one another at `--listen`, an address that is not of loopback.
struct GroupCost {
  let options: BenchmarkOptions

  private func configuration(_ number: Int) -> NodeConfiguration {
    var configuration = NodeConfiguration(sessionID: "benchmark", name: "member \(number)")
    configuration.discovers = false
    configuration.transports = [.tcp]
    configuration.membership = .group
    configuration.introductions = .takeWord
    configuration.capacity = max(2, options.peers)
    configuration.listen = "\(options.host):0"
    return configuration
  }

  func run() async throws {
    var nodes: [Node] = []
    // Threads, keys and listeners are no cost of membership.
    for number in 0..<options.peers {
      let node = try await Node(configuration(number))
      try await node.setAvailable(true)
      nodes.append(node)
    }
    let first = nodes[0]
    let accepting = Task { for await invitation in first.invitations { _ = try? await invitation.accept() } }
    guard let address = await first.listeningAddresses.first?.text else { throw BenchmarkFailure("no address") }
    let before = Measurement.resident()
    let measurement = Measurement()
    let start = Measurement.nanoseconds()
    for node in nodes.dropFirst() { _ = try await node.invite(at: address, timeout: .seconds(120)) }
    for node in nodes {
      while node.session.members.count < nodes.count - 1 { try await ContinuousClock().sleep(for: .milliseconds(20)) }
    }
    let seconds = Double(Measurement.nanoseconds() - start) / 1e9
    let memory = Measurement.resident() - before
    let grown = await frames(nodes)
    try await ContinuousClock().sleep(for: .seconds(options.seconds))
    let idle = await frames(nodes) - grown
    let memberships = Double(nodes.count * (nodes.count - 1))
    measurement.report(
      options,
      ",\"peers\":\(options.peers),\"seconds\":\(seconds),\"kib_per_membership\":\(Double(memory) / memberships),"
        + "\"frames_per_membership\":\(Double(grown) / memberships),"
        + "\"idle_frames_per_membership_s\":\(Double(idle) / memberships / Double(options.seconds))")
    accepting.cancel()
    await withTaskGroup(of: Void.self) { group in
      for node in nodes { group.addTask { await node.stop() } }
    }
  }

  /// Control frames that all nodes have sent.
  private func frames(_ nodes: [Node]) async -> UInt64 {
    var count: UInt64 = 0
    for node in nodes {
      for member in node.session.members {
        count += await node.session.statistics(for: member)?.sent.controlFrames ?? 0
      }
    }
    return count
  }
}
