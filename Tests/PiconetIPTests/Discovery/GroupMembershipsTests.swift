import PiconetDNSSD
import Testing

@testable import PiconetIP

@Suite("Memberships of the group of Multicast DNS")
struct GroupMembershipsTests {
  /// A kernel that lets a socket have so many memberships.
  private struct Kernel {
    let bound: Int
    var memberships = GroupMemberships()
    var joined: [GroupMemberships.Socket: Set<InterfaceID>] = [:]

    mutating func join(_ id: InterfaceID, _ kind: InterfaceRank.Kind = .container) {
      let rank = InterfaceRank(kind: kind)
      while true {
        switch memberships.next(for: id, rank: rank) {
        case .leaveOut: return
        case .leave(let other): leave(other, isLeftOut: true)
        case .join(let socket):
          if joined[socket, default: []].count < bound {
            joined[socket, default: []].insert(id)
            return memberships.joined(id, rank: rank, on: socket)
          }
          memberships.filled(socket)
        }
      }
    }

    mutating func leave(_ id: InterfaceID, isLeftOut: Bool = false) {
      if let socket = memberships.left(id, isLeftOut: isLeftOut) { joined[socket]?.remove(id) }
    }
  }

  private func id(_ index: Int, isIPv6: Bool = false) -> InterfaceID {
    InterfaceID(index: UInt32(index), isIPv6: isIPv6)
  }

  @Test("what one socket can't take goes to further ones, and nothing is left out")
  func furtherSockets() {
    var kernel = Kernel(bound: 20)
    for index in 1...61 { kernel.join(id(index)) }
    #expect(kernel.memberships.interfaces.count == 61 && kernel.memberships.leftOut.isEmpty)
    #expect(kernel.joined.mapValues(\.count).values.sorted() == [1, 20, 20, 20])
    #expect(kernel.joined.keys.allSatisfy { !$0.isIPv6 })
  }

  @Test("an interface that goes frees its membership, which the next one gets")
  func comingAndGoing() {
    var kernel = Kernel(bound: 2)
    for index in 1...1000 {
      kernel.join(id(index))
      if index > 3 { kernel.leave(id(index - 3)) }
    }
    #expect(kernel.memberships.interfaces == Set((998...1000).map { id($0) }))
    #expect(kernel.joined.count <= 2 && kernel.memberships.leftOut.isEmpty)
  }

  @Test("with all sockets full, a more important interface displaces the least important one, and that is told")
  func leftOut() {
    var kernel = Kernel(bound: 1)
    let places = GroupMemberships.socketsPerFamily
    for index in 1...places { kernel.join(id(index)) }
    kernel.join(id(places + 1))
    #expect(kernel.memberships.leftOut == [id(places + 1)])
    kernel.join(id(places + 2), .hardware)
    #expect(kernel.memberships.interfaces.contains(id(places + 2)))
    #expect(kernel.memberships.leftOut == [id(places), id(places + 1)])
    // Over the other family there is room.
    kernel.join(id(1, isIPv6: true))
    #expect(kernel.memberships.socket(of: id(1, isIPv6: true))?.isIPv6 == true)
    kernel.leave(id(1))
    kernel.join(id(places + 1))
    #expect(kernel.memberships.leftOut == [id(places)])
  }

  @Test("no more than the machines can have on all interfaces together, hardware before containers")
  func bound() {
    var kernel = Kernel(bound: 100)
    for index in 1...MulticastDNS.interfaces / 2 + 10 {
      kernel.join(id(index))
      kernel.join(id(index, isIPv6: true))
    }
    #expect(kernel.memberships.interfaces.count == MulticastDNS.interfaces && kernel.memberships.leftOut.count == 20)
    kernel.join(id(1000), .hardware)
    #expect(kernel.memberships.interfaces.count == MulticastDNS.interfaces)
    #expect(kernel.memberships.socket(of: id(1000)) != nil)
  }

  @Test("a further socket can be closed when nothing is joined on it; one that could not be opened is tried again")
  func sockets() {
    var kernel = Kernel(bound: 1)
    kernel.join(id(1))
    kernel.join(id(2))
    kernel.leave(id(2))
    kernel.leave(id(1))
    #expect(kernel.memberships.isIdle(.init(isIPv6: false, number: 1)))
    #expect(!kernel.memberships.isIdle(.init(isIPv6: false, number: 0)))
    for number in 0..<GroupMemberships.socketsPerFamily {
      kernel.memberships.filled(.init(isIPv6: false, number: number))
    }
    let rank = InterfaceRank(kind: .container)
    #expect(kernel.memberships.next(for: id(3), rank: rank) == .leaveOut)
    kernel.memberships.beginRound()
    #expect(kernel.memberships.next(for: id(3), rank: rank) == .join(.init(isIPv6: false, number: 0)))
  }
}
