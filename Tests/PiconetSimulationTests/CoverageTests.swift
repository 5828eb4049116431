import PiconetCalls
import Testing

@testable import PiconetTestKit

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

  @Test("most streams are read to their ends, and not all")
  func streamsAreReadAndGivenUp() {
    let total = total(.streams, 20)
    #expect(total.streams >= 60)
    #expect(total.streamBytes >= 300_000)
    #expect(total.streamsDone >= 30)
    #expect(total.streamsDone < total.streams)
  }

  @Test("typed codes are proven, and tried in vain")
  func codesAreProvenAndWrong() {
    let total = total(.codes, 30)
    #expect(total.provenCodes >= 20)
    #expect(total.wrongCodes >= 20)
  }

  @Test("trouble does not keep all nodes apart", arguments: [ScenarioFamily.weather, .restart, .mixed])
  func troubleLeavesSomethingToCheck(family: ScenarioFamily) {
    let total = total(family, 20)
    #expect(total.connected >= 25)
    #expect(total.messages >= 40)
    if family == .restart { #expect(total.crashes >= 15) }
    if family == .mixed { #expect(total.removals >= 5) }
  }

  @Test("lost links are replaced, and members move")
  func lostLinksAreReplaced() {
    let total = total(.lossy, 20)
    #expect(total.suspended >= 40)
    #expect(total.resumed >= 40)
    #expect(total.moved >= 5)
    #expect(total.messages >= 200)
    #expect(total.streamsDone >= 20)
    #expect(total.stored >= 20)
  }

  @Test("hidden nodes let in the peers that they expect, and refuse others")
  func hiddenNodesExpect() {
    let total = total(.hidden, 40)
    #expect(total.expectedLinks >= 10)
    #expect(total.hiddenRefusals >= 10)
    #expect(total.membersBack >= 10)
    #expect(total.connected >= 20)
  }

  @Test("members bring members together")
  func membersIntroduce() {
    let total = total(.introductions, 30)
    #expect(total.introductions >= 25)
    #expect(total.introduced >= 15)
  }

  @Test("members compare codes", arguments: [ScenarioFamily.groups, .relays])
  func membersCompare(family: ScenarioFamily) {
    #expect(total(family, 60).comparisons >= 20)
  }

  @Test("nodes without a common transport reach one another over others, and over three of them")
  func membersRelay() {
    let total = total(.relays, 60)
    #expect(total.relayedLinks >= 40)
    #expect(total.longestRelay == 3)
  }

  @Test("members that relay tamper in every way, and are found out")
  func membersTamper() {
    let total = total(.relays, 100)
    #expect(Set(total.tampered.keys) == Set(RelayTampering.Act.allCases.map(\.rawValue)))
    #expect(total.tamperingSeen >= 20)
  }

  @Test("members refuse one another, and the other members are told", arguments: [ScenarioFamily.groups, .relays])
  func membersRefuse(family: ScenarioFamily) {
    #expect(total(family, 60).membersApart >= 3)
  }

  @Test("hostile nodes are members of groups, and of groups that relay", arguments: [ScenarioFamily.groups, .relays])
  func hostileNodesJoinGroups(family: ScenarioFamily) {
    let reports = (0..<60).map { Simulation.run(SimulationSeed(family, $0)).statistics }
    #expect(reports.count { $0.attacks > 0 } >= 6)
    #expect(reports.count { $0.hostileMembers > 0 } >= 6)
    #expect(reports.reduce(0) { $0 + $1.hostileMembers } >= 10)
  }

  @Test("calls are made, served and answered, and end in every way there is")
  func callsEndInEveryWay() {
    let total = total(.calls, 100)
    #expect(total.calls >= 2_000)
    #expect(total.callsAnswered >= 1_000)
    #expect(total.callsRefused >= 20)
    let codes: [CallFailure.Code] = [.cancelled, .timedOut, .left, .tooLarge, .tooManyCalls, .shuttingDown]
    for code in codes { #expect(total.callEndings[code.rawValue, default: 0] >= 10, "\(code)") }
    #expect(total.crashes >= 10)
    #expect(total.suspended >= 50)
  }

  @Test("each attack is made, those of members by members of groups and relays, too")
  func eachAttackIsMade() {
    let made = total(.hostile, 200).kindsOfAttacks.union(total(.codes, 60).kindsOfAttacks)
      .union(total(.calls, 40).kindsOfAttacks)
    #expect(Set(HostileNode.Attack.allCases.map { "\($0)" }).subtracting(made) == [])
    let ofMembers = Set(HostileNode.Attack.ofMembers.map { "\($0)" })
    for family in [ScenarioFamily.groups, .relays] {
      #expect(ofMembers.subtracting(total(family, 150).kindsOfAttacks) == [], "\(family)")
    }
  }

  @Test("hostile nodes get in")
  func hostileNodesGetIn() {
    let total = total(.hostile, 20)
    #expect(total.attacks >= 60)
    #expect(total.connected >= 30)
  }
}
