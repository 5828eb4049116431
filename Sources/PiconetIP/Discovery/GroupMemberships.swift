import PiconetDNSSD

/// The assignment of interfaces to sockets that are members of the group of Multicast DNS. A value: its owner opens the
/// sockets, joins, and reports the results.
///
/// The kernel bounds the memberships of one IPv4 socket (20, net.ipv4.igmp_max_memberships), and the memory that those
/// of any socket take (net.core.optmem_max). So further interfaces get further sockets, and when these are used up, the
/// interfaces that matter least are left out.
struct GroupMemberships {
  /// A socket of one family; the first one has the number 0.
  struct Socket: Hashable {
    var isIPv6: Bool
    var number: Int
  }

  enum Step: Equatable {
    /// Join on this socket, which may have to be opened, and report the result.
    case join(Socket)
    /// Leave this one first, which matters less.
    case leave(InterfaceID)
    /// There is no place for it.
    case leaveOut
  }

  private struct Place {
    var socket: Socket
    var rank: InterfaceRank
  }

  /// The most sockets of one family, with the usual bound for 320 interfaces.
  static let socketsPerFamily = 16

  private var places: [InterfaceID: Place] = [:]
  /// Sockets that have taken as many memberships as they can.
  private var full: Set<Socket> = []
  /// Usable interfaces on which nothing is heard.
  private(set) var leftOut: Set<InterfaceID> = []

  var interfaces: Set<InterfaceID> { Set(places.keys) }

  func socket(of id: InterfaceID) -> Socket? { places[id]?.socket }

  /// Begins a round because the interfaces have changed: a socket that could not be opened is tried again.
  mutating func beginRound() {
    let used = Set(places.values.map(\.socket))
    full.formIntersection(used)
  }

  /// Returns the next step for an interface that is not joined.
  mutating func next(for id: InterfaceID, rank: InterfaceRank) -> Step {
    if places.count < MulticastDNS.interfaces {
      for number in 0..<Self.socketsPerFamily {
        let socket = Socket(isIPv6: id.isIPv6, number: number)
        if !full.contains(socket) { return .join(socket) }
      }
    }
    let isCrowded = places.count >= MulticastDNS.interfaces
    let others = places.filter { isCrowded || $0.key.isIPv6 == id.isIPv6 }
    if let last = others.max(by: { ($0.value.rank, $0.key) < ($1.value.rank, $1.key) }), last.value.rank > rank {
      return .leave(last.key)
    }
    leftOut.insert(id)
    return .leaveOut
  }

  mutating func joined(_ id: InterfaceID, rank: InterfaceRank, on socket: Socket) {
    places[id] = Place(socket: socket, rank: rank)
    leftOut.remove(id)
  }

  /// Notes that the socket takes no more memberships, or can't be opened.
  mutating func filled(_ socket: Socket) { full.insert(socket) }

  /// Notes that an interface is no longer joined, because it is gone or has made room.
  /// - Parameter isLeftOut: whether it is still usable.
  /// - Returns: the socket that it was joined on.
  mutating func left(_ id: InterfaceID, isLeftOut: Bool = false) -> Socket? {
    if isLeftOut { leftOut.insert(id) } else { leftOut.remove(id) }
    guard let place = places.removeValue(forKey: id) else { return nil }
    full.remove(place.socket)
    return place.socket
  }

  /// Returns whether nothing is joined on a socket other than the first of its family: it can be closed.
  func isIdle(_ socket: Socket) -> Bool {
    socket.number > 0 && !places.values.contains { $0.socket == socket }
  }
}
