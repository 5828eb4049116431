import Foundation
import TestSupport
import Testing

/// How many links over BR/EDR a controller has, as seen by the hosts of nine adapters, which are the tests themselves.
@Suite(
  "The capacity of the virtual machine's controllers", .serialized,
  .machine("--adapters 9 --no-daemon"))
struct CapacityTests {
  /// The first host has links to seven others, and asked for all but one of them; the last host has none.
  /// - Parameter body: gets the first host, with the handle of its link to the second, the second, and the last.
  static func full(_ body: (RawHost, [UInt8], RawHost, RawHost) throws -> Void) throws {
    var hosts: [RawHost] = []
    defer { for host in hosts { #expect((try? host.end()) == true) } }
    for number in 0..<9 {
      hosts.append(try RawHost(number))
      #expect(try hosts[number].command(0x0C1A, [2]) == 0)
    }
    let handle = try PagingTests.connect(hosts[0], hosts[1])[0]
    for other in hosts[2...6] { try PagingTests.connect(hosts[0], other) }
    try PagingTests.connect(hosts[7], hosts[0])
    try body(hosts[0], handle, hosts[1], hosts[8])
  }

  /// Ends the first host's link to another one.
  static func part(_ first: RawHost, _ handle: [UInt8]) throws {
    #expect(try first.command(0x0406, handle + [0x13]) == 0)
    _ = try first.event(RawHost.Event.disconnectionComplete)
  }

  @Test("a controller refuses its host an eighth link, until one of the seven has ended")
  func dials() throws {
    try Self.full { first, handle, second, last in
      #expect(try PagingTests.page(first, last) == 0x09, "connection limit exceeded")
      #expect(try first.count(RawHost.Event.connectionComplete) == 0)
      #expect(try last.count(RawHost.Event.connectionRequest) == 0)
      #expect(try PagingTests.page(first, second) == 0x0B, "connection exists")
      try Self.part(first, handle)
      try PagingTests.connect(first, last)
      #expect(try PagingTests.page(first, second) == 0x09)
    }
  }

  @Test("a controller with seven links refuses another host that dials it, and does not ask its own host")
  func isDialled() throws {
    try Self.full { first, handle, _, last in
      #expect(try PagingTests.page(last, first) == 0)
      #expect(try PagingTests.completion(last, first) == 0x0D, "connection rejected due to limited resources")
      #expect(try first.count(RawHost.Event.connectionRequest) == 0)
      try Self.part(first, handle)
      try PagingTests.connect(last, first)
    }
  }

  @Test("a page that waits for its answer counts")
  func waits() throws {
    try Self.full { first, handle, second, last in
      try Self.part(first, handle)
      try PagingTests.begin(last, first)
      #expect(try PagingTests.page(first, second) == 0x09)
      #expect(try first.command(0x040A, last.address + [0x0F]) == 0)
      #expect(try PagingTests.completion(last, first) == 0x0F)
      #expect(try PagingTests.completion(first, last) != 0)
      try PagingTests.connect(first, second)
    }
  }
}
