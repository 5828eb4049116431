import Glibc
import Piconet

/// Short messages, one every 2 ms, over the first of two ways, which is cut as soon as the client has printed `CUT`.
/// The client reports when it took the way for lost and when it had the other one, the server when each message came.
/// All times are from the clock that both processes and the one that cuts share.
struct Failover {
  let options: BenchmarkOptions

  func run() async throws {
    try await BothEnds.run(options) { node, member in
      try await withTaskExecutorPreference(node.executor) {
        if options.isServer { try await receive(node) } else { try await send(node, member) }
      }
    }
  }

  private enum Word { static let message: UInt8 = 1, last: UInt8 = 2 }

  private func send(_ node: Node, _ member: Member) async throws {
    let measurement = Measurement()
    let lossAndReturn = Task { () -> (lost: UInt64, back: UInt64)? in
      var lost: UInt64?
      for await change in node.session.membership {
        switch change {
        case .suspended: lost = lost ?? Measurement.nanoseconds()
        case .resumed: if let lost { return (lost, Measurement.nanoseconds()) }
        case .left: return nil
        case .joined, .moved: break
        }
      }
      return nil
    }
    let sending = Task {
      while !Task.isCancelled {
        try await member.send([Word.message])
        try? await ContinuousClock().sleep(for: .milliseconds(2))
      }
    }
    try await ContinuousClock().sleep(for: .milliseconds(300))
    print("CUT")
    fflush(nil)
    guard let moments = await lossAndReturn.value else { throw BenchmarkFailure("the connection is lost for good") }
    try await ContinuousClock().sleep(for: .milliseconds(200))
    sending.cancel()
    try await sending.value
    try await member.send([Word.last])
    for await _ in node.session.messages { break }
    measurement.report(options, ",\"noticed_ns\":\(moments.lost),\"resumed_ns\":\(moments.back)")
  }

  private func receive(_ node: Node) async throws {
    let measurement = Measurement()
    var arrivals: [UInt64] = []
    for await message in node.session.messages {
      arrivals.append(Measurement.nanoseconds())
      guard message.bytes.first == Word.last else { continue }
      measurement.report(options, ",\"arrivals_ns\":\(arrivals)")
      try await node.session.send([Word.last])
      break
    }
    for await case .left in node.session.membership { break }
  }
}
