import Foundation
import TestSupport
import Testing

/// Pairing over BR/EDR ("just works"), as seen by the hosts of both adapters, which are the tests themselves.
@Suite(
  "Pairing between the virtual machine's controllers", .serialized,
  .machine("--adapters 9 --no-daemon"))
struct PairingTests {
  typealias Event = RawHost.Event

  /// The first host asks for authentication, and neither has a key. Both are asked everything, in order.
  static func pair(_ first: RawHost, _ handle: [UInt8], with second: RawHost) throws {
    #expect(try first.command(0x0411, handle) == 0)
    #expect(try first.event(Event.linkKeyRequest) == second.address)
    #expect(try first.command(0x040C, second.address) == 0)
    for (host, other) in [(first, second), (second, first)] {
      #expect(try host.event(Event.capabilitiesRequest) == other.address)
      #expect(try host.command(0x042B, other.address + [3, 0, 0]) == 0)
      #expect(try other.event(Event.capabilitiesResponse) == host.address + [3, 0, 0])
    }
    for (host, other) in [(first, second), (second, first)] {
      #expect(try Array(host.event(Event.confirmationRequest).prefix(6)) == other.address)
      #expect(try host.command(0x042C, other.address) == 0)
    }
    for (host, other) in [(first, second), (second, first)] {
      #expect(try host.event(Event.pairingComplete) == [0] + other.address)
      #expect(try Array(host.event(Event.linkKeyNotification).prefix(6)) == other.address)
    }
    #expect(try first.event(Event.authenticationComplete) == [0] + handle)
    for host in [first, second] {
      for event in [Event.authenticationComplete, Event.capabilitiesRequest, Event.confirmationRequest] {
        #expect(try host.count(event) == 0)
      }
    }
  }

  @Test("both hosts are asked at every pairing, and the host that wants it is told its end")
  func again() throws {
    try PagingTests.hosts { first, second in
      for host in [first, second] { #expect(try host.command(0x0C56, [1]) == 0) }
      let handles = try PagingTests.connect(first, second)
      try Self.pair(first, handles[0], with: second)
      try Self.pair(first, handles[0], with: second)
      try Self.pair(second, handles[1], with: first)
    }
  }

  @Test("a controller asks a host that has the key for it, and asks neither host for anything else")
  func withKey() throws {
    try PagingTests.hosts { first, second in
      for host in [first, second] { #expect(try host.command(0x0C56, [1]) == 0) }
      let handles = try PagingTests.connect(first, second)
      try Self.pair(first, handles[0], with: second)
      #expect(try second.command(0x0411, handles[1]) == 0)
      #expect(try second.event(Event.linkKeyRequest) == first.address)
      let key: [UInt8] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5]
      #expect(try second.command(0x040B, first.address + key) == 0)
      #expect(try second.event(Event.authenticationComplete) == [0] + handles[1])
      #expect(try first.count(Event.authenticationComplete) == 0)
      #expect(try first.count(Event.capabilitiesRequest) == 0)
    }
  }

  @Test("a link that both hosts have left in silence does not stand in the way of the next")
  func leftInSilence() throws {
    try PagingTests.hosts { first, second in
      for host in [first, second] { #expect(try host.command(0x0C56, [1]) == 0) }
      let former = try PagingTests.connect(first, second)
      #expect(try FaultTests.run("fault mute 0 1").status == 0)
      for (host, handle) in zip([first, second], former) {
        #expect(try host.command(0x0406, handle + [0x13]) == 0)
        #expect(try host.event(Event.disconnectionComplete) == [0] + handle + [0x16])
      }
      #expect(try FaultTests.run("fault unmute 0 1").status == 0)
      let handles = try PagingTests.connect(first, second)
      try Self.pair(first, handles[0], with: second)
    }
  }
}
