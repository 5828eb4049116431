import PiconetTestKit
import Testing

@Suite("The simulator finds faults that were planted")
struct PlantedFaultTests {
  @Test("a planted fault is found in fair weather", arguments: PlantedFault.allCases)
  func plantedFaultIsFound(fault: PlantedFault) {
    var found: [String] = []
    for number: UInt64 in 0..<60 {
      let needsFiles = [PlantedFault.storeLies, .sourceLeaks, .transmittedForgotten].contains(fault)
      let seed = SimulationSeed(needsFiles ? .transfers : .pair, number)
      if let finding = Simulation.run(seed, faults: [fault]).finding { found.append(finding) }
    }
    #expect(found.count >= 5, "\(fault): found in \(found.count) of 60 seeds")
  }

  @Test("a report names the seed, the finding, the transcript and the command")
  func reportTellsHowToRunAlone() throws {
    let report = try #require(
      (0..<60).lazy.map { Simulation.run(SimulationSeed(.pair, $0), faults: [.replyRepeated]) }.first {
        $0.finding != nil
      })
    let text = report.description()
    #expect(text.hasPrefix("\(report.seed): "))
    #expect(text.contains("BROKEN"))
    #expect(text.contains("PICONET_SEED=\(report.seed) swift test"))
  }
}
