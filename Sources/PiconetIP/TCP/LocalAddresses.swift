import Glibc

/// The addresses of this host's interfaces that are up.
enum LocalAddresses {
  /// Without loopback addresses, unless there are no others. Link-local ones last. At most 64.
  static func current(port: UInt16, ipv4: Bool, ipv6: Bool) -> [SocketAddress] {
    let found = entries { entry -> SocketAddress? in
      guard let address = entry.ifa_addr.flatMap({ SocketAddress($0) }), address.isIPv6 ? ipv6 : ipv4 else {
        return nil
      }
      return SocketAddress(address.host, port: port)
    }
    let real = found.filter { !$0.isLoopback }
    if real.isEmpty { return found }
    return real.filter { !$0.isLinkLocal } + real.filter(\.isLinkLocal)
  }

  /// Returns what `body` makes of the addresses of the interfaces that are up, at most 64.
  static func entries<Value>(_ body: (ifaddrs) -> Value?) -> [Value] {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else { return [] }
    defer { freeifaddrs(list) }
    var found: [Value] = []
    var next = list
    while let entry = next?.pointee, found.count < 64 {
      next = entry.ifa_next
      if entry.ifa_flags & UInt32(IFF_UP) != 0, let value = body(entry) { found.append(value) }
    }
    return found
  }
}
