import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Reliable messages on their way out")
struct OutboxTests {
  private let cost = UInt64(WireLimits.messageCost)

  /// An outbox with this credit and these messages.
  private func outbox(credit: UInt64, _ counts: Int...) -> Outbox {
    var outbox = Outbox(limit: credit)
    for count in counts { outbox.append(bytes(count)) }
    return outbox
  }

  /// Type and body length of each frame.
  private func frames(_ outbox: inout Outbox, room: Int = 1 << 20, frameLimit: Int = 1_024) throws -> [String] {
    var encoded: [UInt8] = []
    let framed = outbox.frame(into: &encoded, room: room, frameLimit: frameLimit)
    #expect(encoded.count <= room)
    var decoder = FrameDecoder(frameLimit: frameLimit)
    decoder.push(encoded[...])
    var names: [String] = []
    while let frame = try decoder.next() {
      switch frame {
      case .message(let body): names.append("message \(body.count)")
      case .fragment(let body): names.append("fragment \(body.count)")
      default: names.append("\(frame)")
      }
    }
    #expect(framed.frames == UInt64(names.count))
    #expect(decoder.bufferedCount == 0)
    return names
  }

  @Test("a message of the frame limit is one frame, one byte more makes two")
  func fragmentation() throws {
    var atLimit = outbox(credit: 1 << 20, 1_024)
    #expect(try frames(&atLimit) == ["message 1024"])
    var above = outbox(credit: 1 << 20, 1_025)
    #expect(try frames(&above) == ["fragment 1024", "message 1"])
    var twice = outbox(credit: 1 << 20, 2_048)
    #expect(try frames(&twice) == ["fragment 1024", "message 1024"])
  }

  @Test("an empty message is a frame, and costs what a message costs")
  func emptyMessage() throws {
    var outbox = outbox(credit: cost, 0, 0)
    #expect(outbox.queuedCost == 2 * WireLimits.messageCost)
    #expect(try frames(&outbox) == ["message 0"])
    #expect(outbox.used == cost)
    #expect(outbox.queuedCost == WireLimits.messageCost)
    #expect(!outbox.isEmpty)
  }

  @Test("credit is used to its last byte")
  func creditExactly() throws {
    var enough = outbox(credit: 100 + cost, 100)
    #expect(try frames(&enough) == ["message 100"])
    #expect(enough.used == enough.limit)
    var oneLess = outbox(credit: 100 + cost - 1, 100)
    #expect(try frames(&oneLess) == [])
    #expect(oneLess.used == 0)
    oneLess.credit(oneLess.limit + 1)
    #expect(try frames(&oneLess) == ["message 100"])
  }

  @Test("fragments go while their credit lasts, and the message goes on with more")
  func creditInTheMiddle() throws {
    var outbox = outbox(credit: 2_048, 3_000)
    #expect(try frames(&outbox) == ["fragment 1024", "fragment 1024"])
    #expect(try frames(&outbox) == [])
    outbox.credit(3_000 + cost)
    #expect(try frames(&outbox) == ["message 952"])
    #expect(outbox.isEmpty)
  }

  @Test("a frame is begun only where it fits whole")
  func room() throws {
    var outbox = outbox(credit: 1 << 20, 100)
    #expect(try frames(&outbox, room: 0) == [])
    #expect(try frames(&outbox, room: 100) == [])
    #expect(outbox.used == 0)
    #expect(try frames(&outbox, room: 105) == ["message 100"])
  }

  @Test("the cost of a message counts when its last byte leaves the queue")
  func costs() {
    var outbox = outbox(credit: 1 << 20, 2_000, 5)
    var encoded: [UInt8] = []
    let first = outbox.frame(into: &encoded, room: 1_030, frameLimit: 1_024)
    #expect(first == (1, 0))
    #expect(outbox.queuedCost == 2_005 + 2 * WireLimits.messageCost)
    let rest = outbox.frame(into: &encoded, room: 1 << 20, frameLimit: 1_024)
    #expect(rest == (2, 2_005 + 2 * WireLimits.messageCost))
    #expect(outbox.queuedCost == 0)
  }

  @Test("what is in the array already is left alone, and takes no room")
  func appends() {
    var outbox = outbox(credit: 1 << 20, 3)
    var encoded: [UInt8] = [1, 2, 3]
    _ = outbox.frame(into: &encoded, room: 8, frameLimit: 1_024)
    #expect(encoded == [1, 2, 3] + FrameEncoder.encode(.message(bytes(3))))
  }
}
