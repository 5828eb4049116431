import Piconet

/// The server sends back what comes; the client times each round trip. A tenth more goes first, untimed.
struct PingPong {
  let options: BenchmarkOptions

  func run() async throws {
    try await BothEnds.run(options) { node, member in
      // On the node's own thread: a message is answered without a change of threads.
      try await withTaskExecutorPreference(node.executor) {
        if options.isServer { try await answer(node, member) } else { try await ask(node, member) }
      }
    }
  }

  private var warmUp: Int { options.count / 10 + 1 }

  private func answer(_ node: Node, _ member: Member) async throws {
    var measurement = Measurement()
    var left = warmUp + options.count
    for await message in node.session.messages {
      try await member.send(message.bytes)
      left -= 1
      if left == options.count { measurement = Measurement() }
      if left == 0 { break }
    }
    measurement.report(options, ",\"size\":\(options.size),\"count\":\(options.count)")
    // The client leaves once it has the last answer.
    for await case .left in node.session.membership { break }
  }

  private func ask(_ node: Node, _ member: Member) async throws {
    let message = [UInt8](repeating: 7, count: options.size)[...]
    var trips: [UInt64] = []
    trips.reserveCapacity(options.count)
    var replies = node.session.messages.makeAsyncIterator()
    var measurement = Measurement()
    var before: UInt64 = 0
    for round in 0..<(warmUp + options.count) {
      if round == warmUp {
        measurement = Measurement()
        before = Measurement.nanoseconds()
      }
      try await member.send(message)
      guard await replies.next()?.bytes.count == options.size else { throw BenchmarkFailure("no answer") }
      if round >= warmUp, !options.isUntimed {
        let now = Measurement.nanoseconds()
        trips.append(now - before)
        before = now
      }
    }
    if options.isUntimed {
      return measurement.report(options, ",\"size\":\(options.size),\"count\":\(options.count)")
    }
    trips.sort()
    func microseconds(_ part: Double) -> Double {
      Double(trips[min(trips.count - 1, Int(part * Double(trips.count)))]) / 1e3
    }
    measurement.report(
      options,
      ",\"size\":\(options.size),\"count\":\(options.count),\"p50_us\":\(microseconds(0.5)),\"p99_us\":\(microseconds(0.99))"
    )
  }
}
