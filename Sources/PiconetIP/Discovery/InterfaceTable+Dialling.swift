import PiconetDNSSD

/// The addresses of a sighting that may be dialled. Any device on a link can advertise any address, and must not make
/// this node dial arbitrary hosts.
extension InterfaceTable {
  /// Returns whether an address may be dialled because a packet that came over its interface says so.
  ///
  /// - Loopback addresses are accepted from the loopback interface alone, and that one supplies no others.
  /// - An address of this host is accepted from this host alone: another of its nodes is there.
  /// - IPv4: an address of a network that the interface is on. Peers behind a router must be dialled by address.
  /// - IPv6: the same; also a link-local address always, with the interface as its zone; and a global one (2000::/3),
  ///   since by DHCPv6 (RFC 8415) an address does not tell its network.
  /// - A port below 1024 is dialled only at the address that the packet came from: a device may offer such a port of
  ///   its own, and does not send others to a neighbour's SSH.
  func mayDial(_ endpoint: ResolvedInstance.Endpoint) -> Bool {
    let (address, origin) = (endpoint.address, endpoint.origin)
    guard let interface = interfaces[endpoint.interface.index], address.isUnicast,
      address.isLoopback == interface.isLoopback, endpoint.port >= 1024 || origin == address
    else { return false }
    if interface.isLoopback { return true }
    if isOwn(address) { return origin.map(isOwn) ?? false }
    if address.isIPv6, address.isLinkLocal || address.isGlobal { return true }
    return interface.addresses.contains { address.hasPrefix(of: $0.address, length: $0.prefix) }
      // The only other address on such a link.
      || interface.isPointToPoint && origin == address
  }

  private func isOwn(_ address: IPAddress) -> Bool {
    interfaces.values.contains { $0.addresses.contains { $0.address == address } }
  }
}

extension InterfaceTable.Interface {
  /// IFF_POINTOPOINT.
  fileprivate var isPointToPoint: Bool { flags & 0x10 != 0 }
}

extension IPAddress {
  /// 2000::/3 (RFC 4291, section 2.4), the part of the global unicast addresses that is given out.
  fileprivate var isGlobal: Bool { if case .v6(let high, _) = self { high >> 61 == 1 } else { false } }
}
