import Glibc

/// An IPv4 network that an interface of this host is on.
struct LocalNetwork: Sendable, Hashable {
  /// The interface's index.
  let interface: UInt32
  /// The interface's address, and the mask of its network, in host order.
  let address: UInt32
  let mask: UInt32

  func contains(_ other: UInt32) -> Bool { mask != 0 && address & mask == other & mask }

  /// Returns the networks of the interfaces that are up, except loopback. At most 64.
  static func current() -> [LocalNetwork] {
    LocalAddresses.entries { entry in
      guard entry.ifa_flags & UInt32(IFF_LOOPBACK) == 0,
        case .ipv4(let address)? = entry.ifa_addr.flatMap({ SocketAddress($0) })?.host,
        case .ipv4(let mask)? = entry.ifa_netmask.flatMap({ SocketAddress($0) })?.host,
        case let index = if_nametoindex(entry.ifa_name), index != 0
      else { return nil }
      return LocalNetwork(interface: index, address: address, mask: mask)
    }
  }
}

extension SocketAddress {
  /// Returns the addresses, followed by those in the networks of several interfaces once more over each of these
  /// interfaces. A laptop may be on two networks with the same numbers, by cable and by Wi-Fi, and its routes lead into
  /// one of them.
  static func overEachInterface(_ addresses: [SocketAddress], _ networks: [LocalNetwork]) -> [SocketAddress] {
    var all = addresses
    for address in addresses {
      guard case .ipv4(let number) = address.host, !networks.contains(where: { $0.address == number }) else { continue }
      var interfaces: [UInt32] = []
      for network in networks where network.contains(number) && !interfaces.contains(network.interface) {
        interfaces.append(network.interface)
      }
      if interfaces.count > 1 { all += interfaces.map { address.over(interface: $0) } }
    }
    return all
  }
}
