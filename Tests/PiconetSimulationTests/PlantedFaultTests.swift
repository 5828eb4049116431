import PiconetTestKit
import Testing

@Suite("The simulator finds faults that were planted")
struct PlantedFaultTests {
  @Test("a planted fault is found in fair weather", arguments: PlantedFault.allCases)
  func plantedFaultIsFound(fault: PlantedFault) {
    var found: [String] = []
    // A wrong position shows only if the link is lost in the middle of a file.
    let seeds: UInt64 = fault == .wrongPosition ? 200 : 60
    for number in 0..<seeds where found.count < 5 {
      let needsFiles = [PlantedFault.storeLies, .sourceLeaks, .transmittedForgotten, .pauseIgnored].contains(fault)
      let needsLosses = [PlantedFault.resendLost, .resendRepeated, .wrongPosition].contains(fault)
      let needsStreams = [PlantedFault.streamBytesRepeated, .streamEndLost].contains(fault)
      let family: ScenarioFamily = needsLosses ? .lossy : needsFiles ? .transfers : needsStreams ? .streams : .pair
      let seed = SimulationSeed(family, number)
      if let finding = Simulation.run(seed, faults: [fault]).finding { found.append(finding) }
    }
    #expect(found.count == 5, "\(fault): found in \(found.count) of \(seeds) seeds")
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
