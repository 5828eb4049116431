import PiconetDNSSD

/// An obstacle that keeps discovery over a network from a part of its work. The rest goes on, and the obstacle may go
/// away.
@nonexhaustive
public enum DiscoveryObstacle: Sendable, Hashable, CustomStringConvertible {
  /// Another program keeps UDP port 5353 to itself over these families, and Avahi does not publish for us: nothing is
  /// advertised there. This node still looks for peers, through Avahi or by queries from another port (RFC 6762,
  /// section 5.1).
  case portTaken(ipv4: Bool, ipv6: Bool, avahi: AvahiFailure)
  /// The kernel allows no more memberships of multicast groups: these interfaces, by name, hear nothing.
  case interfacesLeftOut([String])
  /// Sockets or news of interfaces are not available; the system's words.
  case failed(String)

  /// The obstacle, in a clause without an end.
  public var description: String {
    switch self {
    case .portTaken(let ipv4, let ipv6, let failure):
      let families = ipv4 && ipv6 ? "" : ipv4 ? " over IPv4" : " over IPv6"
      return "another program keeps UDP port 5353 to itself\(families), and \(failure)"
    case .interfacesLeftOut(let names):
      let list = names.prefix(Self.namesTold).joined(separator: ", ")
      let more = names.count > Self.namesTold ? " and \(names.count - Self.namesTold) more" : ""
      return "the kernel allows no more memberships of multicast groups, so that nothing is heard on \(list)\(more)"
    case .failed(let words): return words
    }
  }

  private static let namesTold = 4
}
