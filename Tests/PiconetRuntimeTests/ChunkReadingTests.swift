import PiconetEngine
import PiconetWire
import Testing

@testable import PiconetRuntime

@Suite("Chunks read from a source")
struct ChunkReadingTests {
  private final class Zeros: ResourceSource, @unchecked Sendable {
    // Sendable: it has no state.
    let size = UInt64.max
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(ResourceFailure) {
      buffer.initializeMemory(as: UInt8.self, repeating: 0)
    }
    func finish() throws(ResourceFailure) -> ResourceDigest { throw ResourceFailure(.internalError, "not asked for") }
  }

  @Test(
    "all frames but the last have exactly the announced length, so that the engine can cut between them",
    arguments: [1_024, 16_381, 16_382, 16_383, 16_384, 65_536], [0, 63, 64, 16_383] as [UInt64])
  func frameLengths(frameLimit: Int, transfer: UInt64) throws {
    let frameCount = 1 + VariableInteger.byteCount(of: UInt64(frameLimit)) + frameLimit
    let header = 1 + VariableInteger.byteCount(of: UInt64(frameLimit)) + VariableInteger.byteCount(of: transfer)
    let payloadCount = 3 * (frameCount - header) + 17
    let bytes = try ChunkReading.frames(
      of: Zeros(), transfer: transfer, offset: 0, payloadCount: payloadCount, frameCount: frameCount)
    for start in [0, frameCount, 2 * frameCount, 3 * frameCount] {
      var decoder = FrameDecoder(frameLimit: frameLimit)
      decoder.push(bytes[(bytes.startIndex + start)...])
      guard case .chunk(transfer, let payload) = try decoder.next() else {
        Issue.record("no chunk at \(start)")
        return
      }
      #expect(payload.count == (start == 3 * frameCount ? 17 : frameCount - header))
    }
  }
}
