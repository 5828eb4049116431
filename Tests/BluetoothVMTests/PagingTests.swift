import Foundation
import TestSupport
import Testing

/// How a page over BR/EDR ends, as seen by the hosts of both adapters, which are the tests themselves.
@Suite(
  "Pages between the virtual machine's controllers", .serialized,
  .machine("--adapters 9 --no-daemon"))
struct PagingTests {
  /// Two hosts, the second of which can be paged.
  static func hosts(_ body: (RawHost, RawHost) throws -> Void) throws {
    let first = try RawHost(0)
    defer { #expect((try? first.end()) == true) }
    let second = try RawHost(1)
    defer { #expect((try? second.end()) == true) }
    #expect(try second.command(0x0C1A, [2]) == 0)
    try body(first, second)
  }

  static func page(_ first: RawHost, _ second: RawHost) throws -> UInt8 {
    try first.command(0x0405, second.address + [0x18, 0xCC, 2, 0, 0, 0, 1])
  }

  /// Pages, up to the point where the second host is asked.
  static func begin(_ first: RawHost, _ second: RawHost) throws {
    #expect(try page(first, second) == 0)
    #expect(try Array(second.event(RawHost.Event.connectionRequest).prefix(6)) == first.address)
  }

  static func cancel(_ first: RawHost, _ second: RawHost) throws -> UInt8 {
    try first.command(0x0408, second.address)
  }

  static func accept(_ second: RawHost, _ first: RawHost) throws -> UInt8 {
    try second.command(0x0409, first.address + [1])
  }

  /// The status of the next "Connection Complete", which concerns the other host.
  static func completion(_ host: RawHost, _ other: RawHost) throws -> UInt8 {
    let event = try host.event(RawHost.Event.connectionComplete)
    #expect(Array(event[3..<9]) == other.address)
    return event[0]
  }

  /// Connects the two by another page; neither is told anything more of the one before.
  /// - Returns: the handles of the first and of the second host.
  @discardableResult static func connect(_ first: RawHost, _ second: RawHost) throws -> [[UInt8]] {
    try begin(first, second)
    #expect(try accept(second, first) == 0)
    let events = try [first, second].map { try $0.event(RawHost.Event.connectionComplete) }
    #expect(events.map { $0[0] } == [0, 0])
    #expect(events.map { Array($0[3..<9]) } == [second.address, first.address])
    for host in [first, second] { #expect(try host.count(RawHost.Event.connectionComplete) == 0) }
    return events.map { Array($0[1..<3]) }
  }

  @Test("a page that is accepted makes a link; another page to there is refused")
  func accepted() throws {
    try Self.hosts { first, second in
      try Self.connect(first, second)
      #expect(try Self.page(first, second) == 0x0B, "connection exists")
      #expect(try Self.cancel(first, second) == 0x02, "unknown connection: none is being made")
    }
  }

  @Test("a page that is rejected ends with the reason that the other host gave", arguments: [0x0D, 0x0F] as [UInt8])
  func rejected(reason: UInt8) throws {
    try Self.hosts { first, second in
      try Self.begin(first, second)
      #expect(try second.command(0x040A, first.address + [reason]) == 0)
      #expect(try Self.completion(first, second) == reason)
      #expect(try Self.completion(second, first) != 0)
      try Self.connect(first, second)
    }
  }

  @Test("a page that is cancelled ends for both, and can't be accepted any more")
  func cancelled() throws {
    try Self.hosts { first, second in
      try Self.begin(first, second)
      #expect(try Self.page(first, second) == 0x0C, "command disallowed: one is under way")
      #expect(try Self.cancel(first, second) == 0)
      #expect(try Self.completion(first, second) == 0x02)
      #expect(try Self.completion(second, first) != 0)
      #expect(try Self.accept(second, first) == 0x02)
      #expect(try Self.cancel(first, second) == 0x02)
      try Self.connect(first, second)
    }
  }

  @Test("a page that no controller hears is cancelled, or ends by the page timeout")
  func unheard() throws {
    defer { _ = try? FaultTests.run("fault paging 5120") }
    #expect(try FaultTests.run("fault paging 60000").status == 0)
    try Self.hosts { first, second in
      #expect(try second.command(0x0C1A, [0]) == 0)
      #expect(try Self.page(first, second) == 0)
      #expect(try Self.page(first, second) == 0x0C)
      #expect(try Self.cancel(first, second) == 0)
      #expect(try Self.completion(first, second) == 0x02)
      #expect(try FaultTests.run("fault paging 100").status == 0)
      #expect(try Self.page(first, second) == 0)
      #expect(try Self.completion(first, second) == 0x04)
      #expect(try second.count(RawHost.Event.connectionRequest) == 0)
      #expect(try second.command(0x0C1A, [2]) == 0)
      try Self.connect(first, second)
    }
  }

  @Test("a page that the other host does not answer ends for both by that host's accept timeout")
  func unanswered() throws {
    try Self.hosts { first, second in
      // In slots of 625 us: 100 ms.
      #expect(try second.command(0x0C16, [160, 0]) == 0)
      try Self.begin(first, second)
      #expect(try Self.completion(first, second) == 0x10)
      #expect(try Self.completion(second, first) == 0x10)
      #expect(try Self.accept(second, first) == 0x02)
      #expect(try second.command(0x0C16, [0, 0x7D]) == 0)
      try Self.connect(first, second)
    }
  }

  @Test("a page ends for the other host, too, when the adapter that pages is reset")
  func reset() throws {
    try Self.hosts { first, second in
      try Self.begin(first, second)
      #expect(try first.command(0x0C03) == 0)
      #expect(try Self.completion(second, first) != 0)
      try Self.connect(first, second)
    }
  }
}
