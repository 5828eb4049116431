import PiconetWire
import Testing

@testable import PiconetEngine

/// An outbox and an inbox with credit between them; a seed decides what both do.
@Suite("Messages between an outbox and an inbox")
struct MessageFlowTests {
  @Test(
    "whatever the sizes, a sender that keeps to its credit and a receiver that consumes always finish",
    arguments: 0..<60 as Range<UInt64>)
  func everythingArrives(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let frameLimit = Int.random(in: 1_024...3_000, using: &random)
    let messageLimit = Int.random(in: 1...10_000, using: &random)
    // The narrowest window that the configuration allows, or a wider one.
    let window = messageLimit + WireLimits.messageCost + [0, 1, 5_000, 50_000].randomElement(using: &random)!
    var outbox = Outbox(limit: UInt64(window))
    var inbox = Inbox(window: UInt64(window))
    let counts = (0..<60).map { _ in
      [0, 1, messageLimit, Int.random(in: 0...messageLimit, using: &random)].randomElement(using: &random)!
    }
    var waiting = counts[...]
    var wire: [Frame] = []
    var credit: [UInt64] = []
    var arrived: [Int] = []
    var taken = 0
    var idle = 0
    while taken < counts.count {
      idle += 1
      try #require(idle < 2_000, "stuck after \(taken) messages")
      switch Int.random(in: 0..<5, using: &random) {
      case 0:
        if let count = waiting.popFirst() { outbox.append(bytes(count)) }
      case 1:
        var encoded: [UInt8] = []
        _ = outbox.frame(into: &encoded, room: Int.random(in: 0...20_000, using: &random), frameLimit: frameLimit)
        #expect(outbox.used <= outbox.limit)
        var decoder = FrameDecoder(frameLimit: frameLimit)
        decoder.push(encoded[...])
        while let frame = try decoder.next() { wire.append(frame) }
      case 2:
        guard !wire.isEmpty else { break }
        switch wire.removeFirst() {
        case .fragment(let body): try inbox.fragment(body, messageLimit: messageLimit)
        case .message(let body): arrived.append(try inbox.message(body, messageLimit: messageLimit).count)
        default: Issue.record("another frame")
        }
        #expect(inbox.bufferedCount <= messageLimit)
        idle = 0
      case 3:
        guard taken < arrived.count else { break }
        // The application takes some messages at once.
        let batch = arrived[taken..<Int.random(in: (taken + 1)...arrived.count, using: &random)]
        taken += batch.count
        let cost = batch.reduce(0) { $0 + $1 + WireLimits.messageCost }
        if let limit = inbox.consume(cost, messageLimit: messageLimit) { credit.append(limit) }
        idle = 0
      default:
        if !credit.isEmpty { outbox.credit(credit.removeFirst()) }
      }
    }
    #expect(arrived == counts)
  }

  @Test(
    "in a channel whose window is smaller than a message, parts of half a window always finish",
    arguments: 0..<60 as Range<UInt64>)
  func everythingArrivesInAChannel(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let window = [1_024, 1_500, 10_000].randomElement(using: &random)!
    let messageLimit = Int.random(in: 1...20_000, using: &random)
    let partLimit = Int.random(in: 1...(window / 2), using: &random)
    var outbox = Outbox(in: 5, limit: UInt64(window))
    var inbox = Inbox(window: UInt64(window), countsParts: true)
    let counts = (0..<40).map { _ in Int.random(in: 0...messageLimit, using: &random) }
    for count in counts { outbox.append(bytes(count)) }
    var unread: [Int] = []
    var arrived: [Int] = []
    while arrived.count < counts.count || !unread.isEmpty {
      var encoded: [UInt8] = []
      let framed = outbox.frame(into: &encoded, room: 100_000, frameLimit: partLimit)
      var decoder = FrameDecoder(frameLimit: 16_384)
      decoder.push(encoded[...])
      while let frame = try decoder.next() {
        switch frame {
        case .channelFragment(5, let body):
          if let limit = try inbox.fragment(body, messageLimit: messageLimit) { outbox.credit(limit) }
        case .channelMessage(5, let body):
          arrived.append(try inbox.message(body, messageLimit: messageLimit).count)
          unread.append(arrived[arrived.count - 1])
        default: Issue.record("another frame")
        }
      }
      // The application takes some of them now, or all if nothing else goes on.
      let taken = framed.frames == 0 ? unread.count : Int.random(in: 0...unread.count, using: &random)
      try #require(framed.frames > 0 || taken > 0, "stuck after \(arrived.count) messages")
      let cost = unread.prefix(taken).reduce(0) { $0 + $1 + WireLimits.messageCost }
      unread.removeFirst(taken)
      if let limit = inbox.consume(cost, messageLimit: messageLimit) { outbox.credit(limit) }
      #expect(inbox.bufferedCount <= messageLimit)
    }
    #expect(arrived == counts)
  }
}
