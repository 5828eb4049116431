/// How much an interface matters to discovery, of those that are usable; the smallest matters most.
struct InterfaceRank: Comparable {
  enum Kind: Int {
    /// Other processes of this host.
    case loopback
    /// Ethernet, Wi-Fi, and whatever else has no virtual driver.
    case hardware
    /// Bridges, bonds, VLANs, VRFs and the like: networks with devices behind them.
    case network
    /// One end of a pair, or a tunnel: a single container or virtual machine.
    case container
    /// Nothing is behind it.
    case idle
  }

  var kind: Kind
  /// Whether it has no address of the family but link-local ones, as each interface has over IPv6.
  var isLinkLocalOnly = false

  static func < (left: InterfaceRank, right: InterfaceRank) -> Bool {
    (left.kind.rawValue, left.isLinkLocalOnly ? 1 : 0) < (right.kind.rawValue, right.isLinkLocalOnly ? 1 : 0)
  }
}
