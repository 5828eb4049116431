import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("The order of questions")
struct QuestionQueueTests {
  private let start = seconds(1_000)

  private func queue(open: Int = 1) -> QuestionQueue {
    var queue = QuestionQueue()
    queue.limits.open = open
    return queue
  }

  @Test("sixty keys at one address stand before an honest one for one question, and no more")
  func flood() {
    var queue = queue()
    var refused = 0
    for byte: UInt8 in 1...60 {
      if queue.add(node(byte), at: "flood", isKnown: false) == .refused { refused += 1 }
    }
    #expect(refused == 52)
    let answer1 = queue.takeNext(at: start)
    #expect(answer1 == [node(1)])
    let answer2 = queue.add(node(100), at: "honest", isKnown: false)
    #expect(answer2 == .taken)
    let answer3 = queue.takeNext(at: start)
    #expect(answer3 == [])
    // The question of the flood is given up after its patience, because others wait.
    #expect(queue.deadline(of: node(1)) == start + .seconds(60))
    queue.remove(node(1))
    let answer4 = queue.takeNext(at: start)
    #expect(answer4 == [node(100)])
    queue.remove(node(100))
    let answer5 = queue.takeNext(at: start)
    #expect(answer5 == [node(2)])
  }

  @Test("alone, a question may take as long as the invitation stands")
  func alone() {
    var queue = queue()
    _ = queue.add(node(1), at: "a", isKnown: false)
    _ = queue.takeNext(at: start)
    #expect(queue.deadline(of: node(1)) == nil)
  }

  @Test("one at a time for a key and for an address, though there is room for more")
  func oneEach() {
    var queue = queue(open: 8)
    let again = NodeID(peer: peer(1), incarnation: .init(rawValue: 77))
    _ = queue.add(node(1), at: "a", isKnown: false)
    _ = queue.add(again, at: "b", isKnown: false)
    _ = queue.add(node(2), at: "a", isKnown: false)
    _ = queue.add(node(3), at: "c", isKnown: false)
    let answer6 = queue.takeNext(at: start)
    #expect(answer6 == [node(1), node(3)])
    queue.remove(node(1))
    let answer7 = queue.takeNext(at: start)
    #expect(answer7 == [again, node(2)])
  }

  @Test("a known peer waits for no stranger")
  func known() {
    var queue = queue()
    for byte: UInt8 in 1...8 { _ = queue.add(node(byte), at: "\(byte)", isKnown: false) }
    _ = queue.takeNext(at: start)
    let answer8 = queue.add(node(100), at: "1", isKnown: true)
    #expect(answer8 == .taken)
    let answer9 = queue.takeNext(at: start)
    #expect(answer9 == [node(100)])
    #expect(queue.deadline(of: node(100)) == nil)
  }

  @Test("a full queue takes a new address in the place of one that has more")
  func full() {
    var queue = queue()
    queue.limits.waiting = 10
    for byte: UInt8 in 1...8 { _ = queue.add(node(byte), at: "many", isKnown: false) }
    for byte: UInt8 in 11...12 { _ = queue.add(node(byte), at: "\(byte)", isKnown: false) }
    let answer10 = queue.add(node(50), at: "new", isKnown: false) == .instead(of: node(8))
    #expect(answer10)
    #expect(queue.count == 10)
    // If each address has one question, none has to go.
    var even = self.queue()
    even.limits.waiting = 3
    for byte: UInt8 in 1...3 { _ = even.add(node(byte), at: "\(byte)", isKnown: false) }
    let answer11 = even.add(node(9), at: "new", isKnown: false)
    #expect(answer11 == .refused)
  }

  @Test("a question has its turn after its pause, and not before")
  func pause() {
    var queue = queue()
    _ = queue.add(node(1), at: "a", isKnown: false, notBefore: start + .seconds(2))
    let answer12 = queue.takeNext(at: start)
    #expect(answer12 == [])
    #expect(queue.nextWake == start + .seconds(2))
    queue.wake(at: start + .seconds(1))
    let answer13 = queue.takeNext(at: start + .seconds(1))
    #expect(answer13 == [])
    queue.wake(at: start + .seconds(2))
    #expect(queue.hasNews && queue.nextWake == nil)
    let answer14 = queue.takeNext(at: start + .seconds(2))
    #expect(answer14 == [node(1)])
  }
}
