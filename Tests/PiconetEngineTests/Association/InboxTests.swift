import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Credit for reliable messages")
struct InboxTests {
  @Test("a message of the limit fits whenever the application has taken all before it")
  func messageOfTheLimitAlwaysFits() throws {
    let limit = 20_000
    let window = limit + WireLimits.messageCost
    var inbox = Inbox(window: UInt64(window))
    var granted = UInt64(window)
    var used: UInt64 = 0
    // Each is too small to be worth a frame.
    for size in [100, 2_000, 3_000] {
      let bytes = [UInt8](repeating: 7, count: size)[...]
      _ = try inbox.message(bytes, messageLimit: limit)
      used += UInt64(size + WireLimits.messageCost)
      if let more = inbox.consume(size + WireLimits.messageCost, messageLimit: limit) { granted = more }
      #expect(granted - used >= UInt64(window))
    }
  }

  @Test("credit comes in few frames while the window is much larger than a message")
  func creditComesInFewFrames() throws {
    var inbox = Inbox(window: 1 << 20)
    var grants = 0
    for _ in 0..<1_000 {
      _ = try inbox.message([UInt8](repeating: 7, count: 1_000)[...], messageLimit: 5_000)
      if inbox.consume(1_000 + WireLimits.messageCost, messageLimit: 5_000) != nil { grants += 1 }
    }
    #expect(grants <= 4)
  }

  @Test("credit may be used to its last byte, and not beyond")
  func creditBreach() throws {
    var inbox = Inbox(window: 1_000)
    _ = try inbox.message(bytes(1_000 - WireLimits.messageCost), messageLimit: 5_000)
    #expect(throws: InboxBreach.credit) { try inbox.message(bytes(0), messageLimit: 5_000) }
    var another = Inbox(window: 1_000)
    #expect(throws: InboxBreach.credit) {
      try another.message(bytes(1_001 - WireLimits.messageCost), messageLimit: 5_000)
    }
  }

  @Test("a fragment costs its bytes, a message the fixed cost beside them")
  func costs() throws {
    var inbox = Inbox(window: 132)
    try inbox.fragment(bytes(100), messageLimit: 5_000)
    #expect(try inbox.message(bytes(0), messageLimit: 5_000).count == 100)
    #expect(throws: InboxBreach.credit) { try inbox.fragment(bytes(1), messageLimit: 5_000) }
  }

  @Test("empty messages use credit, so that there can't be endless ones")
  func emptyMessages() throws {
    var inbox = Inbox(window: 1_000)
    for _ in 0..<(1_000 / WireLimits.messageCost) { _ = try inbox.message(bytes(0), messageLimit: 5_000) }
    #expect(throws: InboxBreach.credit) { try inbox.message(bytes(0), messageLimit: 5_000) }
  }

  @Test("a message of the limit is taken, one byte more is not, in one frame or several")
  func messageLimit() throws {
    var inbox = Inbox(window: 1 << 20)
    #expect(try inbox.message(bytes(500), messageLimit: 500).count == 500)
    #expect(throws: InboxBreach.messageLimit) { try inbox.message(bytes(501), messageLimit: 500) }
    var cut = Inbox(window: 1 << 20)
    try cut.fragment(bytes(300), messageLimit: 500)
    #expect(try cut.message(bytes(200), messageLimit: 500).count == 500)
    try cut.fragment(bytes(300), messageLimit: 500)
    #expect(throws: InboxBreach.messageLimit) { try cut.message(bytes(201), messageLimit: 500) }
    var fragments = Inbox(window: 1 << 20)
    try fragments.fragment(bytes(500), messageLimit: 500)
    #expect(throws: InboxBreach.messageLimit) { try fragments.fragment(bytes(1), messageLimit: 500) }
    #expect(fragments.bufferedCount == 500)
  }

  @Test("fragments become one message in their order, and the next message begins anew")
  func fragments() throws {
    var inbox = Inbox(window: 1 << 20)
    try inbox.fragment([1, 2], messageLimit: 500)
    try inbox.fragment([3], messageLimit: 500)
    #expect(inbox.bufferedCount == 3)
    #expect(try inbox.message([4], messageLimit: 500) == [1, 2, 3, 4])
    #expect(inbox.bufferedCount == 0)
    #expect(try inbox.message([5], messageLimit: 500) == [5])
  }

  @Test("consumption counts at most what has arrived", arguments: [Int.max, 1_000, 133])
  func hugeConsumption(cost: Int) throws {
    var inbox = Inbox(window: 1_000)
    _ = try inbox.message(bytes(100), messageLimit: 900)
    #expect(inbox.consume(cost, messageLimit: 900) == 1_132)
    #expect(inbox.consume(cost, messageLimit: 900) == nil)
  }

  @Test("a negative consumption is ignored", arguments: [0, -1, Int.min])
  func negativeConsumption(cost: Int) throws {
    var inbox = Inbox(window: 1_000)
    _ = try inbox.message(bytes(900), messageLimit: 900)
    #expect(inbox.consume(cost, messageLimit: 900) == nil)
  }
}
