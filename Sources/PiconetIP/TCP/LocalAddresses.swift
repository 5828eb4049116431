import Glibc

/// The addresses of this host's interfaces that are up.
enum LocalAddresses {
  /// Without loopback addresses, unless there are no others. Link-local ones last. At most 64.
  static func current(port: UInt16, ipv4: Bool, ipv6: Bool) -> [SocketAddress] {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else { return [] }
    defer { freeifaddrs(list) }
    var found: [SocketAddress] = []
    var next = list
    while let entry = next, found.count < 64 {
      next = entry.pointee.ifa_next
      guard entry.pointee.ifa_flags & UInt32(IFF_UP) != 0, let pointer = entry.pointee.ifa_addr,
        let address = SocketAddress(pointer), address.isIPv6 ? ipv6 : ipv4
      else { continue }
      found.append(SocketAddress(address.host, port: port))
    }
    let real = found.filter { !$0.isLoopback }
    if real.isEmpty { return found }
    return real.filter { !$0.isLinkLocal } + real.filter(\.isLinkLocal)
  }
}
