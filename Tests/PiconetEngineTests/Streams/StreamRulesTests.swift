import PiconetWire
import Testing

@testable import PiconetEngine

/// One engine; the remote side is played frame by frame.
@Suite("What is legal of streams")
struct StreamRulesTests {
  private func connected(_ change: (inout EngineConfiguration) -> Void = { _ in }) -> OneSided {
    OneSided(configuration(change)).connected { $0.capabilities = .streams }
  }

  private let incoming = StreamID(rawValue: StreamID.firstIncoming)
  private let own = StreamID(rawValue: 7)

  @Test("stream frames of a sender at the wrong time end the association, and the remote side is told why")
  func wrongSenderFrames() {
    let open = Frame.openStream(stream: 3, name: "a")
    let wrong: [([Frame], Reason)] = [
      ([.streamData(stream: 3, bytes(1))], .protocolBroken),
      ([.endStream(stream: 3)], .protocolBroken),
      ([open, open], .protocolBroken),
      ([open, .endStream(stream: 3), .streamData(stream: 3, bytes(1))], .protocolBroken),
      ([open, .streamData(stream: 3, bytes(1)), .endStream(stream: 3), .endStream(stream: 3)], .protocolBroken),
      ([open, .streamData(stream: 3, bytes(1)), .endStream(stream: 3), open], .protocolBroken),
      ([open, .resetStream(stream: 3, .cancelled, detail: ""), .streamData(stream: 3, bytes(1))], .protocolBroken),
      ([open, .streamData(stream: 3, bytes(101))], .limitExceeded),
      ([open, .streamData(stream: 3, bytes(60)), .streamData(stream: 3, bytes(41))], .limitExceeded),
      ([open, .openStream(stream: 4, name: ""), .openStream(stream: 5, name: "")], .limitExceeded),
    ]
    for (frames, reason) in wrong {
      let one = connected {
        $0.streamLimit = 2
        $0.firstStreamWindow = 100
      }
      for frame in frames.dropLast() { #expect(one.receive(frame).closeReason == nil, "\(frames)") }
      let last = one.receive(frames[frames.count - 1])
      #expect(last.closeReason == reason, "\(frames)")
      guard case .disconnected(_, let ending)? = last.events.last else {
        Issue.record("still connected after \(frames)")
        continue
      }
      #expect(ending.blame == .peer && ending.reason == reason)
      #expect(one.side.census.streams == 0)
    }
  }

  @Test("stream frames of a receiver at the wrong time end the association")
  func wrongReceiverFrames() {
    let stop = Frame.stopStream(stream: 0, .notWanted, detail: "")
    let wrong: [(isOpen: Bool, [Frame])] = [
      (false, [.streamCredit(stream: 0, limit: 1)]), (false, [stop]), (false, [.streamDone(stream: 0)]),
      (true, [.streamCredit(stream: 1, limit: 1)]), (true, [.streamDone(stream: 0)]), (true, [stop, stop]),
      (true, [stop, .streamCredit(stream: 0, limit: 1)]), (true, [stop, .streamDone(stream: 0)]),
    ]
    for (isOpen, frames) in wrong {
      let one = connected()
      if isOpen { one.side.command(.openStream(own, to: one.far, name: "")) }
      for frame in frames.dropLast() { #expect(one.receive(frame).closeReason == nil, "\(frames)") }
      #expect(one.receive(frames[frames.count - 1]).closeReason == .protocolBroken, "\(frames)")
    }
  }

  @Test("a stream before the invitation was accepted ends the association")
  func beforeMembership() {
    let one = OneSided().associated { $0.capabilities = .streams }
    #expect(one.receive(.openStream(stream: 0, name: "")).closeReason == .protocolBroken)
  }

  @Test("a peer whose hello has no streams is sent none")
  func unsupported() {
    let one = OneSided().connected { $0.capabilities = .resume }
    let outcome = one.side.command(.openStream(own, to: one.far, name: "a"), id: 5)
    guard case .failed(let ending)? = outcome.replies(to: 5).first else { return #expect(Bool(false)) }
    #expect(ending.reason == .notSupported && ending.blame == .peer)
    #expect(outcome.frames.isEmpty)
  }

  @Test("a name above the limit, and a stream above the remote side's limit, are refused with the number")
  func limits() {
    let one = OneSided().connected {
      $0.capabilities = .streams
      $0.limits.streams = 1
    }
    func failure(_ outcome: Outcome, _ id: UInt64) -> Ending? {
      if case .failed(let ending)? = outcome.replies(to: id).first { return ending }
      return nil
    }
    let name = String(repeating: "n", count: WireLimits.streamName)
    let tooLong = failure(one.side.command(.openStream(own, to: one.far, name: name + "n"), id: 1), 1)
    #expect(tooLong?.reason == .limitExceeded && tooLong?.detail.contains("1024") == true)
    #expect(one.side.command(.openStream(own, to: one.far, name: name), id: 2).replies(to: 2) == [.done])
    let second = StreamID(rawValue: 8)
    let tooMany = failure(one.side.command(.openStream(second, to: one.far, name: ""), id: 3), 3)
    #expect(tooMany?.reason == .limitExceeded && tooMany?.detail.contains("1 streams") == true)
    // A stream that is over makes room.
    one.receive(.stopStream(stream: 0, .notWanted, detail: ""))
    #expect(one.side.command(.openStream(second, to: one.far, name: ""), id: 4).replies(to: 4) == [.done])
  }

  @Test("our hello states that we take streams, how many, and how much of each")
  func hello() {
    for case .hello(let hello) in OneSided(configuration { $0.streamLimit = 5 }).open().frames {
      #expect(hello.capabilities.contains(.streams))
      #expect(hello.limits.streams == 5 && hello.limits.streamWindow == 64 << 10)
    }
  }

  @Test("a reset of what is not open is ignored: it has crossed our last word")
  func lateReset() {
    let one = connected()
    one.receive(.openStream(stream: 0, name: ""), .endStream(stream: 0))
    one.side.take(.streamConsumed(incoming, byteCount: 0))
    #expect(one.receive(.resetStream(stream: 0, .cancelled, detail: "")).frames.isEmpty)
    #expect(one.side.census.members == 1 && one.side.census.streams == 0)
  }

  @Test("a member that we are leaving may still open streams: they are stopped, and the application is not told")
  func whileLeaving() {
    let one = connected()
    one.side.command(.openStream(own, to: one.far, name: ""))
    one.side.take(.streamWritten(own, bytes(100_000)))
    one.side.command(.finishStream(own))
    one.side.command(.leave(one.far, .left))
    let outcome = one.receive(.openStream(stream: 0, name: ""), .streamData(stream: 0, bytes(1)))
    #expect(outcome.frames == [.stopStream(stream: 0, .left, detail: "")] && outcome.events.isEmpty)
    // The leave waits for the end that was asked for before.
    let rest = one.receive(.streamCredit(stream: 0, limit: 200_000))
    #expect(rest.frames.suffix(2) == [.endStream(stream: 0), .leave(.left, detail: "")])
  }
}
