import Piconet

/// `count` writes of `size` bytes to one stream. The time ends when the remote side has read all of them.
struct StreamRate {
  let options: BenchmarkOptions

  func run() async throws {
    try await BothEnds.run(options) { node, member in
      if options.isServer {
        try await withTaskExecutorPreference(node.executor) { try await read(node, member) }
      } else {
        try await write(node, member)
      }
    }
  }

  private func write(_ node: Node, _ member: Member) async throws {
    let piece = [UInt8](repeating: 1, count: options.size)[...]
    let stream = try await member.openStream(named: "benchmark")
    let measurement = Measurement()
    for _ in 0..<options.count { try await stream.write(piece) }
    try await stream.finish()
    // A node between the two has read all before the other end has.
    var replies = node.session.messages.makeAsyncIterator()
    guard await replies.next() != nil else { throw BenchmarkFailure("the remote side has not read all") }
    measurement.report(options, ",\"size\":\(options.size),\"count\":\(options.count)")
  }

  private func read(_ node: Node, _ member: Member) async throws {
    let measurement = Measurement()
    var count = 0
    for await stream in node.session.streams {
      for try await bytes in stream { count += bytes.count }
      break
    }
    guard count == options.size * options.count else { throw BenchmarkFailure("\(count) bytes") }
    try await member.send([0])
    measurement.report(options, ",\"size\":\(options.size),\"count\":\(options.count)")
    for await case .left in node.session.membership { break }
  }
}
