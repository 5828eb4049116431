import Testing

@testable import Piconet

@Suite("Streams without waiting", .timeLimit(.minutes(15)))
struct StreamWithoutWaitingTests {
  @Test("a stream takes at once as much as it has room for, and all of it arrives in order")
  func full() async throws {
    try await NodePair.run { pair in
      let (member, _) = try await pair.connect()
      let stream = try await member.openStream(named: "a")
      let content = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      #expect(stream.hasSpaceAvailable)
      var written = 0
      // The remote side reads nothing: the queue and its window fill up.
      while written < content.count {
        let taken = try stream.tryWrite(content[written...])
        if taken == 0 { break }
        written += taken
      }
      #expect(written >= NodeCore.streamBudget)
      let rest = Task { [written] in try await stream.write(content[written...]) }
      let reader = try #require(await pair.server.session.streams.first())
      var read: [UInt8] = []
      while read.count < content.count {
        let part = try #require(try reader.tryRead(upTo: 10_000))
        read += part
        // Waits if there is nothing now.
        if part.isEmpty, let more = try await reader.read(upTo: 1) { read += more }
      }
      #expect(read == content)
      try await rest.value
      #expect(!reader.hasBytesAvailable)
      #expect(try reader.tryRead(upTo: 1)?.isEmpty == true)
      async let end = reader.read(upTo: 1)
      try await stream.finish()
      #expect(try await end == nil)
      #expect(try reader.tryRead(upTo: 1) == nil)
      #expect(!stream.hasSpaceAvailable)
      #expect(await failure { try stream.tryWrite("a".utf8) }?.code == .invalidArgument)
    }
  }

  @Test("nothing is taken before those who wait, and nothing any more once the stream has ended")
  func inTurns() async throws {
    let budget = SendBudget(limit: 10)
    #expect(try budget.claim(upTo: 4) == 4)
    #expect(try budget.claim(upTo: 100) == 6)
    #expect(try budget.claim(upTo: 1) == 0 && !budget.hasRoom)
    let waiting = Task { try await budget.wait(for: 8) }
    while budget.waitingCount == 0 { await Task.yield() }
    budget.giveBack(5)
    #expect(try budget.claim(upTo: 1) == 0 && !budget.hasRoom)
    budget.giveBack(5)
    try await waiting.value
    #expect(budget.hasRoom)
    #expect(try budget.claim(upTo: 100) == 2)
    budget.end(PiconetError(.left, blame: .peer))
    #expect(await failure { try budget.claim(upTo: 1) }?.code == .left)
    #expect(!budget.hasRoom)
  }

  @Test("a read of less than a byte is refused, and one after an end says why")
  func ended() async throws {
    try await NodePair.run { pair in
      let (member, _) = try await pair.connect()
      let stream = try await member.openStream(named: "a")
      let reader = try #require(await pair.server.session.streams.first())
      #expect(await failure { try reader.tryRead(upTo: 0) }?.code == .invalidArgument)
      stream.cancel(.notWanted)
      #expect(await failure { try await reader.read(upTo: 1) }?.code == .notWanted)
      #expect(await failure { try reader.tryRead(upTo: 1) }?.code == .notWanted)
    }
  }
}
