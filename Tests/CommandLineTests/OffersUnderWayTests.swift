import Piconet
import PiconetEngine
import PiconetWire
import Testing

@testable import PiconetCommandLine

@Suite("Offers of one sender that are looked at")
struct OffersUnderWayTests {
  private func sender(_ byte: UInt8) throws -> NodeID {
    NodeID(
      peer: try #require(PeerID(bytes: [UInt8](repeating: byte, count: PeerID.byteCount))),
      incarnation: Incarnation(rawValue: 1))
  }

  @Test("are 128 at most, and those of another sender are others")
  func limit() throws {
    let underWay = OffersUnderWay()
    let (one, other) = (try sender(1), try sender(2))
    for _ in 0..<128 { #expect(underWay.begin(one)) }
    #expect(!underWay.begin(one))
    #expect(underWay.begin(other))
    underWay.end(one)
    #expect(underWay.begin(one))
    #expect(!underWay.begin(one))
  }
}
