import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Bulk on a slow path")
struct BulkPaceTests {
  private let transfer = TransferID(rawValue: 1)

  /// Our own transfer, accepted by the remote side, over a link with this pace. Reads are answered at once.
  private func sending(_ pace: BulkPace?) throws -> AssociatedEngine {
    let engine = try AssociatedEngine()
    if let pace { engine.take(.linkPaced(engine.link, pace)) }
    engine.receive(.invite(Invite(timeout: 1_000, commitment: someCommitment)))
    _ = engine.command(.answerInvitation(engine.far, accept: true, .declined))
    engine.receive(.admit)
    engine.take(.transmitted(engine.link, byteCount: 1 << 20))
    _ = engine.command(.offer(transfer, to: engine.far, ResourceOffer(name: [1], size: 10 << 20)))
    engine.take(.transmitted(engine.link, byteCount: 1 << 20))
    engine.receive(.acceptOffer(transfer: 0, offset: 0, limit: 10 << 20))
    return engine
  }

  /// Answers the reads of the last effects, and gives the frames and the bytes of bulk that go out then.
  private func answerReads(of engine: AssociatedEngine) throws -> (frames: [Frame], bytes: Int) {
    var frames: [Frame] = []
    var bytes = 0
    for case .readChunks(let id, let number, _, let payloadCount, let frameCount) in engine.effects {
      let lengthCount = frameCount <= 1 + 1 + 63 ? 1 : frameCount <= 1 + 2 + 16_383 ? 2 : 4
      let payload = frameCount - 1 - lengthCount - VariableInteger.byteCount(of: number)
      var framed: [UInt8] = []
      for start in stride(from: 0, to: payloadCount, by: payload) {
        let count = min(payload, payloadCount - start)
        FrameEncoder.append(.chunk(transfer: number, [UInt8](repeating: 7, count: count)[...]), to: &framed)
      }
      engine.take(.chunksRead(id, frames: framed[...], payloadCount: payloadCount))
      frames += try engine.transmittedFrames()
      bytes += engine.transmittedCount
    }
    return (frames, bytes)
  }

  @Test("a path without a measurement takes whole windows")
  func unpaced() throws {
    let sent = try answerReads(of: sending(nil))
    #expect(sent.bytes > 200 << 10)
  }

  @Test("no more than the room goes out, but for the rest of a frame")
  func room() throws {
    let sent = try answerReads(of: sending(BulkPace(room: 6_000, bound: 6_000)))
    #expect(sent.bytes > 4_500 && sent.bytes <= 6_000 + 1_600)
  }

  @Test(
    "frames are a quarter of what the path carries, and never less than the smallest",
    arguments: [1_000, 8_000, 20_000])
  func frames(bound: Int) throws {
    let sent = try answerReads(of: sending(BulkPace(room: bound, bound: bound)))
    let longest = sent.frames.map { frame in
      if case .chunk(_, let bytes) = frame { bytes.count } else { 0 }
    }.max()
    let limit = max(WireLimits.smallestFrame, bound / 4)
    #expect(longest.map { $0 <= limit && $0 >= limit - 8 } == true)
  }

  @Test("without room nothing of a file goes out, but messages do")
  func messagesPass() throws {
    let engine = try sending(BulkPace(room: 0, bound: 4_000))
    #expect(try answerReads(of: engine).bytes == 0)
    engine.take(.messageQueued(engine.far, [UInt8](repeating: 1, count: 50_000)[...], .reliable))
    #expect(engine.transmittedCount > 50_000)
  }

  @Test("new room lets it go on")
  func goesOn() throws {
    let engine = try sending(BulkPace(room: 0, bound: 4_000))
    #expect(try answerReads(of: engine).bytes == 0)
    engine.take(.linkPaced(engine.link, BulkPace(room: 3_000, bound: 4_000)))
    #expect(engine.transmittedCount > 1_900 && engine.transmittedCount <= 4_100)
  }
}
