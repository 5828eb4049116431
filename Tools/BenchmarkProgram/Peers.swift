import Glibc
import Piconet

/// One node that `--peers` others are connected to: what each costs in memory, in processor time while nothing is said,
/// and in the time of a round trip between one of them and it. The others are one process, each a node of its own.
struct Peers {
  let options: BenchmarkOptions

  func run() async throws {
    if options.isServer { try await serve() } else { try await join() }
  }

  private func configuration(_ name: String) -> NodeConfiguration {
    var configuration = NodeConfiguration(sessionID: "benchmark", name: name)
    configuration.discovers = false
    configuration.mode = options.isServer ? .server : .client
    configuration.transports = [.tcp]
    configuration.capacity = options.isServer ? options.peers + 1 : 2
    configuration.listen = options.isServer ? "\(options.host):\(options.port)" : nil
    return configuration
  }

  private enum Word { static let begin: [UInt8] = [1], end: [UInt8] = [2] }

  private func serve() async throws {
    try await Node.run(configuration("server")) { node in
      try await node.setAvailable(true)
      guard let port = await node.listeningAddresses.first?.text.split(separator: ":").last else {
        throw BenchmarkFailure("no address to listen on")
      }
      print("READY \(port)")
      fflush(nil)
      let accepting = Task { for await invitation in node.invitations { _ = try? await invitation.accept() } }
      defer { accepting.cancel() }
      var first: Member?
      var joined = 0
      // The first one also pays what is paid only once: for code that had not run, and OpenSSL's own setup.
      var residentBefore = 0
      for await change in node.session.membership {
        guard case .joined(let member) = change else { continue }
        first = first ?? member
        joined += 1
        if joined == 1 { residentBefore = Measurement.resident() }
        if joined == options.peers { break }
      }
      guard let first else { throw BenchmarkFailure("nobody has come") }
      // Handshakes are over by then.
      try await ContinuousClock().sleep(for: .seconds(2))
      let resident = Measurement.resident()
      let before = (Measurement.processorTime(), Measurement.sleeps())
      try await ContinuousClock().sleep(for: .seconds(options.seconds))
      let idle = (Measurement.processorTime() - before.0, Measurement.sleeps() - before.1)
      let measurement = Measurement()
      try await first.send(Word.begin)
      try await withTaskExecutorPreference(node.executor) {
        for await message in node.session.messages {
          if message.bytes.count == 1 { break }
          try await first.send(message.bytes)
        }
      }
      let peers = Double(options.peers)
      measurement.report(
        options,
        ",\"peers\":\(options.peers),\"resident_kib\":\(resident),"
          + "\"kib_per_peer\":\(Double(resident - residentBefore) / max(1, peers - 1)),"
          + "\"idle_cpu_us_per_peer_s\":\(idle.0 * 1e6 / peers / Double(options.seconds)),"
          + "\"idle_wakeups_per_s\":\(Double(idle.1) / Double(options.seconds))")
      await node.session.disconnectAll()
    }
  }

  private func join() async throws {
    var nodes: [(node: Node, member: Member)] = []
    for number in 0..<options.peers {
      let node = try await Node(configuration("peer \(number)"))
      nodes.append((node, try await node.invite(at: options.address ?? "127.0.0.1:\(options.port)")))
    }
    guard let (node, member) = nodes.first else { throw BenchmarkFailure("--peers needs a number above 0") }
    let measurement = Measurement()
    let trips = try await withTaskExecutorPreference(node.executor) { try await ask(node, member) }
    func microseconds(_ part: Double) -> Double {
      Double(trips[min(trips.count - 1, Int(part * Double(trips.count)))]) / 1e3
    }
    measurement.report(
      options,
      ",\"size\":\(options.size),\"count\":\(options.count),\"p50_us\":\(microseconds(0.5)),\"p99_us\":\(microseconds(0.99))"
    )
    await withTaskGroup(of: Void.self) { group in
      for (node, _) in nodes { group.addTask { await node.stop() } }
    }
  }

  /// - Returns: the round trips in nanoseconds, shortest first.
  private func ask(_ node: Node, _ member: Member) async throws -> [UInt64] {
    var replies = node.session.messages.makeAsyncIterator()
    guard await replies.next()?.bytes.elementsEqual(Word.begin) == true else { throw BenchmarkFailure("no beginning") }
    let message = [UInt8](repeating: 7, count: max(2, options.size))[...]
    var trips: [UInt64] = []
    trips.reserveCapacity(options.count)
    let warmUp = options.count / 10
    for round in 0..<(warmUp + options.count) {
      let before = Measurement.nanoseconds()
      try await member.send(message)
      guard await replies.next()?.bytes.count == message.count else { throw BenchmarkFailure("no answer") }
      if round >= warmUp { trips.append(Measurement.nanoseconds() - before) }
    }
    try await member.send(Word.end)
    return trips.sorted()
  }
}
