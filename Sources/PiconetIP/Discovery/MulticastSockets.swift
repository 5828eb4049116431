import PiconetDNSSD
import PiconetEngine

/// The sockets of Multicast DNS, as many of each family as the memberships need; confined to the loop.
final class MulticastSockets {
  typealias ID = GroupMemberships.Socket

  private let loop: any DatagramLoop
  private let readable: (ID) -> Void
  private var sockets: [ID: MulticastSocket] = [:]
  private var memberships = GroupMemberships()
  /// Why a family lacks the port, by whether it is IPv6.
  private(set) var failures: [Bool: LinkFailure] = [:]
  /// The families whose port another program keeps to itself, by whether each is IPv6.
  var taken: Set<Bool> { Set(failures.filter { $0.value.code == .busy }.keys) }
  /// Interfaces that are queried from another port.
  private var askedFromElsewhere: Set<InterfaceID> = []

  /// Opens the available sockets.
  /// - Parameter readable: called when a socket has packets.
  init(loop: any DatagramLoop, readable: @escaping (ID) -> Void) {
    self.loop = loop
    self.readable = readable
    for isIPv6 in [false, true] { open(isIPv6: isIPv6) }
  }

  private func open(isIPv6: Bool) {
    let id = ID(isIPv6: isIPv6, number: 0)
    do throws(LinkFailure) {
      try open(id)
      failures[isIPv6] = nil
    } catch {
      failures[isIPv6] = error
      if error.code == .busy, sockets[id] == nil { try? open(id, isLegacy: true) }
    }
  }

  private func open(_ id: ID, isLegacy: Bool = false) throws(LinkFailure) {
    sockets[id] = try MulticastSocket(isIPv6: id.isIPv6, isLegacy: isLegacy, loop: loop) { [readable] in readable(id) }
  }

  /// Whether another try may succeed: a kernel without IPv6 never will.
  var isWorthATry: Bool { failures.values.contains { $0.code != .notAvailable } }

  /// Tries again to get the port.
  /// - Returns: the interfaces that were queried from another port, if a socket replaces them.
  func tryAgain() -> Set<InterfaceID> {
    for (isIPv6, failure) in failures where failure.code != .notAvailable { open(isIPv6: isIPv6) }
    let replaced = askedFromElsewhere.filter { failures[$0.isIPv6] == nil }
    askedFromElsewhere.subtract(replaced)
    return replaced
  }

  /// Returns whether this process may advertise on this interface, rather than only ask there.
  func mayAnswer(on id: InterfaceID) -> Bool { memberships.socket(of: id) != nil }

  /// Returns whether unicast packets to our address reach this process.
  func receivesUnicast(isIPv6: Bool) -> Bool { sockets[ID(isIPv6: isIPv6, number: 0)]?.isSoleOwner ?? false }

  // MARK: Memberships

  /// The interfaces that can be used: those on which the group is joined, and those that are queried from another port.
  var usable: Set<InterfaceID> { memberships.interfaces.union(askedFromElsewhere) }

  /// The interfaces that could be used, if the kernel allowed more memberships.
  var leftOut: Set<InterfaceID> { memberships.leftOut }

  /// Joins on these interfaces and no others, as far as the system allows: those that matter most come first.
  func join(_ wanted: [InterfaceID: InterfaceRank]) {
    for id in memberships.interfaces.union(memberships.leftOut).sorted() where wanted[id] == nil { leave(id) }
    memberships.beginRound()
    askedFromElsewhere = Set(wanted.keys.filter { first(of: $0)?.isLegacy == true })
    let missing = wanted.filter { memberships.socket(of: $0.key) == nil && first(of: $0.key)?.isLegacy == false }
    for (id, rank) in missing.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) }) { join(id, rank) }
  }

  private func first(of id: InterfaceID) -> MulticastSocket? { sockets[ID(isIPv6: id.isIPv6, number: 0)] }

  private func join(_ id: InterfaceID, _ rank: InterfaceRank) {
    while true {
      switch memberships.next(for: id, rank: rank) {
      case .leaveOut: return
      case .leave(let other): leave(other, isLeftOut: true)
      case .join(let place):
        if sockets[place] == nil { try? open(place) }
        switch sockets[place]?.join(id.index) {
        case .joined: return memberships.joined(id, rank: rank, on: place)
        case .full, nil: memberships.filled(place)
        case .refused: return closeIfIdle(place)
        }
      }
    }
  }

  private func leave(_ id: InterfaceID, isLeftOut: Bool = false) {
    guard let place = memberships.left(id, isLeftOut: isLeftOut) else { return }
    sockets[place]?.leave(id.index)
    closeIfIdle(place)
  }

  private func closeIfIdle(_ place: ID) {
    if memberships.isIdle(place) { sockets[place] = nil }
  }

  // MARK: Packets

  /// - Returns: false if the system did not take the packet.
  func send(_ transmission: Transmission) -> Bool {
    let id = transmission.interface
    let place = memberships.socket(of: id) ?? ID(isIPv6: id.isIPv6, number: 0)
    return sockets[place]?.send(transmission) ?? false
  }

  /// Returns the next packet on a socket; nil if none is waiting.
  func receive(on place: ID) -> MulticastSocket.Arrival? { sockets[place]?.receive() }
}
