import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("A peer that asks and never takes the answers")
struct DeafPeerTests {
  private let pings = Array(repeatElement(FrameEncoder.encode(.ping(VariableInteger.max)), count: 1_000).joined())

  @Test("a flood of pings fills the window and the control limit, then the link ends")
  func pingFloodEndsTheLink() throws {
    let near = try AssociatedEngine()
    let limit = EngineConfiguration(sessionID: "test", name: "near").transmitWindow + Link.controlLimit
    var outstanding = 0
    var isClosed = false
    for _ in 0..<100 where !isClosed {
      near.take(.received(near.link, pings[...]))
      outstanding += near.transmittedCount
      isClosed = near.effects.contains(.closeLink(near.link, flush: true))
      #expect(outstanding <= limit + 2 * pings.count)
    }
    #expect(isClosed)
    #expect(near.census.links == 0)
    #expect(near.census.associations == 0)
  }

  @Test("control frames go again once the remote side has taken what was before them")
  func controlFramesGoOnceThereIsRoom() throws {
    let near = try AssociatedEngine()
    var outstanding = 200  // At least those of the handshake.
    while near.census.queuedBytes == 0 {
      near.take(.received(near.link, pings[...]))
      outstanding += near.transmittedCount
      try #require(outstanding < 10 << 20)
    }
    near.take(.transmitted(near.link, byteCount: outstanding))
    #expect(near.transmittedCount > 0)
    #expect(near.census.queuedBytes == 0)
  }
}
