import PiconetEngine
import PiconetWire
import Testing

@testable import Piconet

@Suite("Requests and their answers")
struct RequestTests {
  private static func node() throws -> NodeID {
    NodeID(
      peer: try #require(PeerID(bytes: [UInt8](repeating: 1, count: 32))), incarnation: Incarnation(rawValue: 1))
  }

  @Test("each brings what its own command is answered with, or why it has failed")
  func answers() throws {
    let node = try Self.node()
    #expect(try Request.showCode(node).result(of: .code("042 917")).get() == "042 917")
    let ping = Request.ping(node, timeout: .seconds(1))
    #expect(try ping.result(of: .roundTrip(.seconds(2))).get() == .seconds(2))
    try Request.leave(node).result(of: .done).get()
    let ending = Ending(.left, .peer)
    #expect(throws: ending) { try ping.result(of: .failed(ending)).get() }
    #expect(throws: ending) { try Request.leave(node).result(of: .failed(ending)).get() }
  }

  #if DEBUG
    @Test("another command's reply, which the engine never gives, ends a debug build")
    func mismatch() async throws {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = Request.ping(try RequestTests.node(), timeout: .seconds(1)).result(of: .done)
      }
      let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(said.contains("is no reply to this request"))
    }
  #endif
}
