/// One network interface and one address family on it. Multicast DNS over IPv4 and over IPv6 are two networks, even on
/// one wire.
public struct InterfaceID: Sendable, Hashable, Comparable {
  /// The system's index of the interface.
  public var index: UInt32
  public var isIPv6: Bool

  public init(index: UInt32, isIPv6: Bool) {
    self.index = index
    self.isIPv6 = isIPv6
  }

  public static func < (left: InterfaceID, right: InterfaceID) -> Bool {
    (left.index, left.isIPv6 ? 1 : 0) < (right.index, right.isIPv6 ? 1 : 0)
  }
}

/// The properties of an interface that the machines need.
public struct InterfaceTraits: Sendable, Hashable {
  /// Whether only processes of this host are on it.
  public var isLoopback: Bool
  /// Whether a packet sent to our address and port 5353 reaches us and no other process, so that answers may come by
  /// unicast (RFC 6762, section 15.1).
  public var receivesUnicast: Bool
  /// Our addresses on it, of both families.
  public var addresses: [IPAddress]

  public init(isLoopback: Bool, receivesUnicast: Bool, addresses: [IPAddress]) {
    self.isLoopback = isLoopback
    self.receivesUnicast = receivesUnicast
    self.addresses = Array(addresses.prefix(MulticastDNS.addressesPerInterface))
  }
}

/// The source of a message, to which a unicast answer goes.
public struct MessageSource: Sendable, Hashable {
  public var address: IPAddress
  public var port: UInt16

  public init(address: IPAddress, port: UInt16) {
    self.address = address
    self.port = port
  }
}

/// One message to send: the only thing that the machines ask of the network.
public struct Transmission: Sendable, Hashable {
  public enum Destination: Sendable, Hashable {
    /// The group of the interface's family, port 5353.
    case multicast
    case unicast(MessageSource)
  }
  public var interface: InterfaceID
  public var destination: Destination
  public var message: [UInt8]
}
