import PiconetTestKit
import Testing

@Suite("Scenarios do what they are for")
struct CoverageTests {
  private func total(_ family: ScenarioFamily, _ count: UInt64) -> SimulationStatistics {
    (0..<count).reduce(into: SimulationStatistics()) { $0 += Simulation.run(SimulationSeed(family, $1)).statistics }
  }

  @Test("pairs connect, send and store")
  func pairsConnectSendAndStore() {
    let total = total(.pair, 20)
    #expect(total.connected >= 40)
    #expect(total.messages >= 60)
    #expect(total.stored >= 5)
  }

  @Test("most transfers are stored, and not all")
  func transfersAreStoredAndFail() {
    let total = total(.transfers, 20)
    #expect(total.stored >= 20)
    #expect(total.stored < total.offers)
  }

  @Test("trouble does not keep everybody apart", arguments: [ScenarioFamily.weather, .restart, .mixed])
  func troubleLeavesSomethingToCheck(family: ScenarioFamily) {
    let total = total(family, 20)
    #expect(total.connected >= 25)
    #expect(total.messages >= 40)
    if family == .restart { #expect(total.crashes >= 15) }
  }

  @Test("hostile nodes get in")
  func hostileNodesGetIn() {
    let total = total(.hostile, 20)
    #expect(total.attacks >= 60)
    #expect(total.connected >= 30)
  }
}
