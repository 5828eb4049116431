import PiconetTestKit
import Testing

@Suite("One seed, one run")
struct DeterminismTests {
  @Test("the same seed gives the same transcript", arguments: ScenarioFamily.allCases)
  func sameSeedSameTranscript(family: ScenarioFamily) {
    for number: UInt64 in 0..<6 {
      let first = Simulation.run(SimulationSeed(family, number), transcriptLimit: 100_000)
      let second = Simulation.run(SimulationSeed(family, number), transcriptLimit: 100_000)
      #expect(first.transcriptHash == second.transcriptHash, "\(first.seed)")
      #expect(first.statistics == second.statistics)
    }
  }

  @Test("different seeds give different transcripts")
  func differentSeedsDiffer() {
    let hashes = (0..<10).map { Simulation.run(SimulationSeed(.pair, UInt64($0))).transcriptHash }
    #expect(Set(hashes).count == hashes.count)
  }

  @Test("a seed is read as it is printed")
  func seedsAreReadAsPrinted() {
    #expect(SimulationSeed("glare:17") == SimulationSeed(.glare, 17))
    #expect(SimulationSeed(SimulationSeed(.hostile, 3).description) == SimulationSeed(.hostile, 3))
    #expect(SimulationSeed("glare") == nil)
    #expect(SimulationSeed("nobody:1") == nil)
    #expect(SimulationSeed("pair:-1") == nil)
  }
}
