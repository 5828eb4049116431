import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Hosts of an introduction")
struct HostAddressTests {
  private func told(
    _ kind: TransportKind, _ text: String, to reached: [TransportKind: String] = [.tcp: "192.0.2.1"]
  ) -> HostAddress? {
    HostAddress(TransportAddress(kind: kind, text: text), to: reached)
  }

  private func dialled(
    _ host: [UInt8], transport: UInt8 = 1, port: UInt16 = 4_711, near reached: [TransportKind: String]
  ) -> String? {
    HostAddress(transport: transport, host: host, port: port).address(near: reached)?.text
  }

  private static let linkLocal: [UInt8] = [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [7]

  @Test("are told as bytes")
  func tells() {
    #expect(told(.tcp, "192.0.2.7:4711") == HostAddress(transport: 1, host: [192, 0, 2, 7], port: 4_711))
    // The zone means something here only.
    #expect(told(.tcp, "[fe80::7%eth0]:4711") == HostAddress(transport: 1, host: Self.linkLocal, port: 4_711))
    let device: [UInt8] = [0x00, 0x1B, 0xDC, 0x07, 0x32, 0xEF]
    #expect(told(.l2cap, "00:1B:DC:07:32:EF/0x1005") == HostAddress(transport: 2, host: device, port: 0x1005))
    #expect(told(.rfcomm, "00:1b:dc:07:32:ef/9") == HostAddress(transport: 3, host: device, port: 9))
  }

  @Test(
    "are not told where they would mean nothing elsewhere, or can't be read",
    arguments: [
      (TransportKind.tcp, "127.0.0.1:4711"), (.tcp, "[::1]:4711"), (.tcp, "far:4711"), (.tcp, "192.0.2.7"),
      (.tcp, "192.0.2.7:0"), (.tcp, "192.0.2.7:65536"), (.tcp, "192.0.2.7:"), (.tcp, "192.0.2.7:+80"),
      (.tcp, "[::ffff:c0a8:1]:80"), (.tcp, ":80"), (.tcp, ""), (.l2cap, "00:1B:DC:07:32/0x1005"),
      (.l2cap, "00:1B:DC:07:32:EF"), (.l2cap, "00:1B:DC:07:32:EF/"), (.l2cap, "00:1B:DC:07:32:EF:01/0x1005"),
      (.l2cap, "00:1B:DC:07:32:+F/0x1005"), (.rfcomm, "00:1B:DC:07:32:EF/0"), (.rfcomm, "00:1B:DC:07:32:EF/+9"),
      (.le, "00:1B:DC:07:32:EF/0x0080"), (.relay, "192.0.2.7:4711"), (.simulated, "192.0.2.7:4711"),
    ])
  func silent(kind: TransportKind, text: String) {
    #expect(told(kind, text) == nil)
  }

  @Test("of this very device are told to members of this device, dialled for them, and for no other member")
  func loopback() {
    let ipv6 = [UInt8](repeating: 0, count: 15) + [1]
    for reached in ["127.0.0.1", "[::1]", "127.0.0.2"] {
      let near: [TransportKind: String] = [.tcp: reached]
      #expect(told(.tcp, "127.0.0.1:4711", to: near) == HostAddress(transport: 1, host: [127, 0, 0, 1], port: 4_711))
      #expect(told(.tcp, "[::1]:4711", to: near) == HostAddress(transport: 1, host: ipv6, port: 4_711))
      #expect(dialled([127, 0, 0, 1], near: near) == "127.0.0.1:4711")
      #expect(dialled(ipv6, near: near) == "[::1]:4711")
      #expect(dialled([192, 168, 7, 7], near: near) == nil && dialled([203, 0, 113, 7], near: near) == nil)
    }
    for reached in ["192.168.0.1", "198.51.100.1", "169.254.1.1", "far", ""] {
      #expect(told(.tcp, "127.0.0.1:4711", to: [.tcp: reached]) == nil)
      #expect(dialled([127, 0, 0, 1], near: [.tcp: reached]) == nil && dialled(ipv6, near: [.tcp: reached]) == nil)
    }
    #expect(told(.tcp, "127.0.0.1:4711", to: [.l2cap: "127.0.0.1"]) == nil)
  }

  @Test("are dialled within the scope of the introducer's own address")
  func scopes() {
    let hosts: [(String, [UInt8])] = [
      ("198.51.100.1", [203, 0, 113, 7]), ("10.1.2.3", [192, 168, 7, 7]), ("169.254.1.1", [169, 254, 7, 7]),
    ]
    for (introducer, _) in hosts {
      for (own, host) in hosts {
        let text = host.map(String.init).joined(separator: ".") + ":4711"
        #expect(dialled(host, near: [.tcp: introducer]) == (own == introducer ? text : nil), "\(introducer)")
      }
    }
    #expect(dialled([203, 0, 113, 7], near: [.tcp: "[2001:db8::1]"]) == "203.0.113.7:4711")
    #expect(dialled([203, 0, 113, 7], near: [.tcp: "far"]) == nil)
    #expect(dialled([203, 0, 113, 7], near: [.tcp: ""]) == nil)
  }

  @Test("on one link are dialled by the interface by which the introducer came, and not without one")
  func zones() {
    #expect(dialled(Self.linkLocal, near: [.tcp: "[fe80::1%wlan0]"]) == "[fe80::7%wlan0]:4711")
    #expect(dialled(Self.linkLocal, near: [.tcp: "[2001:db8::1]"]) == nil)
    #expect(dialled(Self.linkLocal, near: [.tcp: "169.254.1.1"]) == nil)
    #expect(dialled(Self.linkLocal, near: [.tcp: "[fe80::1]"]) == nil)
  }

  @Test("are dialled over transports over which the introducer came")
  func transports() {
    let device: [UInt8] = [0x00, 0x1B, 0xDC, 0x07, 0x32, 0xEF]
    let near: [TransportKind: String] = [.l2cap: "11:22:33:44:55:66"]
    #expect(dialled(device, transport: 2, port: 0x1005, near: near) == "00:1B:DC:07:32:EF/0x1005")
    #expect(dialled(device, transport: 3, port: 9, near: near) == nil)
    #expect(dialled(device, transport: 3, port: 9, near: [.rfcomm: "11:22:33:44:55:66"]) == "00:1B:DC:07:32:EF/9")
    #expect(dialled([203, 0, 113, 7], near: near) == nil)
    for transport: UInt8 in [0, 4, 5, 77, 255] {
      let all = Dictionary(uniqueKeysWithValues: TransportKind.allCases.map { ($0, "198.51.100.1") })
      #expect(dialled([203, 0, 113, 7], transport: transport, near: all) == nil)
      #expect(dialled(device, transport: transport, near: all) == nil)
    }
  }

  @Test("of a length that they can't have are skipped")
  func lengths() {
    let near: [TransportKind: String] = [
      .tcp: "198.51.100.1", .l2cap: "11:22:33:44:55:66", .rfcomm: "11:22:33:44:55:66",
    ]
    for count in 0...16 {
      let host = [UInt8](repeating: 33, count: count)
      #expect((dialled(host, near: near) != nil) == (count == 4 || count == 16))
      #expect((dialled(host, transport: 2, near: near) != nil) == (count == 6))
      #expect((dialled(host, transport: 3, port: 7, near: near) != nil) == (count == 6))
    }
  }
}
