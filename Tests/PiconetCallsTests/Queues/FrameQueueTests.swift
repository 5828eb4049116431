import Testing

@testable import PiconetCalls

@Suite("Frames that wait to leave")
struct FrameQueueTests {
  private func frame(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }

  /// What leaves until nothing waits, put together again as a receiver does.
  private func received(_ queue: inout FrameQueue, _ assembly: inout PartAssembly) throws -> [[UInt8]] {
    var all: [[UInt8]] = []
    while let message = queue.next {
      queue.leave()
      switch try? CallFrame(decoding: message[...]) {
      case .begin(let id, let total, let part)?:
        if let whole = try assembly.begin(id, total: total, part, limit: 1_000_000) { all.append(whole) }
      case .next(let id, let part)?: if let whole = try assembly.next(id, part) { all.append(whole) }
      default: all.append(message)
      }
    }
    return all
  }

  @Test("frames leave in their order, long ones in parts that make them up again")
  func order() throws {
    var queue = FrameQueue(partSize: 100)
    let frames = (1...200).map { frame(UInt8($0), $0 % 3 == 0 ? 1_000 + $0 : $0 % 100 + 1) }
    var random = SystemRandomNumberGenerator()
    var assembly = PartAssembly()
    var all: [[UInt8]] = []
    for (number, frame) in frames.enumerated() {
      guard queue.add(frame, .other, id: random.next()) else { throw CallFailure(.tooLarge, "there is no room") }
      if number % 50 == 49 { all += try received(&queue, &assembly) }
    }
    #expect(all == frames)
    #expect(queue.isEmpty && queue.bytes == 0)
  }

  @Test("a frame that is given up in the middle leaves the next one whole, and gives its room back")
  func withdrawal() throws {
    var queue = FrameQueue(partSize: 100)
    for number in 1...3 as ClosedRange<UInt64> {
      _ = queue.add(frame(UInt8(number), 1_000), .answer(number), id: number)
    }
    _ = queue.add(frame(4, 1_000), .call(1), id: 4)
    var assembly = PartAssembly()
    let first = try #require(queue.next)
    queue.leave()
    guard case .begin(1, let total, let part) = try CallFrame(decoding: first[...]) else {
      Issue.record("it does not begin")
      return
    }
    #expect(try assembly.begin(1, total: total, part, limit: 10_000) == nil)
    let bytes = queue.bytes
    queue.withdraw(.answer(1))
    queue.withdraw(.answer(3))
    queue.withdraw(.answer(9))
    #expect(queue.count == 2 && queue.bytes == bytes / 3)
    let rest = try received(&queue, &assembly)
    #expect(rest == [frame(2, 1_000), frame(4, 1_000)])
  }

  @Test("waiting frames have limits, from which a frame alone and our own calls are free")
  func limits() {
    var queue = FrameQueue(partSize: 100, countLimit: 4, byteLimit: 1_000)
    let alone = [
      queue.add(frame(1, 5_000), .answer(1), id: 1), queue.add(frame(2, 10), .answer(2), id: 2),
      queue.add(frame(3, 5_000), .call(3), id: 3),
    ]
    #expect(alone == [true, false, true])
    while queue.count > 1 { queue.leave() }
    #expect(queue.bytes == 0)
    let several = [
      queue.add(frame(4, 400), .answer(4), id: 4), queue.add(frame(5, 400), .other, id: 5),
      queue.add(frame(6, 400), .other, id: 6), queue.add(frame(7, 400), .call(7), id: 7),
      queue.add(frame(8, 400), .call(8), id: 8),
    ]
    #expect(several == [true, true, false, true, false], "of any kind at most four")
    queue.removeAll()
    #expect(queue.isEmpty && queue.next == nil && queue.bytes == 0)
  }

  @Test("a queue that never empties goes on in its order")
  func neverEmpty() {
    var queue = FrameQueue(partSize: 1)
    for number in 0..<1_000 as Range<UInt64> { _ = queue.add([0], .answer(number), id: 0) }
    for _ in 0..<700 { queue.leave() }
    #expect(queue.count == 300)
    for number in 1_000..<1_300 as Range<UInt64> { _ = queue.add([0], .answer(number), id: 0) }
    var left = 0
    while queue.next != nil {
      queue.leave()
      left += 1
    }
    #expect(left == 600)
  }
}
