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
  static func link(_ index: UInt32, _ name: String, flags: UInt32, type: UInt16 = RouteMessage.newLink) -> [UInt8] {
    message(
      type, [0, 0, 0, 0] + number(index) + number(flags) + number(0) + attribute(3, Array(name.utf8) + [0]))
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
        .link(index: 2, name: "eth0", flags: Self.up),
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
}
