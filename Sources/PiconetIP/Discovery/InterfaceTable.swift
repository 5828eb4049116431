import PiconetDNSSD

/// The system's interfaces, built from route messages, and the choice of those that discovery uses.
struct InterfaceTable: Equatable {
  struct Address: Equatable {
    var address: IPAddress
    var prefix: Int
  }

  struct Interface: Equatable {
    var name = ""
    var flags: UInt32 = 0
    /// See `RouteMessage.Link`; the same holds for the next two.
    var kind = ""
    var master: UInt32 = 0
    var portKind = ""
    var addresses: [Address] = []

    var isLoopback: Bool { flags & 0x8 != 0 }
    /// IFF_UP and IFF_RUNNING, and multicast works: loopback has no IFF_MULTICAST flag, yet groups can be joined on it.
    var carriesMulticast: Bool { flags & 0x41 == 0x41 && (isLoopback || flags & 0x1000 != 0) }
  }

  /// The most interfaces, and addresses of one; further ones are left out. Each container of a host has one.
  private static let interfaceLimit = 4096
  private static let addressLimit = 64

  private(set) var interfaces: [UInt32: Interface] = [:]

  mutating func apply(_ message: RouteMessage) {
    switch message {
    case .link(let link):
      guard var interface = interfaces[link.index] ?? newInterface() else { return }
      (interface.name, interface.flags) = (link.name, link.flags)
      (interface.kind, interface.master, interface.portKind) = (link.kind, link.master, link.portKind)
      interfaces[link.index] = interface
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

  /// Returns nil if there is no room for another one.
  private func newInterface() -> Interface? { interfaces.count < Self.interfaceLimit ? Interface() : nil }

  /// Returns the interfaces and families to use, with the addresses to advertise there.
  ///
  /// Loopback addresses are advertised on loopback only, others only on their own interface.
  /// - Parameter names: the interfaces that a person has chosen; nil: all on which there can be peers.
  func usable(names: Set<String>?, receivesUnicast: (Bool) -> Bool) -> [InterfaceID: InterfaceTraits] {
    var result: [InterfaceID: InterfaceTraits] = [:]
    let masters = Set(interfaces.values.map(\.master))
    for (index, interface) in interfaces where interface.carriesMulticast {
      guard names?.contains(interface.name) ?? canHavePeers(interface, isMaster: masters.contains(index)) else {
        continue
      }
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

  /// Returns whether the interface can have peers. A port hands received packets to its master, which has the
  /// addresses; only the ports of a VRF have their own. No packet goes anywhere from a bridge without ports, such as
  /// Docker's before the first container.
  private func canHavePeers(_ interface: Interface, isMaster: Bool) -> Bool {
    if interface.master != 0, interface.portKind != "vrf" { return false }
    return interface.kind != "bridge" || isMaster
  }

  /// RFC 6762, section 11: a packet that was sent by unicast must come from the interface's own network.
  func isOnLink(_ source: IPAddress, index: UInt32) -> Bool {
    guard let interface = interfaces[index] else { return false }
    if interface.isLoopback {
      return interfaces.values.contains { $0.addresses.contains { $0.address == source } } || source.isLoopback
    }
    if source.isLinkLocal { return true }
    return interface.addresses.contains { source.hasPrefix(of: $0.address, length: $0.prefix) }
  }

  /// Returns the rank that decides if there are more interfaces than the kernel, or this process, can listen on.
  func rank(of id: InterfaceID) -> InterfaceRank {
    guard let interface = interfaces[id.index] else { return InterfaceRank(kind: .idle) }
    let own = interface.addresses.map(\.address).filter { $0.isIPv6 == id.isIPv6 }
    let kind: InterfaceRank.Kind =
      switch interface.kind {
      case _ where interface.isLoopback: .loopback
      case "": .hardware
      case "veth", "tun": .container
      case "dummy", "ifb": .idle
      default: .network
      }
    return InterfaceRank(kind: kind, isLinkLocalOnly: own.allSatisfy(\.isLinkLocal))
  }

  func name(of index: UInt32) -> String? { interfaces[index]?.name }
}
