import PiconetWire
import Testing

@testable import PiconetEngine

/// Turns, windows and credit.
@Suite("Bytes of streams")
struct StreamFlowTests {
  private func id(_ number: UInt64) -> StreamID { StreamID(rawValue: number) }

  private func connected(
    window: UInt64 = 1 << 16, _ change: (inout EngineConfiguration) -> Void = { _ in }
  ) -> OneSided {
    OneSided(configuration(change)).connected {
      $0.capabilities = .streams
      $0.limits.streamWindow = window
    }
  }

  /// Stream and size of each frame of data.
  private func data(_ outcome: Outcome) -> [String] {
    outcome.frames.compactMap { frame in
      if case .streamData(let stream, let bytes) = frame { return "\(stream):\(bytes.count)" }
      return nil
    }
  }

  @Test("small pieces leave in one frame, and the budget comes back as they leave")
  func coalescing() {
    let one = connected()
    one.side.command(.openStream(id(1), to: one.far, name: "a"))
    let outcome = one.side.take(
      (0..<10).map { .streamWritten(id(1), [UInt8]([$0, $0, $0])[...]) })
    #expect(outcome.frames == [.streamData(stream: 0, (0..<10).flatMap { [UInt8]([$0, $0, $0]) }[...])])
    #expect(outcome.effects.contains(.streamTaken(id(1), byteCount: 30)))
  }

  @Test("streams take turns, a frame each, whichever was there first")
  func turns() {
    let one = connected { $0.frameLimit = 1_024 }
    one.side.takesAll = false
    for number in 1...3 as ClosedRange<UInt64> {
      one.side.command(.openStream(id(number), to: one.far, name: ""))
    }
    let outcome = one.side.take(
      .streamWritten(id(1), bytes(3_000)), .streamWritten(id(2), bytes(1_500)), .streamWritten(id(3), bytes(10)))
    #expect(data(outcome) == ["0:1023", "1:1023", "2:10", "0:1023", "1:477", "0:954"])
  }

  @Test("a stream without credit holds no other back, and goes on with more")
  func credit() {
    let one = connected(window: 100)
    for number in 1...2 as ClosedRange<UInt64> {
      one.side.command(.openStream(id(number), to: one.far, name: ""))
    }
    #expect(data(one.side.take(.streamWritten(id(1), bytes(500)))) == ["0:100"])
    #expect(data(one.side.take(.streamWritten(id(2), bytes(50)))) == ["1:50"])
    #expect(data(one.receive(.streamCredit(stream: 0, limit: 90))).isEmpty)
    #expect(data(one.receive(.streamCredit(stream: 0, limit: 450))) == ["0:350"])
    one.side.command(.finishStream(id(1)), id: 5)
    let last = one.receive(.streamCredit(stream: 0, limit: VariableInteger.max))
    #expect(last.frames == [.streamData(stream: 0, bytes(50)), .endStream(stream: 0)])
    #expect(one.receive(.streamDone(stream: 0)).replies(to: 5) == [.done])
    #expect(one.side.census.streams == 1)
  }

  @Test("messages go before streams, streams before chunks")
  func lanes() throws {
    let one = connected()
    one.side.takesAll = false
    one.side.command(.offer(TransferID(rawValue: 1), to: one.far, ResourceOffer(name: [1], size: 1_000)))
    one.side.command(.openStream(id(1), to: one.far, name: ""))
    one.side.answersDisk = false
    one.receive(.acceptOffer(transfer: 0, offset: 0, limit: 1_000))
    let read = try #require(one.side.takeUnanswered())
    let outcome = one.side.take(
      try #require(one.side.fact(answering: read)), .streamWritten(id(1), bytes(10)),
      .messageQueued(one.far, bytes(5), .reliable))
    let kinds = outcome.frames.map { frame in
      switch frame {
      case .message: "message"
      case .streamData: "stream"
      case .chunk: "chunk"
      default: "\(frame)"
      }
    }
    #expect(kinds == ["message", "stream", "chunk"])
  }

  @Test("an unread stream holds its first credit; reading gives more, in shares of the memory for all")
  func windows() {
    let one = connected {
      $0.firstStreamWindow = 1_000
      $0.streamWindow = 10_000
      $0.streamMemory = 12_000
    }
    let first = id(StreamID.firstIncoming)
    one.receive(.openStream(stream: 0, name: "a"))
    #expect(one.receive(.streamData(stream: 0, bytes(1_000))).frames.isEmpty)
    #expect(one.side.take(.streamConsumed(first, byteCount: 400)).frames == [.streamCredit(stream: 0, limit: 10_400)])
    // Not worth a frame.
    #expect(one.side.take(.streamConsumed(first, byteCount: 100)).frames.isEmpty)
    one.receive(.openStream(stream: 1, name: "b"))
    // Each stream has 6,000 now; credit that was given stays given.
    #expect(one.side.take(.streamConsumed(first, byteCount: 500)).frames.isEmpty)
    one.receive(.streamData(stream: 0, bytes(9_400)))
    #expect(
      one.side.take(.streamConsumed(first, byteCount: 9_400)).frames == [.streamCredit(stream: 0, limit: 16_400)])
  }

  @Test("the remote side is told that a stream was read when its last byte was, and not before")
  func done() {
    let one = connected()
    one.receive(.openStream(stream: 0, name: "a"), .streamData(stream: 0, bytes(10)))
    let end = one.receive(.endStream(stream: 0))
    #expect(end.frames.isEmpty)
    #expect(end.events == [.streamEnded(id(StreamID.firstIncoming), .finished)])
    #expect(one.side.take(.streamConsumed(id(StreamID.firstIncoming), byteCount: 9)).frames.isEmpty)
    let last = one.side.take(.streamConsumed(id(StreamID.firstIncoming), byteCount: 1))
    #expect(last.frames == [.streamDone(stream: 0)])
    // A stream without bytes counts as read once its reader has met the end.
    let second = id(StreamID.firstIncoming + 1)
    #expect(one.receive(.openStream(stream: 0, name: "b"), .endStream(stream: 0)).frames.isEmpty)
    #expect(one.side.take(.streamConsumed(second, byteCount: 0)).frames == [.streamDone(stream: 0)])
  }

  @Test("bytes of a stream that was given up are dropped as they come, within its credit, until the sender knows")
  func dropped() {
    let one = connected { $0.firstStreamWindow = 100 }
    one.receive(.openStream(stream: 0, name: "a"))
    let stop = one.side.command(.cancelStream(id(StreamID.firstIncoming), .notWanted, detail: "no"))
    #expect(stop.frames == [.stopStream(stream: 0, .notWanted, detail: "no")])
    #expect(one.receive(.streamData(stream: 0, bytes(100))).events.isEmpty)
    #expect(one.side.census.streams == 1)
    one.receive(.resetStream(stream: 0, .cancelled, detail: ""))
    #expect(one.side.census.streams == 0)
  }

  @Test("a link that loses what is not read in time gives all streams a quarter of what it holds")
  func unreadLimit() {
    let one = OneSided()
    one.traits.unreadLimit = 102_400
    for case .hello(let hello) in one.connected({ $0.capabilities = .streams }).side.log.frames {
      #expect(hello.limits.streamWindow == 400)
    }
    one.receive(.openStream(stream: 0, name: "a"), .streamData(stream: 0, bytes(400)))
    #expect(
      one.side.take(.streamConsumed(id(StreamID.firstIncoming), byteCount: 400)).frames
        == [.streamCredit(stream: 0, limit: 26_000)])
  }
}
