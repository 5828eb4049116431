import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Who keeps a place where there are more members than places")
struct GroupOrderTests {
  private func member(
    _ byte: UInt8, rank: UInt64, capacity: UInt64 = 3, settled: Bool = false
  ) -> GroupOrder.Member {
    GroupOrder.Member(node: node(byte), capacity: capacity, rank: rank, isSettled: settled)
  }

  private func beyond(_ members: [GroupOrder.Member]) -> Set<NodeID> {
    let found = GroupOrder(members).beyond
    #expect(GroupOrder(members.reversed()).beyond == found)
    return found
  }

  @Test("those that came last go, of two at once the larger node")
  func latest() {
    let three = [member(9, rank: 1), member(1, rank: 2), member(5, rank: 3)]
    #expect(beyond(three) == [])
    #expect(beyond(three + [member(7, rank: 3)]) == [node(7)])
    #expect(beyond(three + [member(4, rank: 3), member(2, rank: 9)]) == [node(5), node(2)])
  }

  @Test("a smaller capacity puts out its own node, and never another one")
  func smallCapacity() {
    let three = [member(9, rank: 1, capacity: 5), member(1, rank: 2, capacity: 5), member(5, rank: 3, capacity: 5)]
    #expect(beyond(three + [member(2, rank: 0, capacity: 3)]) == [node(2)])
    #expect(beyond(three + [member(2, rank: 0, capacity: 2)]) == [node(2)])
    #expect(beyond(three + [member(2, rank: 9, capacity: 4)]) == [])
    #expect(
      beyond(three + [member(2, rank: 4, capacity: 4), member(3, rank: 5, capacity: 4)]) == [node(3)])
  }

  @Test("nothing that a newcomer says puts it before a settled member")
  func settled() {
    let three = (1...3).map { member(9 - $0, rank: UInt64($0), settled: true) }
    #expect(beyond(three + [member(1, rank: 0, capacity: 1_000)]) == [node(1)])
    #expect(beyond(three.dropLast() + [member(4, rank: 7), member(1, rank: 0, capacity: 9)]) == [node(4)])
  }
}
