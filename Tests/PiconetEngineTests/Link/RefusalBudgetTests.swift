import Testing

@testable import PiconetEngine

@Suite("Refusals are told in measure")
struct RefusalBudgetTests {
  private func second(_ number: Int) -> Instant { Instant(nanoseconds: 0) + .seconds(number) }

  @Test(
    "a flood of a thousand a second for a minute is told 8 times at once, then once in 10 s, and nothing goes uncounted"
  )
  func flood() {
    var budget = RefusalBudget()
    var told: [Int] = []
    var suppressed = 0
    for number in 0..<60_000 {
      guard let before = budget.take(at: Instant(nanoseconds: 0) + .milliseconds(number)) else { continue }
      told.append(number)
      suppressed += before
    }
    #expect(told.prefix(8) == [0, 1, 2, 3, 4, 5, 6, 7])
    #expect(told.dropFirst(8) == [10_000, 20_000, 30_000, 40_000, 50_000])
    // All refusals up to the last one that was told.
    #expect(suppressed + told.count == 50_001)
  }

  @Test("after a quiet time there is room for as many as at first")
  func recovers() {
    var budget = RefusalBudget()
    for _ in 0..<100 { _ = budget.take(at: second(0)) }
    let later = (0..<100).compactMap { _ in budget.take(at: second(1_000)) }
    #expect(later == [92] + Array(repeating: 0, count: 7))
  }

  @Test("one now and then is always told")
  func rare() {
    var budget = RefusalBudget()
    #expect((0..<50).allSatisfy { budget.take(at: second($0 * 10)) == 0 })
  }
}
