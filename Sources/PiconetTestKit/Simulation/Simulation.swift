import PiconetEngine

/// Runs a scenario from its seed to its end and checks the invariants. See `World` for what is simulated and what is
/// not.
public enum Simulation {
  /// - Parameters:
  ///   - faults: the faults planted in the world on purpose; the run should find them.
  ///   - transcriptLimit: how many of the last lines of the transcript are kept.
  ///   - recordsTraces: whether the report has a trace of every engine.
  public static func run(
    _ seed: SimulationSeed, faults: Set<PlantedFault> = [], transcriptLimit: Int = 400, recordsTraces: Bool = false
  ) -> SimulationReport {
    run(World(seed: seed, faults: faults, transcriptLimit: transcriptLimit, recordsTraces: recordsTraces))
  }

  /// Runs a seed in which nodes beside a hostile one keep partial files.
  /// - Parameter choice: decides which of the files are removed.
  static func run(
    _ seed: SimulationSeed, transcriptLimit: Int = 400, choosingPartials choice: any PartialFileChoice
  ) -> SimulationReport {
    run(World(seed: seed, faults: [], transcriptLimit: transcriptLimit, partialChoice: choice))
  }

  private static func run(_ world: World) -> SimulationReport {
    world.run()
    for node in world.nodes { world.collectTrace(of: node) }
    return SimulationReport(
      seed: world.seed, finding: world.findings.first, statistics: world.statistics, virtualTime: world.now,
      traces: world.traces, isAsAlone: world.partialChoice != nil || world.seed.family != .hostile,
      transcript: world.transcript, wording: TranscriptWording(names: world.names))
  }
}

/// The result of a run.
public struct SimulationReport: Sendable {
  public let seed: SimulationSeed
  /// The first fault; nil if there was no fault.
  public let finding: String?
  public let statistics: SimulationStatistics
  /// Nanoseconds that passed in the simulated world.
  public let virtualTime: UInt64
  /// The trace of every engine of the run, if requested; those of crashed engines are cut off.
  public let traces: [[UInt8]]
  /// Whether `oneSeedAlone` runs the same.
  let isAsAlone: Bool
  let transcript: Transcript
  let wording: TranscriptWording

  /// The last lines of the transcript.
  public var transcriptLines: [String] { transcript.lines(wording) }

  /// A hash (FNV-1a) that differs for different transcripts, over the kept lines and the number of all lines.
  public var transcriptHash: UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ UInt64(transcript.count)
    for line in transcriptLines {
      for byte in line.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
      hash = (hash ^ 0x0A) &* 0x0000_0100_0000_01B3
    }
    return hash
  }

  /// Returns the text to print for a failed run.
  public func description(lastLines count: Int = 200) -> String {
    let lines = transcriptLines.suffix(count).joined(separator: "\n")
    let alone = isAsAlone ? "\nAlone: PICONET_SEED=\(seed) swift test --filter oneSeedAlone" : ""
    return "\(seed): \(finding ?? "all is well")\n\(lines)\(alone)"

  }
}

extension World {
  func run() {
    for (at, weather) in scenario.weather { agenda.enter(.weather(weather), at: at) }
    for index in nodes.indices {
      if isHostile(index) {
        beginHostile(index)
      } else {
        beginApplication(of: nodes[index])
      }
      for observer in 0..<scenario.engineCount { announce(index, to: observer) }
    }
    advance(to: scenario.activeTime)
    calmDown()
    settle(measures: scenario.isGroup)
    checkAgreement()
    fillPlaces()
    // Nothing comes to rest while a node tampers.
    if !scenario.tampering.values.contains(where: \.goesOn) {
      if findings.first == nil { checkQuiet() }
      checkNobodyIsLeftOut()
      checkCalm()
    }
    for node in nodes.prefix(scenario.engineCount) {
      plan(.shutDown, of: node, in: applicationDice.chance(50) ? 0 : applicationDice.milliseconds(0...300))
    }
    advance(to: now + scenario.settleTime)
    if findings.first == nil { checkEnd() }
  }

  /// Lets everything that was begun end. Quiet members keep asking one another whether they are alive, which would take
  /// up most of a run. Only every fourth seed watches that to its end; the others stop when all has been quiet for a
  /// while.
  /// - Parameter measures: whether to measure how long lists differ.
  func settle(measures: Bool = false) {
    var calm = now
    let end = now + scenario.settleTime
    let isWatched = seed.number % 4 == 0
    var quiet = 0
    while findings.first == nil, now < end, isWatched || quiet < 4 {
      advance(to: min(end, now + 250_000_000))
      if measures {
        // A node that is paused or gone is still in trouble.
        if let last = nodes.map(\.pausedUntil).max(), last > calm { calm = min(now, last) }
        if nodes.prefix(scenario.engineCount).contains(where: { !$0.isAlive }) { calm = now }
        if !isAgreed { statistics.agreedAfter = now - calm }
      }
      if !isWatched || now == end { quiet = isQuiet ? quiet + 1 : 0 }
    }
    // A member looks for a better link every few seconds. It may just have begun to dial.
    for _ in 0..<8 where isWatched && findings.first == nil && !isQuiet { advance(to: now + 250_000_000) }
  }

  /// Ends all trouble, and gives everything that was begun time to end.
  private func calmDown() {
    isCalm = true
    note(.world("calm"))
    outages = []
    healPartition()
    for connection in connections {
      for side in 0...1 { connection.pipes[side].stalledUntil = min(connection.pipes[side].stalledUntil, now) }
    }
    for node in nodes.prefix(scenario.engineCount) {
      // In a group, hidden nodes are reached nevertheless.
      if !scenario.isGroup || scenario.isCrowded || !persona(node).hides { setHidden(false, node) }
      wakeApplication(of: node)
      wakeReaders(of: node)
    }
  }
}
