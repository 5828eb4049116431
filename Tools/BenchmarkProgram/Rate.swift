import Piconet

/// Messages one way, queued together. The time ends when the remote side has counted all of them.
struct Rate {
  let options: BenchmarkOptions

  func run() async throws {
    try await BothEnds.run(options) { node, member in
      if options.isServer {
        // On the node's own thread, so that the messages of a read are counted where they were read.
        try await withTaskExecutorPreference(node.executor) { try await count(node, member) }
      } else {
        try await send(node, member)
      }
    }
  }

  private func send(_ node: Node, _ member: Member) async throws {
    let message = [UInt8](repeating: 1, count: options.size)[...]
    let measurement = Measurement()
    for _ in 0..<options.count { try await member.send(message) }
    var replies = node.session.messages.makeAsyncIterator()
    guard await replies.next() != nil else { throw BenchmarkFailure("the remote side has not counted all") }
    measurement.report(options, ",\"size\":\(options.size),\"count\":\(options.count)")
  }

  private func count(_ node: Node, _ member: Member) async throws {
    let measurement = Measurement()
    var counted = 0
    var sum = 0
    for await message in node.session.messages {
      guard message.bytes.count == options.size, let first = message.bytes.first else {
        throw BenchmarkFailure("a length")
      }
      sum += Int(first)
      counted += 1
      if counted == options.count { break }
    }
    guard sum == counted else { throw BenchmarkFailure("a content") }
    try await member.send([0])
    measurement.report(options, ",\"size\":\(options.size),\"count\":\(options.count)")
    for await case .left in node.session.membership { break }
  }
}
