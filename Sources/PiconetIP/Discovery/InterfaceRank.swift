/// The importance of a usable interface for discovery; the smallest rank matters most.
struct InterfaceRank: Comparable {
  enum Kind: Int {
    /// Other processes of this host.
    case loopback
    /// Ethernet, Wi-Fi, and other interfaces without a virtual driver.
    case hardware
    /// Bridges, bonds, VLANs, VRFs and similar interfaces: networks with devices behind them.
    case network
    /// One end of a pair, or a tunnel: a single container or virtual machine.
    case container
    /// Nothing is behind the interface.
    case idle
  }

  var kind: Kind
  /// Whether it has only link-local addresses of the family, as each interface has over IPv6.
  var isLinkLocalOnly = false

  static func < (left: InterfaceRank, right: InterfaceRank) -> Bool {
    (left.kind.rawValue, left.isLinkLocalOnly ? 1 : 0) < (right.kind.rawValue, right.isLinkLocalOnly ? 1 : 0)
  }
}
