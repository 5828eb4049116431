import Testing

@testable import PiconetTestKit

@Suite("Partial files beside a hostile node")
struct PartialFileTests {
  /// What real directories decide, but for one of the decisions.
  struct WrongChoice: PartialFileChoice {
    enum Fault: CaseIterable {
      /// The oldest go until there is room, or nothing is left: an offer beyond all bounds empties the directory.
      case throwsAllAway
      /// The oldest go if that makes room, those of any sender.
      case forgetsShares
      /// For a stranger's file the oldest of known senders go if that makes room.
      case spendsKnown
      /// No file goes for a known sender's.
      case refusesKnown
      /// Beyond the limit the oldest go, those of any sender.
      case countsAllTogether

      /// What the world says of it.
      var finding: String {
        switch self {
        case .throwsAllAway: "which does not fit"
        case .forgetsShares: "loses some to"
        case .spendsKnown: "loses some to a stranger"
        case .refusesKnown: "has no room for a known sender"
        case .countsAllTogether: "within its share of"
        }
      }
    }

    let fault: Fault
    private let right = DirectoryChoice()

    init(_ fault: Fault) { self.fault = fault }

    var limit: Int { right.limit }
    var age: Int64 { right.age }

    func toFree(_ missing: UInt64, for new: SimulatedPartial, of files: [SimulatedPartial]) -> [Int] {
      switch fault {
      case .countsAllTogether: return right.toFree(missing, for: new, of: files)
      case .refusesKnown: return new.isOfStranger ? right.toFree(missing, for: new, of: files) : []
      case .spendsKnown where !new.isOfStranger: return right.toFree(missing, for: new, of: files)
      case .throwsAllAway, .forgetsShares, .spendsKnown:
        let spent = fault == .spendsKnown ? files.filter { !$0.isOfStranger } : files
        var chosen: [Int] = []
        var freed: UInt64 = 0
        for file in Self.oldestFirst(spent) where freed < missing {
          chosen.append(file.number)
          freed += file.byteCount
        }
        return freed >= missing || fault == .throwsAllAway ? chosen : []
      }
    }

    func toRemove(of files: [SimulatedPartial]) -> [Int] {
      guard fault == .countsAllTogether else { return right.toRemove(of: files) }
      let waiting = Self.oldestFirst(files)
      return waiting.prefix(max(0, waiting.count - limit)).map(\.number)
    }

    private static func oldestFirst(_ files: [SimulatedPartial]) -> [SimulatedPartial] {
      files.filter { !$0.isOpen }.sorted { ($1.age, $0.number) < ($0.age, $1.number) }
    }
  }

  @Test("offers come that fit nowhere, files are left half sent, and some make room, under many keys")
  func worthChecking() {
    var total = SimulationStatistics()
    for number: UInt64 in 0..<100 {
      total += Simulation.run(SimulationSeed(.hostile, number), choosingPartials: DirectoryChoice()).statistics
    }
    #expect(total.hostileKeys >= 20)
    #expect(total.offersWithoutRoom >= 20)
    #expect(total.partialsKept >= 5)
    #expect(total.partialsFreed >= 5)
  }

  @Test("a wrong decision of which files go is found", arguments: WrongChoice.Fault.allCases)
  func wrongChoiceIsFound(fault: WrongChoice.Fault) {
    var found: [String] = []
    for number: UInt64 in 0..<200 where found.count < 3 {
      let report = Simulation.run(SimulationSeed(.hostile, number), choosingPartials: WrongChoice(fault))
      if let finding = report.finding, finding.contains(fault.finding) { found.append(finding) }
    }
    #expect(found.count == 3, "\(fault): \(found)")
  }

  @Test("the same seed gives the same transcript with partial files")
  func sameSeedSameTranscript() {
    for number: UInt64 in 0..<6 {
      let reports = (0..<2).map { _ in
        Simulation.run(SimulationSeed(.hostile, number), transcriptLimit: 100_000, choosingPartials: DirectoryChoice())
      }
      #expect(reports[0].transcriptHash == reports[1].transcriptHash)
      #expect(reports[0].statistics == reports[1].statistics)
    }
  }
}
