import Testing

@testable import PiconetTestKit

@Suite("The simulator finds faults that were planted")
struct PlantedFaultTests {
  /// Each of these has a bound of its own that finds it.
  private static let ofMemory: Set<PlantedFault> = [.memoryGrows, .acknowledgementsLost, .endlessMessage]

  @Test(
    "a planted fault is found in fair weather", arguments: PlantedFault.allCases.filter { !ofMemory.contains($0) })
  func plantedFaultIsFound(fault: PlantedFault) {
    var found: [String] = []
    // A wrong position shows only if the link is lost in the middle of a file. A lost frame shows only if it is an
    // answer and nothing else delays it, and tampering only where a node tampers.
    let seeds: UInt64 = [.wrongPosition, .callLost, .tamperingUnseen].contains(fault) ? 200 : 60
    for number in 0..<seeds where found.count < 5 {
      let needsFiles = [PlantedFault.storeLies, .sourceLeaks, .transmittedForgotten, .pauseIgnored].contains(fault)
      let needsLosses = [PlantedFault.resendLost, .resendRepeated, .wrongPosition].contains(fault)
      let needsStreams = [PlantedFault.streamBytesRepeated, .streamEndLost].contains(fault)
      let needsCalls = [PlantedFault.callRepeated, .callLost].contains(fault)
      let family: ScenarioFamily =
        needsCalls
        ? .calls
        : fault == .tamperingUnseen
          ? .relays : needsLosses ? .lossy : needsFiles ? .transfers : needsStreams ? .streams : .pair
      let seed = SimulationSeed(family, number)
      if let finding = Simulation.run(seed, faults: [fault]).finding { found.append(finding) }
    }
    #expect(found.count == 5, "\(fault): found in \(found.count) of \(seeds) seeds")
  }

  @Test(
    "what a node keeps for a hostile one is found by the bound on it",
    arguments: [ScenarioFamily.hostile, .groups, .relays])
  func memoryThatGrowsIsFound(family: ScenarioFamily) {
    var found: [String] = []
    for number: UInt64 in 0..<2_000 where found.count < 3 {
      let seed = SimulationSeed(family, number)
      guard World(seed: seed, faults: [], transcriptLimit: 0).scenario.hostileCount > 0 else { continue }
      if let finding = Simulation.run(seed, faults: [.memoryGrows]).finding { found.append(finding) }
    }
    #expect(found.count == 3, "found in \(found.count) of the seeds with a hostile node")
    #expect(found.allSatisfy { $0.contains("bytes waiting for a link, the limit is") }, "\(found)")
  }

  @Test("what is sent and never acknowledged is found by the bound on what a node keeps")
  func keptFramesThatGrowAreFound() {
    let found = findings(of: .acknowledgementsLost, in: .streams, saying: "bytes that are not acknowledged")
    #expect(found.count == 3, "\(found)")
  }

  @Test("a message that never ends is found by the bound on what a node holds for its peers")
  func heldBytesThatGrowAreFound() {
    let found = findings(of: .endlessMessage, in: .hostile, saying: "bytes for its peers")
    #expect(found.count == 3, "\(found)")
  }

  /// The first three with these words. Where limits are ignored, other checks may find something first.
  private func findings(of fault: PlantedFault, in family: ScenarioFamily, saying text: String) -> [String] {
    var found: [String] = []
    for number: UInt64 in 0..<100 where found.count < 3 {
      let finding = Simulation.run(SimulationSeed(family, number), faults: [fault]).finding
      if let finding, finding.contains(text) { found.append(finding) }
    }
    return found
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
