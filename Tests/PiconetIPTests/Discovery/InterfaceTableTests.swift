import PiconetDNSSD
import Testing

@testable import PiconetIP

@Suite struct InterfaceTableTests {
  static func number(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
  static func short(_ value: UInt16) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
  static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
    short(UInt16(value.count + 4)) + short(type) + value + [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
  }
  static func message(_ type: UInt16, _ body: [UInt8]) -> [UInt8] {
    number(UInt32(body.count + 16)) + short(type) + short(0) + number(1) + number(0) + body
  }
  /// - Parameters:
  ///   - family: 0, or AF_BRIDGE for what is said of a port.
  ///   - kind: the virtual driver.
  ///   - port: the master and its kind.
  static func link(
    _ index: UInt32, _ name: String, flags: UInt32, type: UInt16 = RouteMessage.newLink, family: UInt8 = 0,
    kind: String? = nil, port: (of: UInt32, kind: String)? = nil
  ) -> [UInt8] {
    let text = { (type: UInt16, text: String) in attribute(type, Array(text.utf8) + [0]) }
    let info = (kind.map { text(1, $0) } ?? []) + (port.map { text(4, $0.kind) } ?? [])
    return message(
      type,
      [family, 0, 0, 0] + number(index) + number(flags) + number(0) + text(3, name)
        + (port.map { attribute(10, number($0.of)) } ?? []) + (info.isEmpty ? [] : attribute(18 | 0x8000, info)))
  }
  static func address(
    _ index: UInt32, _ address: IPAddress, prefix: UInt8, flags: UInt8 = 0, type: UInt16 = RouteMessage.newAddress
  ) -> [UInt8] {
    message(type, [address.isIPv6 ? 10 : 2, prefix, flags, 0] + number(index) + attribute(1, address.bytes))
  }

  static let up: UInt32 = 0x1041
  static let loopback: UInt32 = 0x49
  static let wired = IPAddress.v4(0x0A4D_0001)

  static func table(_ messages: [UInt8]...) -> InterfaceTable {
    var table = InterfaceTable()
    for message in RouteMessage.parse(messages.flatMap { $0 }[...]) { table.apply(message) }
    return table
  }

  @Test func messagesInOneDatagramAreAllRead() {
    let bytes = Self.link(2, "eth0", flags: Self.up) + Self.address(2, Self.wired, prefix: 24) + Self.message(3, [])
    #expect(
      RouteMessage.parse(bytes[...]) == [
        .link(.init(index: 2, name: "eth0", flags: Self.up)),
        .address(index: 2, Self.wired, prefix: 24, isUsable: true), .done,
      ])
  }

  @Test func everyTruncationAndMutationIsHarmless() {
    let bytes = Self.link(2, "eth0", flags: Self.up) + Self.address(2, Self.wired, prefix: 24)
    for count in 0..<bytes.count { _ = RouteMessage.parse(bytes.prefix(count)) }
    for index in bytes.indices {
      for value: UInt8 in [0, 1, 3, 0x7F, 0xFF] {
        var changed = bytes
        changed[index] = value
        _ = RouteMessage.parse(changed[...])
      }
    }
  }

  @Test func loopbackAddressesStayOnLoopbackAndOthersOnTheirInterface() {
    let table = Self.table(
      Self.link(1, "lo", flags: Self.loopback), Self.address(1, .v4(0x7F00_0001), prefix: 8),
      Self.address(1, .v6(high: 0, low: 1), prefix: 128), Self.address(1, .v4(0x0A00_0005), prefix: 32),
      Self.link(2, "eth0", flags: Self.up), Self.address(2, Self.wired, prefix: 24))
    let usable = table.usable(names: nil) { _ in true }
    let first = usable[InterfaceID(index: 1, isIPv6: false)]
    #expect(first?.addresses == [.v4(0x7F00_0001), .v6(high: 0, low: 1)])
    #expect(first?.isLoopback == true && first?.receivesUnicast == false)
    #expect(usable[InterfaceID(index: 2, isIPv6: false)]?.addresses == [Self.wired])
    #expect(usable[InterfaceID(index: 2, isIPv6: true)] == nil)
    #expect(Set(table.usable(names: ["lo"]) { _ in true }.keys.map(\.index)) == [1])
  }

  @Test func tentativeAddressesInterfacesThatAreDownAndRemovedOnesAreNotUsed() {
    let tentative = Self.table(
      Self.link(2, "eth0", flags: Self.up), Self.address(2, Self.wired, prefix: 24, flags: 0x40))
    #expect(tentative.usable(names: nil) { _ in true }.isEmpty)
    let down = Self.table(Self.link(2, "eth0", flags: 0x1000), Self.address(2, Self.wired, prefix: 24))
    #expect(down.usable(names: nil) { _ in true }.isEmpty)
    var table = Self.table(Self.link(2, "eth0", flags: Self.up), Self.address(2, Self.wired, prefix: 24))
    #expect(table.usable(names: nil) { _ in true }.count == 1)
    table.apply(.addressRemoved(index: 2, Self.wired))
    #expect(table.usable(names: nil) { _ in true }.isEmpty)
    table.apply(.linkRemoved(index: 2))
    #expect(table.interfaces.isEmpty)
  }

  @Test func aUnicastPacketMustComeFromTheInterfacesOwnNetwork() {
    let table = Self.table(
      Self.link(1, "lo", flags: Self.loopback), Self.link(2, "eth0", flags: Self.up),
      Self.address(2, Self.wired, prefix: 24))
    #expect(table.isOnLink(.v4(0x0A4D_00FE), index: 2))
    #expect(!table.isOnLink(.v4(0x0A4D_01FE), index: 2))
    #expect(table.isOnLink(.v6(high: 0xFE80_0000_0000_0000, low: 9), index: 2))
    #expect(table.isOnLink(.v4(0x7F00_0001), index: 1))
    #expect(!table.isOnLink(.v4(0x0808_0808), index: 1))
    #expect(!table.isOnLink(Self.wired, index: 9))
  }

  @Test("a bridge without ports and the ports of one are left alone, unless a person has chosen them; a VRF's are not")
  func withoutPeers() {
    let links = [
      Self.link(2, "empty", flags: Self.up, kind: "bridge"), Self.link(3, "br0", flags: Self.up, kind: "bridge"),
      Self.link(4, "port", flags: Self.up, kind: "veth", port: (of: 3, kind: "bridge")),
      Self.link(5, "free", flags: Self.up, kind: "veth"), Self.link(6, "red", flags: Self.up, kind: "vrf"),
      Self.link(7, "eth1", flags: Self.up, port: (of: 6, kind: "vrf")),
    ]
    let addresses = (2...7).map { Self.address($0, .v4(0x0A00_0001 + $0 << 8), prefix: 24) }
    let table = Self.table((links + addresses).flatMap { $0 })
    #expect(Set(table.usable(names: nil) { _ in true }.keys.map(\.index)) == [3, 5, 6, 7])
    #expect(Set(table.usable(names: ["empty", "port"]) { _ in true }.keys.map(\.index)) == [2, 4])
  }

  @Test("an interface that leaves a bridge is still there, although the bridge says that its port is gone")
  func portIsGone() {
    let table = Self.table(
      Self.link(3, "br0", flags: Self.up, kind: "bridge"), Self.address(3, .v4(0x0A00_0001), prefix: 24),
      Self.link(2, "eth0", flags: Self.up, port: (of: 3, kind: "bridge")), Self.address(2, Self.wired, prefix: 24),
      Self.link(2, "eth0", flags: Self.up),
      Self.link(2, "eth0", flags: Self.up, type: RouteMessage.removeLink, family: 7))
    #expect(Set(table.usable(names: nil) { _ in true }.keys.map(\.index)) == [2])
  }

  @Test("hardware matters more than containers, and an address that leads somewhere more than a link-local one")
  func ranks() {
    let linkLocal = IPAddress.v6(high: 0xFE80_0000_0000_0000, low: 1)
    let table = Self.table(
      Self.link(1, "lo", flags: Self.loopback), Self.link(2, "veth1", flags: Self.up, kind: "veth"),
      Self.link(3, "wlan0", flags: Self.up), Self.link(4, "br0", flags: Self.up, kind: "bridge"),
      Self.address(1, .v4(0x7F00_0001), prefix: 8), Self.address(2, Self.wired, prefix: 24),
      Self.address(2, linkLocal, prefix: 64), Self.address(3, linkLocal, prefix: 64),
      Self.address(4, .v4(0x0A00_0001), prefix: 24))
    let ids = [(1, false), (3, true), (4, false), (2, false), (2, true)].map {
      InterfaceID(index: $0.0, isIPv6: $0.1)
    }
    #expect(ids.reversed().sorted { table.rank(of: $0) < table.rank(of: $1) } == ids)
  }
}
