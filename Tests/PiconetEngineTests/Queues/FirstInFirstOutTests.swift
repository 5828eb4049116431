import Testing

@testable import PiconetEngine

@Suite("First in, first out")
struct FirstInFirstOutTests {
  @Test("an empty queue has nothing")
  func empty() {
    var queue = FirstInFirstOut<Int>()
    #expect(queue.isEmpty)
    #expect(queue.count == 0)
    #expect(queue.first == nil)
    #expect(queue.popFirst() == nil)
    queue.replaceFirst(1)
    #expect(queue.elements == [])
  }

  @Test("what came first goes first, whatever came between", arguments: 0..<8 as Range<UInt64>)
  func sameAsAnArray(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var queue = FirstInFirstOut<Int>()
    var model: [Int] = []
    // It grows past the point where memory at the front is given back, and empties, several times.
    for step in 0..<6_000 {
      let isGrowing = step / 1_500 % 2 == 0
      if Int.random(in: 0..<10, using: &random) < (isGrowing ? 8 : 2) {
        queue.append(step)
        model.append(step)
      } else {
        #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
      }
      if step % 50 == 0, !model.isEmpty {
        queue.replaceFirst(-step)
        model[0] = -step
      }
      guard queue.count == model.count, queue.first == model.first, queue.isEmpty == model.isEmpty else {
        Issue.record("differs from an array after step \(step)")
        return
      }
      if step % 1_000 == 0 { #expect(queue.elements == model) }
    }
    #expect(queue.elements == model)
    queue.removeAll()
    #expect(queue.isEmpty)
    #expect(queue.popFirst() == nil)
  }

  @Test("memory does not grow over a million elements that pass through")
  func memoryDoesNotGrow() {
    var queue = FirstInFirstOut<Int>()
    for element in 0..<1_500 { queue.append(element) }
    var largest = 0
    for element in 1_500..<1_001_500 {
      queue.append(element)
      guard queue.popFirst() == element - 1_500 else {
        Issue.record("\(element - 1_500) did not come")
        return
      }
      largest = max(largest, queue.storage.capacity)
    }
    #expect(queue.count == 1_500)
    #expect(largest <= 4 * 1_500)
  }

  @Test("an element is let go as soon as it is taken, and all with the queue's end")
  func elementsAreReleased() {
    final class Element {}
    var queue = FirstInFirstOut<Element>()
    weak var first: Element?
    weak var second: Element?
    do {
      let elements = (Element(), Element())
      (first, second) = elements
      queue.append(elements.0)
      queue.append(elements.1)
    }
    #expect(first != nil)
    _ = queue.popFirst()
    #expect(first == nil)
    #expect(second != nil)
    queue.removeAll()
    #expect(second == nil)
  }
}
