import PiconetEngine
import PiconetTestKit
import Testing

@Suite("A trace replays into what it tells")
struct ReplayTests {
  /// What comes of replaying a whole trace.
  struct Outcome {
    var difference: TraceReplay.Difference?
    var counts = TraceReplay.Counts()
    var isRedacted = false
  }

  static func replay(_ trace: [UInt8], changing change: (inout TraceRecord) -> Void = { _ in }) throws -> Outcome {
    var decoder = TraceDecoder()
    decoder.push(trace)
    var record = try decoder.next()
    var replay = TraceReplay(try #require(decoder.header))
    var outcome = Outcome(isRedacted: decoder.header?.isRedacted ?? false)
    while var taken = record {
      change(&taken)
      if let difference = replay.take(taken) {
        outcome.difference = difference
        return outcome
      }
      record = try decoder.next()
    }
    #expect(decoder.bufferedCount == 0)
    outcome.difference = replay.finish(isCut: false)
    outcome.counts = replay.counts
    return outcome
  }

  @Test("of every engine of thirty simulated runs of each family, redacted or not", arguments: ScenarioFamily.allCases)
  func simulatedRunsReplay(family: ScenarioFamily) throws {
    var effects = 0
    var redacted = 0
    let runs = SeedPlan.count(30)
    for number in 0..<runs {
      let report = Simulation.run(SimulationSeed(family, number), recordsTraces: true)
      #expect(!report.traces.isEmpty)
      for trace in report.traces {
        let outcome = try Self.replay(trace)
        #expect(outcome.difference == nil, "\(report.seed): \(outcome.difference?.description ?? "")")
        effects += outcome.counts.effects
        redacted += outcome.isRedacted ? 1 : 0
      }
    }
    #expect(effects > 70 * Int(runs))
    #expect(redacted >= runs)
  }

  @Test("recording does not change a run")
  func recordingChangesNothing() {
    for number: UInt64 in 0..<5 {
      let plain = Simulation.run(SimulationSeed(.mixed, number))
      let recorded = Simulation.run(SimulationSeed(.mixed, number), recordsTraces: true)
      #expect(plain.transcriptHash == recorded.transcriptHash)
      #expect(plain.traces.isEmpty)
    }
  }

  @Test("a changed fact or effect is the first difference")
  func changesAreFound() throws {
    let trace = try #require(Simulation.run(SimulationSeed(.pair, 1), recordsTraces: true).traces.first)
    var seen = 0
    let changedEffect = try Self.replay(trace) { record in
      if case .effect(.transmit(let link, let bytes)) = record {
        seen += 1
        if seen == 3 { record = .effect(.transmit(link, bytes + [0])) }
      }
    }
    let difference = try #require(changedEffect.difference)
    #expect("\(difference)".contains("the first difference is at fact"))
    let lostFact = try Self.replay(trace) { record in
      if case .fact(.linkOpened, let now) = record { record = .fact(.deadlineReached, at: now) }
    }
    #expect(lostFact.difference != nil)
  }

  @Test("contents of messages and files are zeros in a redacted trace, and nothing else is")
  func redactedTracesHoldNoContent() throws {
    for number: UInt64 in 0..<20 {
      let report = Simulation.run(SimulationSeed(.transfers, number), recordsTraces: true)
      for trace in report.traces {
        var decoder = TraceDecoder()
        decoder.push(trace)
        while let record = try decoder.next() {
          guard decoder.header?.isRedacted == true else { break }
          switch record {
          case .fact(.messageQueued(_, let bytes, _, _), _), .effect(.storeChunk(_, let bytes)):
            #expect(bytes.allSatisfy { $0 == 0 })
          case .effect(.deliver(.messagesReceived(_, let messages, _, _))):
            #expect(messages.joined().allSatisfy { $0 == 0 })
          default: break
          }
        }
      }
    }
  }
}
