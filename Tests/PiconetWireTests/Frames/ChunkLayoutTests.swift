import PiconetWire
import Testing

@Suite("How chunks are cut")
struct ChunkLayoutTests {
  private static let transfers: [UInt64] = [0, 63, 64, 16_383, 16_384, 1 << 29]

  @Test("a full frame has the length that its limit says, and both ways to say it agree", arguments: transfers)
  func bothWays(transfer: UInt64) {
    for frameLimit in Array(WireLimits.smallestFrame...WireLimits.smallestFrame + 300) + Array(16_370...16_400) {
      let layout = ChunkLayout(transfer: transfer, frameLimit: frameLimit)
      let bytes = FrameEncoder.encode(
        .chunk(transfer: transfer, [UInt8](repeating: 1, count: layout.payloadCount)[...]))
      #expect(bytes.count == layout.frameCount)
      #expect(ChunkLayout(transfer: transfer, frameCount: layout.frameCount) == layout)
    }
  }

  @Test("no frame is longer than asked for, also where no payload fills it", arguments: transfers)
  func neverLonger(transfer: UInt64) {
    for frameCount in Array(60...400) + Array(16_380...16_400) {
      let layout = ChunkLayout(transfer: transfer, frameCount: frameCount)
      let header = FrameEncoder.chunkHeaderCount(transfer: transfer, payloadCount: layout.payloadCount)
      #expect(layout.payloadCount + header == layout.frameCount)
      #expect(layout.frameCount <= frameCount && layout.frameCount >= frameCount - 2)
    }
  }

  @Test("bytes of frames and of payload are the same whichever way they are counted")
  func counts() {
    let layout = ChunkLayout(transfer: 5, frameLimit: 1_000)
    for payload in [0, 1, layout.payloadCount, layout.payloadCount + 1, 10 * layout.payloadCount, 12_345] {
      var bytes = 0
      var frames: UInt64 = 0
      var rest = payload
      while rest > 0 {
        let part = min(rest, layout.payloadCount)
        bytes += part + FrameEncoder.chunkHeaderCount(transfer: 5, payloadCount: part)
        frames += 1
        rest -= part
      }
      #expect(layout.frameBytes(ofPayload: payload) == bytes)
      #expect(layout.frames(in: bytes) == frames)
    }
    #expect(layout.wholeFrames(in: 1) == layout.frameCount)
    #expect(layout.wholeFrames(in: 5_000) == 4 * layout.frameCount)
    #expect(layout.payload(ofFrames: 3 * layout.frameCount) == 3 * layout.payloadCount)
    #expect(layout.payload(ofReads: 1) == layout.payloadCount)
  }

  @Test(
    "all frames but the last have exactly the announced length, so that the engine can cut between them",
    arguments: [1_024, 16_381, 16_382, 16_383, 16_384, 65_536], [0, 63, 64, 16_383] as [UInt64])
  func frameLengths(frameLimit: Int, transfer: UInt64) throws {
    let frameCount = 1 + VariableInteger.byteCount(of: UInt64(frameLimit)) + frameLimit
    let header = 1 + VariableInteger.byteCount(of: UInt64(frameLimit)) + VariableInteger.byteCount(of: transfer)
    let payloadCount = 3 * (frameCount - header) + 17
    let layout = ChunkLayout(transfer: transfer, frameCount: frameCount)
    let content = (0..<payloadCount).map { UInt8(truncatingIfNeeded: $0 / 7) }
    let bytes = layout.frames(ofPayload: payloadCount) { buffer, offset in
      buffer.copyBytes(from: content[offset..<(offset + buffer.count)])
    }
    var offset = 0
    for start in [0, frameCount, 2 * frameCount, 3 * frameCount] {
      var decoder = FrameDecoder(frameLimit: frameLimit)
      decoder.push(bytes[(bytes.startIndex + start)...])
      guard case .chunk(transfer, let payload) = try decoder.next() else {
        Issue.record("no chunk at \(start)")
        return
      }
      #expect(payload.count == (start == 3 * frameCount ? 17 : frameCount - header))
      #expect(payload.elementsEqual(content[offset..<(offset + payload.count)]))
      offset += payload.count
    }
    #expect(offset == payloadCount)
  }

  @Test("no frame is left of a payload that can't be read")
  func unreadable() {
    struct Unreadable: Error {}
    let layout = ChunkLayout(transfer: 1, frameCount: 1_024)
    #expect(throws: Unreadable.self) {
      _ = try layout.frames(ofPayload: 5_000) { (_, offset) throws(Unreadable) in
        if offset > 2_000 { throw Unreadable() }
      }
    }
  }
}
