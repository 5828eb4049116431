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
    // Each is too small to be worth a frame by itself.
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
}
