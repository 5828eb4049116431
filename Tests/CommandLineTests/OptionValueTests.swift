import Piconet
import Testing

@testable import PiconetCommandLine

private func argument(_ text: String) -> OptionArgument { OptionArgument(bytes: Array(text.utf8)) }

/// The value, or the reason why it is refused.
private func outcome<Value>(_ read: () throws(UnacceptableValue) -> Value) -> String {
  do throws(UnacceptableValue) { return "\(try read())" } catch {
    switch error {
    case .because(let reason): return reason
    case .notOneOf(let words): return words.joined(separator: "|")
    }
  }
}

@Suite("Option arguments are checked")
struct OptionValueTests {
  @Test(
    "sizes",
    arguments: [
      ("0", "0"), ("1500", "1500"), ("10M", "10485760"), ("10MB", "10000000"), ("1GiB", "1073741824"),
      ("1.5k", "1536"), ("0.5KiB", "512"), ("2t", "2199023255552"), ("7B", "7"), ("1.0000001K", "1024"),
      ("9223372036854775807", "9223372036854775807"), ("9223372036854775808", "too large"),
      ("8388608T", "too large"), ("8388607.999999T", "9223372036853676296"),
      ("", "not a size"), ("M", "not a size"), ("-1", "not a size"),
      ("1x", "unknown unit; use K, M, G, T, KiB... or KB..."),
      ("1 M", "unknown unit; use K, M, G, T, KiB... or KB..."), ("1.2.3", "not a size"), (".5M", "not a size"),
      ("1.", "not a size"), ("١", "not a size"), ("0x10", "unknown unit; use K, M, G, T, KiB... or KB..."),
    ])
  func sizes(text: String, expected: String) {
    #expect(outcome { () throws(UnacceptableValue) in try OptionNumbers.byteCount(argument(text)) } == expected)
  }

  @Test(
    "times",
    arguments: [
      ("30", "30.0 seconds"), ("1.5", "1.5 seconds"), ("2m", "120.0 seconds"), ("90s", "90.0 seconds"),
      ("250ms", "0.25 seconds"), ("1h", "3600.0 seconds"), ("0.5m", "30.0 seconds"),
      ("0", "must be more than 0"), ("0.0001", "must be more than 0"), ("9000h", "too large"),
      ("99999999999999999999", "too large"), ("-1", "not a time"), ("", "not a time"),
      ("1d", "unknown unit; use ms, s, m or h"), ("1e3", "unknown unit; use ms, s, m or h"), ("nan", "not a time"),
    ])
  func times(text: String, expected: String) {
    #expect(outcome { () throws(UnacceptableValue) in try OptionNumbers.seconds(argument(text)) } == expected)
  }

  @Test(
    "counts",
    arguments: [
      ("1", "1"), ("42", "42"), ("0", "must be at least 1"), ("-3", "not a whole number"),
      ("1.5", "not a whole number"), ("", "not a whole number"), ("99999999999999999999", "too large"),
    ])
  func counts(text: String, expected: String) {
    #expect(outcome { () throws(UnacceptableValue) in try OptionNumbers.count(argument(text)) } == expected)
  }

  @Test(
    "hosts with ports",
    arguments: [
      ("192.0.2.7:4000", "192.0.2.7:4000"), ("[::1]:4000", "[::1]:4000"), ("[fe80::1%eth0]:1", "[fe80::1%eth0]:1"),
      ("kitchen.local:65535", "kitchen.local:65535"), ("kitchen", "expected HOST:PORT"),
      ("::1:4000", "an IPv6 address must be in brackets, as in [::1]:4000"),
      ("::1", "an IPv6 address must be in brackets, as in [::1]:4000"),
      ("[::1]", "an IPv6 address must be in brackets, as in [::1]:4000"),
      ("[kitchen]:1", "brackets are for IPv6 addresses"),
      ("[]:1", "an IPv6 address must be in brackets, as in [::1]:4000"),
      (":4000", "the host is missing"), ("a b:1", "not a host name or address"), ("é:1", "not a host name or address"),
      ("h:", "the port must be a number from 1 to 65535"), ("h:0", "the port must be a number from 1 to 65535"),
      ("h:65536", "the port must be a number from 1 to 65535"), ("h:+1", "the port must be a number from 1 to 65535"),
    ])
  func hosts(text: String, expected: String) {
    #expect(outcome { () throws(UnacceptableValue) in try HostAndPort(argument(text)) } == expected)
  }

  @Test("to listen, the host may be left out and the port may be 0")
  func listening() throws {
    let address = try HostAndPort(argument(":0"), mayOmitHost: true, mayBeZero: true)
    #expect(address == HostAndPort(host: "", port: 0))
  }

  @Test("names are UTF-8 of 1 to 63 bytes without control characters")
  func names() {
    func name(_ bytes: [UInt8]) -> String {
      outcome { () throws(UnacceptableValue) in try OptionText.text(OptionArgument(bytes: bytes), atMost: 63) }
    }
    #expect(name(Array("Küche 🍳".utf8)) == "Küche 🍳")
    #expect(name([]) == "must not be empty")
    #expect(name([0xFF]) == "not valid UTF-8")
    #expect(name([0x61, 0x1B]) == "has a control character")
    #expect(name(Array(repeating: 0x61, count: 63)).count == 63)
    #expect(name(Array(repeating: 0x61, count: 64)) == "longer than 63 bytes")
  }

  @Test("a recipient is all, a fingerprint or a name")
  func recipients() throws {
    let digits = String(repeating: "0aF", count: 21) + "9"
    #expect(try Recipient(argument("all")) == .all)
    #expect(try Recipient(argument(digits)) == .peer(fingerprint: digits.lowercased()))
    #expect(try Recipient(argument("All")) == .named("All"))
    #expect(
      outcome { () throws(UnacceptableValue) in try Recipient(argument(String(repeating: "x", count: 256))) }
        == "longer than 255 bytes")
    // A person may send to a device by any name that it may be given here.
    let petname = String(repeating: "x", count: KnownPeers.nameByteLimit)
    #expect(try Recipient(argument(petname)) == .named(petname))
  }
}
