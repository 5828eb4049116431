import PiconetCalls
import Testing

@Suite("What waits of several sources")
struct FairQueueTests {
  @Test("one source that floods loses its own oldest, and pushes out nothing of another's")
  func flood() {
    var queue = FairQueue<Int, String>(countLimit: 3)
    queue.add("first", of: 1)
    for number in 0..<1_000 { queue.add("\(number)", of: 2) }
    queue.add("last", of: 1)
    #expect(queue.count == 5)
    var all: [String] = []
    while let next = queue.next() { all.append(next) }
    #expect(all == ["first", "997", "998", "999", "last"])
    #expect(queue.isEmpty)
  }

  @Test("what one source costs together is bounded as well, and one thing above that does not wait at all")
  func cost() {
    var queue = FairQueue<Int, Int>(countLimit: 100, costLimit: 10)
    for number in 1...5 { queue.add(number, cost: 4, of: 1) }
    queue.add(6, cost: 10, of: 2)
    #expect([queue.next(), queue.next(), queue.next(), queue.next()] == [4, 5, 6, nil])
    queue.add(7, cost: 11, of: 1)
    #expect(queue.isEmpty)
    queue.add(8, cost: 10, of: 1)
    #expect(queue.next() == 8)
  }
}
