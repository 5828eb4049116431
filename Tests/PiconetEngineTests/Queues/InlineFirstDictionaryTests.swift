import Testing

@testable import PiconetEngine

@Suite("A dictionary with its first two entries at hand")
struct InlineFirstDictionaryTests {
  @Test("it holds what a dictionary holds, whatever is set and removed", arguments: 0..<8 as Range<UInt64>)
  func sameAsADictionary(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var table: InlineFirstDictionary<Int, Int> = [:]
    var model: [Int: Int] = [:]
    for step in 0..<4_000 {
      let key = Int.random(in: 0..<5, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        table[key] = step
        model[key] = step
      case 1:
        table[key] = nil
        model[key] = nil
      case 2:
        table[key]? += 1
        model[key]? += 1
      default: #expect(table.removeValue(forKey: key) == model.removeValue(forKey: key))
      }
      guard (0..<5).allSatisfy({ table[$0] == model[$0] }), table.count == model.count,
        table.isEmpty == model.isEmpty, table.keys.sorted() == model.keys.sorted(),
        table.values.sorted() == model.values.sorted()
      else {
        Issue.record("differs from a dictionary after step \(step)")
        return
      }
    }
  }

  @Test("a literal gives its entries")
  func literal() {
    let table: InlineFirstDictionary<Int, String> = [1: "one", 2: "two"]
    #expect(table[1] == "one")
    #expect(table[2] == "two")
    #expect(table[3] == nil)
    #expect(table.count == 2)
  }
}
