import PiconetDNSSD
import PiconetEngine
import PiconetWire
import Testing

@testable import PiconetIP

@Suite("Which addresses of a sighting may be dialled")
struct DialableAddressTests {
  private static let lo: UInt32 = 1
  private static let eth: UInt32 = 2
  private static let wlan: UInt32 = 3
  private static let tunnel: UInt32 = 4
  private static let ownIPv6 = IPAddress.v6(high: 0x2001_0DB8_0000_0001, low: 7)

  private static func table() -> InterfaceTable {
    var table = InterfaceTable()
    for (index, name, flags) in [
      (lo, "lo", UInt32(0x49)), (eth, "eth0", 0x1041), (wlan, "wlan0", 0x1041), (tunnel, "wg0", 0x1051),
    ] {
      table.apply(.link(.init(index: index, name: name, flags: flags)))
    }
    for (index, address, prefix) in [
      (lo, IPAddress.v4(0x7F00_0001), 8), (lo, .v6(high: 0, low: 1), 128), (eth, .v4(0xC0A8_0107), 24),
      // As DHCPv6 gives it.
      (eth, ownIPv6, 128), (wlan, .v4(0x0A00_0007), 8), (tunnel, .v4(0x0A63_0001), 32),
    ] {
      table.apply(.address(index: index, address, prefix: prefix, isUsable: true))
    }
    return table
  }

  private static func mayDial(
    _ address: IPAddress, on index: UInt32, port: UInt16 = 4_000, from origin: IPAddress? = .v4(0xC0A8_0163)
  ) -> Bool {
    table().mayDial(
      .init(interface: InterfaceID(index: index, isIPv6: false), address: address, port: port, origin: origin))
  }

  @Test("those of a network that the interface is on, and no others of IPv4")
  func onLink() {
    #expect(Self.mayDial(.v4(0xC0A8_0163), on: Self.eth))
    // Another network, behind a router or on another interface; and this network on that interface.
    #expect(!Self.mayDial(.v4(0xC0A8_4D01), on: Self.eth))
    #expect(!Self.mayDial(.v4(0x0A00_0009), on: Self.eth))
    #expect(!Self.mayDial(.v4(0x0808_0808), on: Self.eth))
    #expect(Self.mayDial(.v4(0x0A00_0009), on: Self.wlan) && !Self.mayDial(.v4(0xC0A8_0163), on: Self.wlan))
    #expect(!Self.mayDial(.v4(0xA9FE_0101), on: Self.eth), "169.254/16 is no network of it")
    #expect(!Self.mayDial(.v4(0xC0A8_0163), on: 9), "an interface that is gone")
  }

  @Test("link-local ones and global ones of IPv6; of others those of its networks")
  func ipv6() {
    #expect(Self.mayDial(.v6(high: 0xFE80_0000_0000_0000, low: 9), on: Self.eth))
    #expect(Self.mayDial(.v6(high: 0x2001_0DB8_0000_0001, low: 9), on: Self.eth))
    #expect(!Self.mayDial(.v6(high: 0xFD00_0000_0000_0000, low: 9), on: Self.eth))
    #expect(!Self.mayDial(.v6(high: 0xFF02_0000_0000_0000, low: 1), on: Self.eth))
    #expect(!Self.mayDial(.v6(high: 0, low: 0xFFFF_7F00_0001), on: Self.eth), "127.0.0.1 in IPv6")
  }

  @Test("loopback alone on loopback, from whatever comes over it")
  func loopback() {
    for address in [IPAddress.v4(0x7F00_0001), .v4(0x7F00_0002), .v6(high: 0, low: 1)] {
      #expect(Self.mayDial(address, on: Self.lo) && !Self.mayDial(address, on: Self.eth))
    }
    #expect(!Self.mayDial(.v4(0xC0A8_0163), on: Self.lo))
  }

  @Test("our own on the word of this host alone: another node of it is there")
  func own() {
    for address in [IPAddress.v4(0xC0A8_0107), Self.ownIPv6, .v4(0x0A00_0007)] {
      #expect(!Self.mayDial(address, on: Self.eth) && !Self.mayDial(address, on: Self.eth, from: nil))
    }
    #expect(Self.mayDial(.v4(0xC0A8_0107), on: Self.eth, from: .v4(0xC0A8_0107)))
    #expect(Self.mayDial(Self.ownIPv6, on: Self.eth, from: Self.ownIPv6))
  }

  @Test("a port below 1024 of a device on its own word alone")
  func lowPorts() {
    #expect(!Self.mayDial(.v4(0xC0A8_0101), on: Self.eth, port: 22))
    #expect(!Self.mayDial(.v4(0xC0A8_0101), on: Self.eth, port: 1_023, from: nil))
    #expect(Self.mayDial(.v4(0xC0A8_0163), on: Self.eth, port: 443))
  }

  @Test("on a link with one other end, the address of the host that speaks there")
  func pointToPoint() {
    #expect(Self.mayDial(.v4(0x0A63_0002), on: Self.tunnel, from: .v4(0x0A63_0002)))
    #expect(!Self.mayDial(.v4(0x0A63_0003), on: Self.tunnel, from: .v4(0x0A63_0002)))
    #expect(!Self.mayDial(.v4(0xC0A8_4D01), on: Self.eth, from: .v4(0xC0A8_4D01)), "no such link")
  }

  @Test("a sighting comes and goes as this host's addresses do")
  func addressesChange() throws {
    var sightings = SightingTable(sessionID: "photos")
    let instance = try SightingTableTests.instance("Anna", endpoints: [(Self.eth, .v4(0xC0A8_0163))])
    #expect(sightings.apply(.resolved(instance), InterfaceTable()).isEmpty)
    guard case .seen(let sighting)? = sightings.interfacesChanged(Self.table()).first else {
      Issue.record("not seen")
      return
    }
    #expect(sighting.addresses.map(\.text) == ["192.168.1.99:4000"])
    #expect(sightings.interfacesChanged(InterfaceTable()) == [.gone(sighting.peer, sighting.incarnation)])
  }
}
