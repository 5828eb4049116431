import Testing

@testable import PiconetCommandLine

@Suite("Reads that a disk does not answer")
struct SlowReadsTests {
  private let start = ContinuousClock.now

  @Test("a call that lasts for the limit is too long; many short ones are not")
  func hanging() {
    var reads = SlowReads<String>(limit: .seconds(10))
    var given: [Int] = []
    for second in 0...12 {
      let now = start + .seconds(second)
      let found = reads.look(["hangs": start, "moves": now - .milliseconds(10)], at: now)
      #expect(found.isEmpty || found == ["hangs"])
      if !found.isEmpty { given.append(second) }
      #expect(reads.isAny == (second >= 1))
    }
    #expect(given == [10, 11, 12])
    #expect(reads.look([:], at: start + .seconds(13)).isEmpty && !reads.isAny)
  }

  @Test("the time in which this process did not run does not count as the disk's")
  func gap() {
    var reads = SlowReads<Int>(limit: .seconds(10))
    #expect(reads.look([1: start], at: start).isEmpty)
    #expect(reads.look([1: start], at: start + .seconds(3_600)).isEmpty)
    for second in 1...7 { #expect(reads.look([1: start], at: start + .seconds(3_600 + second)).isEmpty) }
    #expect(reads.look([1: start], at: start + .seconds(3_608)) == [1])
  }
}
