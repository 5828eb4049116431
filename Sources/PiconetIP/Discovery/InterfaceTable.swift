import PiconetDNSSD

/// The system's interfaces, folded from route messages, and which of them discovery uses.
struct InterfaceTable: Equatable {
  struct Address: Equatable {
    var address: IPAddress
    var prefix: Int
  }

  struct Interface: Equatable {
    var name = ""
    var flags: UInt32 = 0
    var addresses: [Address] = []

    var isLoopback: Bool { flags & 0x8 != 0 }
    /// IFF_UP and IFF_RUNNING, and multicast works: loopback has no IFF_MULTICAST flag, yet groups can be joined on it.
    var carriesMulticast: Bool { flags & 0x41 == 0x41 && (isLoopback || flags & 0x1000 != 0) }
  }

  /// Interfaces beyond this number, or addresses of one, are left out.
  private static let interfaceLimit = 256
  private static let addressLimit = 64

  private(set) var interfaces: [UInt32: Interface] = [:]

  mutating func apply(_ message: RouteMessage) {
    switch message {
    case .link(let index, let name, let flags):
      guard var interface = interfaces[index] ?? newInterface() else { return }
      (interface.name, interface.flags) = (name, flags)
      interfaces[index] = interface
    case .linkRemoved(let index): interfaces[index] = nil
    case .address(let index, let address, let prefix, let isUsable):
      // An interface beyond the limit is not known, nor are its addresses.
      guard var interface = interfaces[index] else { return }
      interface.addresses.removeAll { $0.address == address }
      if isUsable, interface.addresses.count < Self.addressLimit {
        interface.addresses.append(Address(address: address, prefix: prefix))
      }
      interfaces[index] = interface
    case .addressRemoved(let index, let address):
      guard var interface = interfaces[index] else { return }
      interface.addresses.removeAll { $0.address == address }
      interfaces[index] = interface
    case .done, .error: break
    }
  }

  /// Nil: there is no room for another one.
  private func newInterface() -> Interface? { interfaces.count < Self.interfaceLimit ? Interface() : nil }

  /// The interfaces and families to speak on, with the addresses to give out there.
  ///
  /// Loopback addresses are given out on loopback only, others only on their own interface.
  func usable(names: Set<String>?, receivesUnicast: (Bool) -> Bool) -> [InterfaceID: InterfaceTraits] {
    var result: [InterfaceID: InterfaceTraits] = [:]
    for (index, interface) in interfaces where interface.carriesMulticast && names?.contains(interface.name) ?? true {
      let own = interface.addresses.map(\.address).filter { $0.isUnicast && $0.isLoopback == interface.isLoopback }
      for isIPv6 in [false, true] where own.contains(where: { $0.isIPv6 == isIPv6 }) {
        result[InterfaceID(index: index, isIPv6: isIPv6)] = InterfaceTraits(
          isLoopback: interface.isLoopback,
          // Other processes of this host are on loopback, too, by definition.
          receivesUnicast: !interface.isLoopback && receivesUnicast(isIPv6), addresses: own.sorted())
      }
    }
    return result
  }

  /// RFC 6762, section 11: a packet that was sent to us alone must come from the interface's own network.
  func isOnLink(_ source: IPAddress, index: UInt32) -> Bool {
    guard let interface = interfaces[index] else { return false }
    if interface.isLoopback {
      return interfaces.values.contains { $0.addresses.contains { $0.address == source } } || source.isLoopback
    }
    if source.isLinkLocal { return true }
    return interface.addresses.contains { source.hasPrefix(of: $0.address, length: $0.prefix) }
  }

  func name(of index: UInt32) -> String? { interfaces[index]?.name }
}
