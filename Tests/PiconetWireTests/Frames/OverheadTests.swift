import PiconetWire
import Testing

@Suite("Framing overhead")
struct OverheadTests {
  private func overhead(_ frame: Frame, payload: Int) -> Int { FrameEncoder.encode(frame).count - payload }

  @Test("a message costs 2 bytes up to 63 bytes and 3 up to 16,383")
  func messages() {
    for count in Array(0...1000) + [16_382, 16_383] {
      let payload = [UInt8](repeating: 1, count: count)[...]
      #expect(overhead(.message(payload), payload: count) == (count < 64 ? 2 : 3))
      guard count > 0 else { continue }
      #expect(overhead(.fragment(payload), payload: count) == (count < 64 ? 2 : 3))
      for (number, size) in [(UInt64(1), 1), (64, 2), (16_384, 4), (1 << 30, 8)] {
        let body = count + size
        guard body < 16_384 else { continue }
        #expect(
          overhead(.unreliableMessage(number: number, payload), payload: count) == size + (body < 64 ? 2 : 3))
      }
    }
    let long = [UInt8](repeating: 1, count: 16_384)[...]
    #expect(overhead(.message(long), payload: 16_384) == 5)
  }

  @Test("a chunk costs at most 7 bytes, and its header is as long as was said")
  func chunks() {
    for transfer: UInt64 in [0, 63, 64, 16_383] {
      for count in [1, 61, 62, 63, 64, 1000, 16_381, 16_382, 16_383, WireLimits.largestFrame - 2] {
        let cost = overhead(.chunk(transfer: transfer, [UInt8](repeating: 1, count: count)[...]), payload: count)
        #expect(cost <= (count + 2 < 16_384 ? 5 : 7))
        #expect(cost == FrameEncoder.chunkHeaderCount(transfer: transfer, payloadCount: count))
      }
    }
  }

  @Test("stream data costs at most 7 bytes")
  func streams() {
    for stream: UInt64 in [0, 63, 64, 16_383] {
      for count in [1, 61, 62, 63, 64, 1000, 16_381, 16_382, 16_383, WireLimits.largestFrame - 2] {
        let cost = overhead(.streamData(stream: stream, [UInt8](repeating: 1, count: count)[...]), payload: count)
        #expect(cost <= (count + 2 < 16_384 ? 5 : 7))
      }
    }
  }

  @Test("every other frame that carries bytes of an application costs at most 8")
  func others() {
    let number = WireLimits.transferNumbers - 1
    let context = [UInt8](repeating: 1, count: WireLimits.context)
    #expect(
      overhead(
        .invite(Invite(timeout: 86_400_000, commitment: [UInt8](repeating: 1, count: 32), context: context[...])),
        payload: context.count) <= 41)
    let name = [UInt8](repeating: 1, count: WireLimits.resourceName)
    #expect(overhead(.stored(transfer: number, name: name), payload: name.count) <= 8)
    let words = String(repeating: "w", count: WireLimits.detail)
    for frame: Frame in [
      .close(.internalError, detail: words), .decline(.internalError, detail: words),
      .leave(.internalError, detail: words), .declineOffer(transfer: number, .internalError, detail: words),
      .abandon(transfer: number, .internalError, detail: words),
      .refuse(transfer: number, .internalError, detail: words),
      .resetStream(stream: number, .internalError, detail: words),
      .stopStream(stream: number, .internalError, detail: words),
    ] {
      #expect(overhead(frame, payload: words.utf8.count) <= 8)
    }
  }
}
