import CPiconetSystem
import Glibc
import PiconetEngine

/// The address of a peer as a person writes it: `192.168.1.7:49152`, `[fe80::1%eth0]:49152`, `kitchen.local:49152`.
public struct HostPort: Sendable, Hashable, CustomStringConvertible {
  /// Without brackets; with its zone, if it has one.
  public let host: String
  public let port: UInt16

  public init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// At most 255 bytes of host (RFC 1035, section 2.3.4).
  /// - Throws: `.notAvailable` with the fault, in words for a person.
  public init(_ text: String) throws(LinkFailure) {
    guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) else {
      throw LinkFailure(.notAvailable, "\(text): no port; write HOST:PORT")
    }
    let digits = text[text.index(after: colon)...]
    guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ 48...57 ~= $0 }), let port = UInt16(digits)
    else { throw LinkFailure(.notAvailable, "\(text): the port is a number from 0 to 65535") }
    var host = text[..<colon]
    if host.hasPrefix("[") && host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.utf8.contains(UInt8(ascii: ":")) {
      throw LinkFailure(.notAvailable, "\(text): write an IPv6 address in brackets, as in [fe80::1%eth0]:49152")
    }
    guard (1...255).contains(host.utf8.count), !host.utf8.contains(where: { $0 <= 32 || $0 == 127 }) else {
      throw LinkFailure(.notAvailable, "\(text): not a host")
    }
    self.init(host: String(host), port: port)
  }

  public var description: String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// Returns the addresses that need no look-up: a numeric address, or those of `localhost` (RFC 6761, section 6.3).
  /// Nil for any other name.
  /// - Throws: `.notAvailable` for a numeric address whose zone is not an interface here.
  public func numericAddresses() throws(LinkFailure) -> [SocketAddress]? {
    var ipv4 = in_addr()
    if inet_pton(AF_INET, host, &ipv4) == 1 {
      return [SocketAddress(.ipv4(UInt32(bigEndian: ipv4.s_addr)), port: port)]
    }
    let parts = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
    var halves: (UInt64, UInt64) = (0, 0)
    if inet_pton(AF_INET6, String(parts[0]), &halves) == 1 {
      var zone: UInt32 = 0
      if parts.count == 2 {
        zone = if_nametoindex(String(parts[1]))
        if zone == 0 { zone = UInt32(parts[1]) ?? 0 }
        if zone == 0 { throw LinkFailure(.notAvailable, "\(self): there is no interface \(parts[1])") }
      }
      return [
        SocketAddress(.ipv6(UInt64(bigEndian: halves.0), UInt64(bigEndian: halves.1), zone: zone), port: port)
      ]
    }
    let name = host.lowercased()
    if name == "localhost" || name.hasSuffix(".localhost") {
      return [.loopbackIPv6(port: port), .loopbackIPv4(port: port)]
    }
    return nil
  }
}
