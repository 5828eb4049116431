import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Addresses that an introduction tells")
struct IPAddressHintTests {
  private func scope(_ host: String) -> IPAddressHint.Scope? { IPAddressHint(host: host)?.scope }

  @Test(
    "reach this device, one link, one site, or everywhere",
    arguments: [
      ("169.254.1.2", IPAddressHint.Scope.link), ("169.253.1.2", .global), ("10.0.0.1", .site),
      ("172.15.255.255", .global), ("172.16.0.0", .site), ("172.31.255.255", .site), ("172.32.0.0", .global),
      ("192.168.0.1", .site), ("192.167.0.1", .global), ("100.63.255.255", .global), ("100.64.0.0", .site),
      ("100.127.255.255", .site), ("100.128.0.0", .global), ("223.255.255.255", .global), ("1.0.0.0", .global),
      ("[fe80::1]", .link), ("[febf::1]", .link), ("[fec0::1]", .global), ("[fc00::1]", .site), ("[fdff::1]", .site),
      ("[2001:db8::1]", .global), ("[fb00::1]", .global), ("127.0.0.1", .device), ("127.255.255.255", .device),
      ("[::1]", .device), ("128.0.0.1", .global),
    ])
  func scopes(host: String, expected: IPAddressHint.Scope) {
    #expect(scope(host) == expected)
  }

  @Test(
    "have no scope if they name no device, or many devices",
    arguments: [
      "0.0.0.0", "0.1.2.3", "224.0.0.1", "239.1.2.3", "240.0.0.1", "255.255.255.255",
      "[::]", "[::ffff:c0a8:1]", "[::c0a8:1]", "[ff02::1]", "[ffff::1]", "[::101]",
    ])
  func noScope(host: String) {
    #expect(IPAddressHint(host: host) != nil && scope(host) == nil)
  }

  @Test(
    "are written as RFC 5952 has it, and read again",
    arguments: [
      ("[2001:0db8:0:0:0:0:0:0001]", "[2001:db8::1]"), ("[2001:db8::0:1]", "[2001:db8::1]"),
      ("[2001:db8:0:1:1:1:1:1]", "[2001:db8:0:1:1:1:1:1]"), ("[2001:0:0:1:0:0:0:1]", "[2001:0:0:1::1]"),
      ("[2001:db8:0:0:1:0:0:1]", "[2001:db8::1:0:0:1]"), ("[2001:DB8::AbCd]", "[2001:db8::abcd]"),
      ("[::]", "[::]"), ("[::1]", "[::1]"), ("[1::]", "[1::]"), ("[0:0:0:0:0:0:0:0]", "[::]"),
      ("[1:2:3:4:5:6:7::]", "[1:2:3:4:5:6:7:0]"), ("[::2:3:4:5:6:7:8]", "[0:2:3:4:5:6:7:8]"),
      ("[0:0:0:4::]", "[0:0:0:4::]"), ("192.0.2.7", "192.0.2.7"), ("0.0.0.0", "0.0.0.0"),
    ])
  func texts(text: String, canonical: String) {
    #expect(IPAddressHint(host: text)?.host(zone: nil) == canonical)
    #expect(IPAddressHint(host: canonical)?.host(zone: nil) == canonical)
  }

  @Test(
    "are numbers and nothing else",
    arguments: [
      "", "far", "example.org", "1.2.3", "1.2.3.4.5", "1.2.3.", ".1.2.3", "1.2.3.256", "1.2.3.1000", "-1.2.3.4",
      "+1.2.3.4", "1.2.3.+4", "1..2.3", "[]", "[", "]", "[:]", "[:::]", "[1:2:3:4:5:6:7]", "[1:2:3:4:5:6:7:8:9]",
      "[1:2:3:4:5:6:7:8::]", "[::1:2:3:4:5:6:7:8]", "[1::2::3]", "[12345::]", "[g::1]", "[:1]", "[1:]", "[:1::]",
      "[::1:]", "[1:2:3:4:5:6:7:]", "[:1:2:3:4:5:6:7]", "[+1::]", "[::-1]", "2001:db8::1", "[1.2.3.4]", "[%eth0]",
    ])
  func malformed(text: String) {
    #expect(IPAddressHint(host: text) == nil)
  }

  @Test("every address of random bytes is read as it was written")
  func roundTrips() {
    var random = SeededRandom(seed: 5)
    for _ in 0..<2_000 {
      let count = Bool.random(using: &random) ? 4 : 16
      // Zeros are frequent, since what leaves them out is what may be wrong.
      let bytes = (0..<count).map { _ in Bool.random(using: &random) ? 0 : UInt8.random(in: 0...255, using: &random) }
      let hint = IPAddressHint(bytes: bytes)
      #expect(hint.flatMap { IPAddressHint(host: $0.host(zone: nil)) } == hint)
    }
  }

  @Test("have 4 or 16 bytes")
  func lengths() {
    for count in 0...20 {
      let hint = IPAddressHint(bytes: [UInt8](repeating: 32, count: count))
      #expect((hint != nil) == (count == 4 || count == 16))
    }
  }

  @Test("have the zone of a link-local address beside them")
  func zones() {
    #expect(IPAddressHint.zone(of: "[fe80::1%eth0]") == "eth0")
    #expect(IPAddressHint.zone(of: "[fe80::1]") == nil && IPAddressHint.zone(of: "fe80::1%eth0") == nil)
    #expect(IPAddressHint(host: "[fe80::1%eth0]") == IPAddressHint(host: "[fe80::1]"))
  }
}
