import PiconetEngine
import PiconetWire
import Testing

@testable import FarAdapter

@Suite("Frames between a test and the agent of a far adapter")
struct FrameTests {
  private func decode<Frame: RelayCoded>(_ bytes: [UInt8], _ type: Frame.Type, step: Int) throws(RelayError) -> [Frame]
  {
    var decoder = RelayFrameDecoder<Frame>()
    var frames: [Frame] = []
    for start in stride(from: 0, to: bytes.count, by: step) {
      decoder.push(bytes[start..<min(start + step, bytes.count)])
      while let frame = try decoder.next() { frames.append(frame) }
    }
    return frames
  }

  @Test(
    "every order and every report is read as it was written, however its bytes were cut", arguments: [1, 3, 1 << 20])
  func roundTrip(step: Int) throws {
    let orders = Samples.orders.flatMap(RelayFrameDecoder<AdapterOrder>.bytes)
    #expect(try decode(orders, AdapterOrder.self, step: step) == Samples.orders)
    let reports = Samples.reports.flatMap(RelayFrameDecoder<AdapterReport>.bytes)
    #expect(try decode(reports, AdapterReport.self, step: step) == Samples.reports)
  }

  @Test("a frame that ends too early, or goes on too long, is refused")
  func wrongLength() {
    for order in Samples.orders {
      let body = Array(RelayFrameDecoder<AdapterOrder>.bytes(of: order).dropFirst(4))
      for wrong in [Array(body.dropLast()), body + [0]] {
        #expect(throws: RelayError.self) {
          try decode([0, 0, 0, UInt8(wrong.count)] + wrong, AdapterOrder.self, step: 64)
        }
      }
    }
  }

  @Test("a frame above the limit is refused by its length alone")
  func tooLong() {
    let error = #expect(throws: RelayError.self) { try decode([0, 1, 0x80, 1], AdapterOrder.self, step: 4) }
    #expect(error?.description == "a frame of 98305 bytes")
    #expect(RelayLimits.frame == 98_304)
  }

  @Test("what is in no list, no text, or too much is refused with what is wrong")
  func malformed() {
    func body(_ write: (inout RelayBytes) -> Void) -> [UInt8] {
      var bytes = RelayBytes()
      write(&bytes)
      return [0, 0, UInt8(bytes.bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.bytes.count)] + bytes.bytes
    }
    for (bytes, reason) in [
      (body { $0.append(99 as UInt8) }, "no Tag 99"),
      (
        body {
          $0.append(0 as UInt8); $0("hello")
        }, "no test of Piconet"
      ),
      (
        body {
          $0.append(1 as UInt8); $0("carrier pigeon")
        }, "no TransportKind 'carrier pigeon'"
      ),
      (
        body {
          $0.append(1 as UInt8); $0.append(1 as UInt64); $0.append(0xFF as UInt8)
        }, "not UTF-8"
      ),
      (
        body {
          $0.append(1 as UInt8); $0.append(UInt64.max)
        }, "a text of"
      ),
      (
        body {
          $0.append(3 as UInt8); $0(UInt64(1), "tcp"); $0.append(UInt64.max)
        }, "elements are too many"
      ),
      (
        body {
          $0.append(5 as UInt8); $0.append(1 as UInt64); $0.append(70_000 as UInt64)
        }, "a piece of 70000"
      ),
      (
        body {
          $0.append(10 as UInt8); $0.append(2 as UInt8)
        }, "neither true nor false"
      ),
    ] {
      let error = #expect(throws: RelayError.self) { try decode(bytes, AdapterOrder.self, step: 512) }
      #expect(error?.description.contains(reason) == true, "\(error?.description ?? ""): \(reason)")
    }
  }

  @Test("random bytes, and frames with bytes changed, are read or refused, and nothing else")
  func randomBytes() {
    var random = SeededRandom(seed: 11)
    for _ in 0..<5_000 {
      var bytes = Samples.orders[Int(random.next() % UInt64(Samples.orders.count))]
        .encoded
      for _ in 0...random.next() % 3 {
        bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
      }
      _ = try? decode(bytes, AdapterOrder.self, step: 64)
      _ = try? decode(bytes, AdapterReport.self, step: 64)
    }
  }

  @Test("a long reason is cut where it is written, and can be read")
  func longText() throws {
    let long = LinkFailure(.other, String(repeating: "ü", count: RelayLimits.text))
    let frames = try decode(
      RelayFrameDecoder<AdapterReport>.bytes(of: .dialFailed(1, long)), AdapterReport.self, step: 1000)
    guard case .dialFailed(1, let failure)? = frames.first else {
      Issue.record("\(frames)")
      return
    }
    #expect(failure.code == .other && (RelayLimits.text - 6...RelayLimits.text).contains(failure.detail.utf8.count))
  }

  @Test("an order of another version is refused with that version")
  func otherVersion() {
    var body = RelayBytes()
    body.append(0 as UInt8)
    body("piconet far adapter", UInt64(99), "session")
    let error = #expect(throws: RelayError.self) {
      try decode([0, 0, 0, UInt8(body.bytes.count)] + body.bytes, AdapterOrder.self, step: 512)
    }
    #expect(error?.description.contains("version 99") == true)
  }

  @Test("a window takes what there is room for, and no more is taken than was sent")
  func window() throws {
    var window = LinkWindow(of: LinkTraits(kind: .rfcomm, remoteAddress: ""))
    try window.send(window.limit)
    #expect(window.room == 0)
    #expect(throws: RelayError.self) { try window.send(1) }
    try window.taken(10)
    #expect(window.room == 10)
    #expect(throws: RelayError.self) { try window.taken(window.limit) }
    #expect(throws: RelayError.self) { try window.taken(-1) }
    // Room for two of the largest packets, so that one can be made while another one goes.
    #expect(LinkWindow.limit(of: Samples.traits) == 2 * 32_668)
    #expect(
      LinkWindow.limit(of: LinkTraits(kind: .l2cap, remoteAddress: "", isPacket: true, largestWrite: 1 << 20)) == 128
        << 10)
  }

  @Test("pieces are taken in their order, in parts, and counted")
  func pieces() {
    var queue = PieceQueue()
    for number in 0..<1_000 { queue.append(Bytes([UInt8(truncatingIfNeeded: number), 0])) }
    queue.append([])
    #expect(queue.byteCount == 2_000)
    for number in 0..<1_000 {
      #expect(queue.first?.first == UInt8(truncatingIfNeeded: number))
      queue.take(1)
      #expect(queue.first?.count == 1)
      queue.take(5)
    }
    #expect(queue.isEmpty && queue.byteCount == 0 && queue.first == nil)
  }
}

extension AdapterOrder {
  fileprivate var encoded: [UInt8] { RelayFrameDecoder<AdapterOrder>.bytes(of: self) }
}
