import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Frames of the largest limit")
struct LargeFrameTests {
  @Test("a message in one frame of the largest limit is taken, wherever it is cut", arguments: [1, 2, 6, 500_000])
  func cutAnywhere(missing: Int) {
    let size = WireLimits.largestFrame
    let one = OneSided(
      configuration {
        ($0.frameLimit, $0.messageLimit, $0.messageWindow) = (size, size, 4 * size)
        ($0.transferWindow, $0.readSize, $0.transmitWindow) = (2 * size, size, 2 * size)
      }
    ).connected()
    let frame = FrameEncoder.encode(.message(bytes(size)))
    #expect(one.side.take(.received(one.link, frame.dropLast(missing))).effects == [])
    let events = one.side.take(.received(one.link, frame.suffix(missing))).events
    #expect(events == [.messagesReceived(one.far, [bytes(size)], .reliable)])
  }
}
