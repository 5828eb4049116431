import Glibc
import PiconetEngine
import Testing

@testable import PiconetIP

@Suite("Addresses as text")
struct SocketAddressTests {
  @Test(
    "numeric addresses are read and shown alike",
    arguments: [
      "127.0.0.1:49152", "[::1]:1", "[2001:db8::7]:65535", "[fe80::1%lo]:49152", "0.0.0.0:0", "[fe80::1%4242]:7",
    ])
  func roundTrip(text: String) throws {
    let addresses = try HostPort(text).numericAddresses()
    #expect(addresses?.map(\.description) == [text])
  }

  @Test("an IPv4 address mapped into IPv6 is shown as IPv4")
  func mapped() throws {
    let address = try #require(try HostPort("[::ffff:192.168.1.7]:80").numericAddresses()?.first)
    #expect(address.description == "192.168.1.7:80")
    #expect(!address.isIPv6)
  }

  @Test(
    "a text that is no HOST:PORT is refused with words for a person",
    arguments: [
      "", "host", ":1", "host:", "host:65536", "host:-1", "host:+1", "host:1x", "host:0x10", "host:000001", "::1:80",
      "fe80::1%lo:80", "[]:1", "a b:1", "a\u{0}b:1", "\(String(repeating: "a", count: 256)):1",
    ])
  func refused(text: String) {
    #expect { try HostPort(text) } throws: { ($0 as? LinkFailure)?.code == .notAvailable }
  }

  @Test("a zone that is no interface here is refused")
  func unknownZone() throws {
    let name = try HostPort("[fe80::1%nosuchif]:80")
    #expect { try name.numericAddresses() } throws: { ($0 as? LinkFailure)?.code == .notAvailable }
  }

  @Test("localhost needs no look-up, other names do", arguments: ["LOCALHOST:5", "printer.localhost:5"])
  func localhost(text: String) throws {
    #expect(try HostPort(text).numericAddresses()?.map(\.description) == ["[::1]:5", "127.0.0.1:5"])
    #expect(try HostPort("kitchen.local:5").numericAddresses() == nil)
    #expect(try HostPort("localhost.example:5").numericAddresses() == nil)
  }

  @Test("the system's form round-trips")
  func systemForm() throws {
    for text in ["10.1.2.3:4", "[2001:db8:1:2:3:4:5:6]:789", "[fe80::1%lo]:1"] {
      let address = try #require(try HostPort(text).numericAddresses()?.first)
      #expect(address.withSystemAddress { pointer, _ in SocketAddress(pointer) } == address)
    }
  }

  @Test("kinds of address")
  func kinds() throws {
    func address(_ text: String) throws -> SocketAddress {
      try #require(try HostPort("\(text):9").numericAddresses()?.first)
    }
    #expect(try address("127.9.9.9").isLoopback)
    #expect(try address("[::1]").isLoopback)
    #expect(try address("169.254.1.1").isLinkLocal)
    #expect(try address("[febf::1]").isLinkLocal)
    #expect(try !address("[fec0::1]").isLinkLocal)
    #expect(try address("224.0.0.251").isMulticast)
    #expect(try address("[ff02::fb]").isMulticast)
    #expect(try address("[::]").isUnspecified)
    #expect(try address("[fe80::1]").undialable != nil)
    #expect(try address("[fe80::1%lo]").undialable == nil)
    #expect(try address("10.0.0.1").undialable == nil)
  }

  @Test("each error number of connect has its code")
  func errors() {
    let expected: [(Int32, LinkFailure.Code)] = [
      (ECONNREFUSED, .refused), (EHOSTUNREACH, .unreachable), (ENETUNREACH, .unreachable), (ETIMEDOUT, .timedOut),
      (EMFILE, .tooManyDescriptors), (ENFILE, .tooManyDescriptors), (ECONNRESET, .reset), (EPIPE, .reset),
      (EACCES, .permission), (EHOSTDOWN, .hostDown), (EADDRNOTAVAIL, .notAvailable), (EBADF, .other),
    ]
    for (number, code) in expected { #expect(LinkFailure(call: "connect", number: number).code == code) }
    let refused = "nothing listens there (connect: Connection refused)"
    #expect(LinkFailure(call: "connect", number: ECONNREFUSED).detail == refused)
    #expect(LinkFailure(call: "bind", number: EBADF).detail == "bind: Bad file descriptor (EBADF)")
  }

  @Test("whatever a person may meet is explained in words, and the system's own stand behind them")
  func words() {
    for number in [
      ECONNREFUSED, ECONNRESET, ECONNABORTED, ENETRESET, EPIPE, ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN,
      ETIMEDOUT, EADDRINUSE, EADDRNOTAVAIL, EAFNOSUPPORT, EACCES, EPERM, EMFILE, ENFILE, EAGAIN, ENOBUFS, ENOMEM,
      ENODEV,
    ] {
      let detail = LinkFailure(call: "bind", number: number).detail
      let words = detail.prefix { $0 != "(" }
      #expect(words.contains(" ") && !words.contains(":") && detail.hasSuffix(")"), "\(detail)")
    }
  }

  @Test("the failure of a dial names every address and has the code that says most")
  func summary() {
    let failure = LinkFailure([
      AddressRace.Loss(subject: "a", failure: LinkFailure(.unreachable)),
      AddressRace.Loss(subject: "b", failure: LinkFailure(.refused, "connect")),
    ])
    #expect(failure == LinkFailure(.refused, "a: no way leads there; b: connect"))
    // If one address is silent, the refusal of another does not say that no program listens.
    let silent = AddressRace.Loss(subject: "c", failure: LinkFailure(.timedOut))
    #expect(LinkFailure([AddressRace.Loss(subject: "b", failure: LinkFailure(.refused)), silent]).code == .timedOut)
    #expect(LinkFailure([]).code == .notAvailable)
  }

  @Test("getaddrinfo's answer for a numeric name is that address")
  func lookup() throws {
    let found = try NameLookup.addresses(of: HostPort(host: "127.0.0.1", port: 7)).get()
    #expect(found == [.loopbackIPv4(port: 7)])
  }

  @Test("an address in the networks of several interfaces is dialled over each of them, after the routes' choice")
  func eachInterface() {
    let (cable, radio, other) = (
      LocalNetwork(interface: 2, address: 0xC0A8_010A, mask: 0xFFFF_FF00),
      LocalNetwork(interface: 3, address: 0xC0A8_010B, mask: 0xFFFF_FF00),
      LocalNetwork(interface: 4, address: 0x0A00_0001, mask: 0xFF00_0000)
    )
    let peer = SocketAddress(.ipv4(0xC0A8_0114), port: 4_000)
    let far = SocketAddress(.ipv4(0x0A00_0007), port: 4_000)
    let own = SocketAddress(.ipv4(0xC0A8_010A), port: 4_000)
    let six = SocketAddress.loopbackIPv6(port: 4_000)
    #expect(
      SocketAddress.overEachInterface([peer, six, far, own], [cable, radio, other])
        == [peer, six, far, own, peer.over(interface: 2), peer.over(interface: 3)])
    #expect(SocketAddress.overEachInterface([peer], [cable, cable, other]) == [peer])
    #expect(
      SocketAddress.overEachInterface([peer], [LocalNetwork(interface: 2, address: 1, mask: 0), radio]) == [peer])
    #expect(peer.over(interface: 2) != peer && peer.over(interface: 2).description.hasPrefix("192.168.1.20%"))
  }
}
