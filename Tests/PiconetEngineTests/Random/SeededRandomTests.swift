import PiconetEngine
import Testing

@Suite("Random numbers from a seed")
struct SeededRandomTests {
  @Test("the numbers are those of SplitMix64")
  func knownValues() {
    // The reference implementation's output for the seed 1234567 (Vigna, splitmix64.c; also in Rosetta Code).
    var random = SeededRandom(seed: 1_234_567)
    #expect(random.next() == 6_457_827_717_110_365_317)
    #expect(random.next() == 3_203_168_211_198_807_973)
    #expect(random.next() == 9_817_491_932_198_370_423)
    #expect(random.next() == 4_593_380_528_125_082_431)
    #expect(random.next() == 16_408_922_859_458_223_821)
  }

  @Test("one seed gives one run, another seed another")
  func seedsDecide() {
    func run(_ seed: UInt64) -> [UInt64] {
      var random = SeededRandom(seed: seed)
      return (0..<8).map { _ in random.next() }
    }
    #expect(run(0) == run(0))
    #expect(run(0) != run(1))
    #expect(Set(run(.max)).count == 8)
  }
}
