import Testing

@testable import PiconetRuntime

@Suite("Draining an array")
struct ArrayDrainTests {
  @Test("hands out each element once, the first one first, and keeps the room", arguments: [0, 1, 2, 3, 8, 101])
  func drains(count: Int) {
    // Made twice: if the array were shared, the drain would copy its storage, to a size that malloc chooses.
    let wanted = (0..<count).map { "element \($0), long enough to be an object" }
    var texts = (0..<count).map { "element \($0), long enough to be an object" }
    let capacity = texts.capacity
    var taken: [String] = []
    texts.drain { taken.append($0) }
    #expect(taken == wanted)
    #expect(texts.isEmpty)
    #expect(texts.capacity == capacity)
  }
}
