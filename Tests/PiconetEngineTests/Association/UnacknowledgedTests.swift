import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("What is kept until it is acknowledged")
struct UnacknowledgedTests {
  @Test(
    "whatever was written at once and whatever is acknowledged, exactly the frames above are given back",
    arguments: 0..<50 as Range<UInt64>)
  func givesBackWhatIsMissing(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var kept = Unacknowledged()
    var all: [Frame] = []
    for _ in 0..<20 {
      var bytes: [UInt8] = [7, 7]
      for _ in 0..<Int.random(in: 1...5, using: &random) {
        let frame = Frame.message(
          [UInt8](repeating: UInt8(all.count), count: Int.random(in: 0...300, using: &random))[...])
        FrameEncoder.append(frame, to: &bytes)
        all.append(frame)
      }
      kept.append(
        bytes[2...], last: UInt64(all.count), bufferCount: Bool.random(using: &random) ? bytes.count : 100_000)
    }
    var acknowledged = 0
    while acknowledged < all.count {
      acknowledged = Int.random(in: acknowledged...all.count, using: &random)
      kept.acknowledge(UInt64(acknowledged))
      let received = Int.random(in: acknowledged...all.count, using: &random)
      #expect(try decode(kept.frames(above: UInt64(received))) == Array(all[received...]))
    }
    #expect(kept.isEmpty)
    #expect(kept.byteCount == 0)
  }

  @Test("a remote side that resumes gets messages up to a limit and, once it acknowledges, the rest")
  func isBounded() throws {
    var configuration = EngineConfiguration(sessionID: "test", name: "near")
    configuration.messageLimit = 10_000
    configuration.messageWindow = 20_000
    let engine = try AssociatedEngine(
      configuration, limits: PeerLimits(messageWindow: 100 << 20), capabilities: .resume)
    try engine.becomeMember()
    var sent = 0
    var count = 0
    for _ in 0..<1_000 {
      engine.take(.messageQueued(engine.far, [UInt8](repeating: 1, count: 10_000)[...], .reliable))
      sent += engine.transmittedCount
      count += try engine.transmittedFrames().count
      engine.take(.transmitted(engine.link, byteCount: engine.transmittedCount))
    }
    #expect(sent <= configuration.unacknowledgedLimit)
    #expect(sent > configuration.unacknowledgedLimit / 2)
    // The answer to the invitation is the first frame.
    engine.receive(.acknowledge(received: UInt64(count)))
    #expect(try engine.transmittedFrames().count > 10)
  }

  @Test("64 frames, or 64 KiB of them, are acknowledged at once, fewer are not", arguments: [(62, 10), (5, 14_000)])
  func acknowledges(count: Int, size: Int) throws {
    let engine = try AssociatedEngine()
    // The first two frames that count.
    try engine.becomeMember()
    for number in 1...count {
      engine.receive(.message([UInt8](repeating: 1, count: size)[...]))
      let expected: [Frame] = number == count ? [.acknowledge(received: UInt64(2 + count))] : []
      #expect(try engine.transmittedFrames() == expected, "after \(number)")
    }
  }

  private func decode(_ batches: [Bytes]) throws -> [Frame] {
    var decoder = FrameDecoder(frameLimit: WireLimits.largestFrame)
    var frames: [Frame] = []
    for batch in batches {
      decoder.push(batch)
      while let frame = try decoder.next() { frames.append(frame) }
    }
    return frames
  }
}
