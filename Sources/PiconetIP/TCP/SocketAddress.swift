import CPiconetSystem
import Glibc
import PiconetEngine

/// An IP address and a port. IPv4 addresses mapped into IPv6 (RFC 4291, section 2.5.5.2) become IPv4.
public struct SocketAddress: Sendable, Hashable, CustomStringConvertible {
  public enum Host: Sendable, Hashable {
    case ipv4(UInt32)
    /// Both halves in host order; `zone` is an interface index (RFC 4007), 0 for none.
    case ipv6(UInt64, UInt64, zone: UInt32)
  }

  public let host: Host
  public let port: UInt16
  /// For an IPv4 address, the index of the interface over which to dial; 0: this host's routes decide.
  private(set) var interface: UInt32 = 0

  public init(_ host: Host, port: UInt16) {
    self.port = port
    if case .ipv6(0, let low, _) = host, low >> 32 == 0xFFFF {
      self.host = .ipv4(UInt32(truncatingIfNeeded: low))
    } else {
      self.host = host
    }
  }

  /// Returns an IPv4 address that is dialled over this interface, whatever the routes say.
  func over(interface: UInt32) -> SocketAddress {
    var address = self
    address.interface = interface
    return address
  }

  public static func anyIPv4(port: UInt16) -> SocketAddress { SocketAddress(.ipv4(0), port: port) }
  public static func anyIPv6(port: UInt16) -> SocketAddress { SocketAddress(.ipv6(0, 0, zone: 0), port: port) }
  public static func loopbackIPv4(port: UInt16) -> SocketAddress { SocketAddress(.ipv4(0x7F00_0001), port: port) }
  public static func loopbackIPv6(port: UInt16) -> SocketAddress { SocketAddress(.ipv6(0, 1, zone: 0), port: port) }

  public var isIPv6: Bool {
    if case .ipv6 = host { true } else { false }
  }

  /// `::` or `0.0.0.0`.
  public var isUnspecified: Bool { host == .ipv4(0) || host == .ipv6(0, 0, zone: 0) }

  /// 127.0.0.0/8 or `::1`.
  public var isLoopback: Bool {
    switch host {
    case .ipv4(let address): address >> 24 == 127
    case .ipv6(let high, let low, _): high == 0 && low == 1
    }
  }

  /// 169.254.0.0/16 (RFC 3927) or fe80::/10 (RFC 4291).
  public var isLinkLocal: Bool {
    switch host {
    case .ipv4(let address): address >> 16 == 0xA9FE
    case .ipv6(let high, _, _): high >> 54 == 0xFE80 >> 6
    }
  }

  public var isMulticast: Bool {
    switch host {
    case .ipv4(let address): address >> 28 == 0xE
    case .ipv6(let high, _, _): high >> 56 == 0xFF
    }
  }

  /// Why this address can't be dialled; nil if it can be tried.
  public var undialable: LinkFailure? {
    if port == 0 { return LinkFailure(.notAvailable, "port 0") }
    if isUnspecified { return LinkFailure(.notAvailable, "the unspecified address") }
    if isMulticast { return LinkFailure(.notAvailable, "a multicast address") }
    if isLinkLocal, case .ipv6(_, _, zone: 0) = host {
      return LinkFailure(.notAvailable, "a link-local address without its interface, as in [fe80::1%eth0]:49152")
    }
    return nil
  }

  /// Such as `192.168.1.7:49152` or `[fe80::1%eth0]:49152` (RFC 5952).
  public var description: String { isIPv6 ? "[\(hostText)]:\(port)" : "\(hostText):\(port)" }

  /// The address alone.
  public var hostText: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    switch host {
    case .ipv4(let address):
      var bytes = in_addr(s_addr: address.bigEndian)
      inet_ntop(AF_INET, &bytes, &text, socklen_t(text.count))
      return interface == 0 ? Self.string(text) : "\(Self.string(text))%\(Self.interfaceName(interface))"
    case .ipv6(let high, let low, let zone):
      var bytes = (high.bigEndian, low.bigEndian)
      inet_ntop(AF_INET6, &bytes, &text, socklen_t(text.count))
      return zone == 0 ? Self.string(text) : "\(Self.string(text))%\(Self.interfaceName(zone))"
    }
  }

  private static func interfaceName(_ zone: UInt32) -> String {
    var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
    // An interface that is gone is shown by its number.
    return if_indextoname(zone, &name) == nil ? "\(zone)" : string(name)
  }

  private static func string(_ text: [CChar]) -> String {
    String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

// MARK: The system's form

extension SocketAddress {
  /// Nil for families other than IPv4 and IPv6.
  public init?(_ address: UnsafePointer<sockaddr>) {
    let raw = UnsafeRawPointer(address)
    switch Int32(address.pointee.sa_family) {
    case AF_INET:
      let ipv4 = raw.loadUnaligned(as: sockaddr_in.self)
      self.init(.ipv4(UInt32(bigEndian: ipv4.sin_addr.s_addr)), port: UInt16(bigEndian: ipv4.sin_port))
    case AF_INET6:
      let ipv6 = raw.loadUnaligned(as: sockaddr_in6.self)
      let (high, low) = withUnsafeBytes(of: ipv6.sin6_addr) {
        ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      }
      self.init(
        .ipv6(UInt64(bigEndian: high), UInt64(bigEndian: low), zone: ipv6.sin6_scope_id),
        port: UInt16(bigEndian: ipv6.sin6_port))
    default:
      return nil
    }
  }

  init?(_ storage: sockaddr_storage) {
    let address = withUnsafePointer(to: storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { SocketAddress($0) }
    }
    guard let address else { return nil }
    self = address
  }

  package var family: Int32 { isIPv6 ? AF_INET6 : AF_INET }

  package func withSystemAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    switch host {
    case .ipv4(let address):
      var system = sockaddr_in()
      system.sin_family = sa_family_t(AF_INET)
      system.sin_port = port.bigEndian
      system.sin_addr.s_addr = address.bigEndian
      return withUnsafePointer(to: system) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
    case .ipv6(let high, let low, let zone):
      var system = sockaddr_in6()
      system.sin6_family = sa_family_t(AF_INET6)
      system.sin6_port = port.bigEndian
      system.sin6_scope_id = zone
      withUnsafeMutableBytes(of: &system.sin6_addr) {
        $0.storeBytes(of: high.bigEndian, as: UInt64.self)
        $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
      }
      return withUnsafePointer(to: system) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
        }
      }
    }
  }

  /// Returns the address of one end of a socket; nil when it no longer has one.
  package static func of(_ socket: Int32, remote: Bool) -> SocketAddress? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        remote ? getpeername(socket, $0, &length) : getsockname(socket, $0, &length)
      }
    }
    return result == 0 ? SocketAddress(storage) : nil
  }
}
