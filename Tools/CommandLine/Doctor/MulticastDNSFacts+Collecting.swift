import Glibc

extension MulticastDNSFacts {
  /// - Parameters:
  ///   - interfaces: those that are looked at for output rules.
  ///   - programs: the names of what runs.
  static func collected(_ interfaces: [DoctorFacts.Interface], programs: Set<String>) -> MulticastDNSFacts {
    var facts = MulticastDNSFacts()
    facts.ipv4Failure = portFailure(isIPv6: false)
    facts.ipv6Failure = portFailure(isIPv6: true)
    // A program may run in a container, where it has other networks and ports. `piconet` is this one.
    facts.isPiconetRunning = !programs.isDisjoint(with: ["imagerecv", "imagesend"]) && isPortUsed
    facts.heardOnIPv4 = SystemFile.text("/proc/thread-self/net/igmp", atMost: 1 << 20).map(ipv4Members)
    facts.heardOnIPv6 = SystemFile.text("/proc/thread-self/net/igmp6", atMost: 1 << 20).map(ipv6Members)
    facts.blockedInterfaces = Set(
      interfaces.filter { $0.hasIPv4 && !$0.isLoopback && isBlocked($0.name) }.map(\.name))
    return facts
  }

  /// Binds the port as our discovery does, and releases it; nothing is sent.
  private static func portFailure(isIPv6: Bool) -> String? {
    let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return ErrorNumber.text(errno) }
    defer { close(descriptor) }
    for option in [SO_REUSEADDR, SO_REUSEPORT] { set(descriptor, SOL_SOCKET, option, 1) }
    let result: Int32
    if isIPv6 {
      set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 1)
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = port.bigEndian
      result = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
        }
      }
    } else {
      result = withAddress(0) { bind(descriptor, $0, $1) }
    }
    return result == 0 ? nil : ErrorNumber.text(errno)
  }

  /// Whether a program on this machine has the port, as proc(5) lists it.
  private static var isPortUsed: Bool {
    ["udp", "udp6"].contains {
      SystemFile.text("/proc/thread-self/net/\($0)", atMost: 1 << 20)?.contains(":14E9 00000000") ?? false
    }
  }

  private static let port: UInt16 = 5353
  private static let group: UInt32 = 0xE000_00FB

  /// Whether the system refuses packets for the group on this interface. With a time to live of 0 a packet passes a
  /// firewall's output rules and never leaves the machine (ip_mc_output drops it). Without its loop no program here
  /// gets it.
  private static func isBlocked(_ interface: String) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var place = ip_mreqn()
    place.imr_ifindex = Int32(if_nametoindex(interface))
    let chosen = setsockopt(
      descriptor, Int32(IPPROTO_IP), IP_MULTICAST_IF, &place, socklen_t(MemoryLayout<ip_mreqn>.size))
    guard chosen == 0, set(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_TTL, 0),
      set(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_LOOP, 0)
    else { return false }
    let sent = withAddress(group) { sendto(descriptor, "", 0, Int32(MSG_NOSIGNAL), $0, $1) }
    return sent < 0 && (errno == EPERM || errno == EACCES)
  }

  @discardableResult
  private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) -> Bool {
    var value = value
    return setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0
  }

  private static func withAddress<Result>(
    _ host: UInt32, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = host.bigEndian
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
  }
}
