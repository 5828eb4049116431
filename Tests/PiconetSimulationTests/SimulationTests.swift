import Testing

@testable import PiconetTestKit

@Suite("Thousands of simulated sessions keep every promise")
struct SimulationTests {
  @Test("no seed breaks an invariant", .enabled(if: SeedPlan.alone == nil), arguments: SeedPlan.parts)
  func noSeedBreaksAnInvariant(part: SeedPlan.Part) {
    var failures = 0
    for number in part.numbers {
      let report = Simulation.run(SimulationSeed(part.family, number), choosingPartials: DirectoryChoice())
      guard report.finding != nil else { continue }
      failures += 1
      if failures <= 2 { Issue.record("\(report.description(lastLines: 200))") }
    }
    #expect(failures == 0, "\(failures) of \(part.numbers.count) seeds")
  }

  @Test(
    "the seed in PICONET_SEED, alone and with its transcript",
    .enabled(if: SeedPlan.alone != nil, "PICONET_SEED names no seed"))
  func oneSeedAlone() throws {
    let seed = try #require(SimulationSeed(SeedPlan.alone ?? ""), "PICONET_SEED is family:number")
    let report = Simulation.run(seed, transcriptLimit: 20_000, choosingPartials: DirectoryChoice())
    print(report.description(lastLines: 20_000))
    print(report.statistics)
    #expect(report.finding == nil)
  }

  @Test("the normal run has at least 2,000 seeds, 500 of them with both sides inviting")
  func theNormalRunHasEnoughSeeds() {
    #expect(SeedPlan.counts.reduce(0) { $0 + $1.count } >= 2_000)
    #expect(SeedPlan.counts.contains { $0.family == .glare && $0.count >= 500 })
  }
}
