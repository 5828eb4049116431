import PiconetEngine
import PiconetWire

/// The simulated world: a virtual clock, a network, disks, applications, trouble, and two to twelve engines.
///
/// What it does NOT simulate:
/// - cryptography: a handshake is a delay after which both sides know each other's identity; the commitment to a nonce
///   is a weak digest; no node in the middle reads or changes bytes of a secured link, but a relay may try
/// - loss, repetition or reordering of bytes on a link (a reliable stream has none), except as a planted fault
/// - packet links: every link is a byte stream with no largest write
/// - the DNS-SD messages behind a sighting, addresses and interfaces, the racing of addresses within one dial
/// - threads: a driver takes facts and performs effects without being interrupted, as the real loop does
/// - memory and CPU: an engine takes no virtual time; a paused process stands for a slow one
/// - clocks that jump or drift: the monotonic clock of every node is the same
/// - SHA-256 and file systems: names, permissions, conflicts and partial files on disk are tested where they are real;
///   here there is only the supplied choice of which partial files of a directory go
final class World {
  let scenario: Scenario
  let seed: SimulationSeed
  var now: UInt64 = 0
  var agenda = Agenda<Occurrence>()
  var transcript: Transcript
  var findings = Findings()
  var statistics = SimulationStatistics()

  var networkDice: Dice
  var diskDice: Dice
  var applicationDice: Dice
  var weatherDice: Dice
  var hostileDice: Dice
  var faultDice: Dice
  /// Dice separate from all others, so that runs without a choice of partial files draw the same.
  var partialDice: Dice
  /// Dice of calls: no other draw depends on calls.
  var callDice: Dice
  /// Dice for people who compare codes with members: other draws are the same without them.
  var comparisonDice: Dice
  let partialChoice: (any PartialFileChoice)?

  var nodes: [SimulatedNode] = []
  var hostiles: [HostileNode] = []
  var indices: [PeerID: Int] = [:]
  var names: [NodeID: String] = [:]

  var connections: [Connection] = []
  var pendingDials: [PendingDial] = []
  /// Names of associations between honest nodes, for hostile ones.
  var knownAssociations: [AssociationID] = []
  var overheardShares: [[UInt8]] = []
  var overheardConfirmations: [[UInt8]] = []
  /// The sides of a partition. Nodes of different sides can't reach each other.
  var partition: [Int]?
  var dialsRefusedUntil: UInt64 = 0
  /// Transports over which nothing arrives and no node can be dialled.
  var outages: Set<TransportKind> = []
  /// Whether the active time is over: no more trouble, and everything works.
  var isCalm = false

  /// The true bytes of every offered file.
  var contents: [[UInt8]] = []
  /// Numbers of the files that a receiver has stored, and that were compared.
  var storedContents: Set<Int> = []
  var flows = Flows()
  var streams = StreamTruths()
  var calls = CallTruths()
  var causes = Causes()

  /// The number of frames about members since the count began.
  var wordsAboutMembers = 0

  /// Whether every engine writes a trace, and the traces of engines that are over.
  let recordsTraces: Bool
  var traces: [[UInt8]] = []

  init(
    seed: SimulationSeed, faults: Set<PlantedFault>, transcriptLimit: Int, recordsTraces: Bool = false,
    partialChoice: (any PartialFileChoice)? = nil
  ) {
    self.seed = seed
    self.recordsTraces = recordsTraces
    self.partialChoice = partialChoice
    partialDice = Dice(seed: seed.word ^ 0x7061_7274)
    callDice = Dice(seed: seed.word ^ 0x6361_6C6C)
    comparisonDice = Dice(seed: seed.word ^ 0x636F_6D70)
    var dice = Dice(seed: seed.word)
    var scenarioDice = dice.fork()
    var scenario = Scenario.drawn(seed.family, &scenarioDice)
    scenario.drawComparisons(seed)
    scenario.plant(faults)
    self.scenario = scenario
    networkDice = dice.fork()
    diskDice = dice.fork()
    applicationDice = dice.fork()
    weatherDice = dice.fork()
    hostileDice = dice.fork()
    faultDice = dice.fork()
    transcript = Transcript(limit: transcriptLimit)
    for index in 0..<scenario.nodeCount { makeNode(index, &dice) }
    layPartials()
  }

  private func makeNode(_ index: Int, _ dice: inout Dice) {
    let bytes = dice.bytes(PeerID.byteCount)
    guard let peer = PeerID(bytes: bytes) else { return }
    let node = NodeID(peer: peer, incarnation: Incarnation(rawValue: dice.word()))
    let engine = SessionEngine(
      identity: LocalIdentity(node: node), configuration: scenario.engineConfiguration(of: index), seed: dice.word())
    nodes.append(SimulatedNode(index: index, node: node, engine: engine))
    startRecording(nodes[index])
    indices[peer] = index
    names[node] = "n\(index).0"
    if index >= scenario.engineCount {
      nodes[index].isAlive = false
      hostiles.append(HostileNode(index: index, node: node, dice: dice.fork()))
    }
  }

  func isHostile(_ index: Int) -> Bool { index >= scenario.engineCount }
  var instant: Instant { Instant(nanoseconds: now) }

  func enter(_ occurrence: Occurrence, in delay: UInt64) { agenda.enter(occurrence, at: now + delay) }

  func note(_ entry: Transcript.Entry) { transcript.note(entry, at: now) }

  /// Records that something in the world is wrong. The first finding counts.
  func finding(_ text: @autoclosure () -> String) {
    findings.isAny = true
    guard findings.first == nil, !findings.areDropped else { return }
    findings.first = text()
    note(.world("BROKEN: \(findings.first ?? "")"))
  }

  /// Runs the world until the given time, or until the first finding.
  func advance(to end: UInt64) {
    while findings.first == nil, let next = agenda.nextTime, next <= end {
      guard let (time, occurrence) = agenda.popNext() else { break }
      now = max(now, time)
      happen(occurrence)
      statistics.occurrences += 1
      if statistics.occurrences > 2_000_000 { finding("the run does not come to rest") }
    }
    if findings.first == nil { now = max(now, end) }
  }

  private func happen(_ occurrence: Occurrence) {
    switch occurrence {
    case .turn(let index, let life): ifAlive(index, life) { takeTurn($0) }
    case .timer(let index, let life): ifAlive(index, life) { timerFired($0) }
    case .fact(let index, let life, let fact): ifAlive(index, life) { post(.fact(fact), to: $0) }
    case .arrival(let connection, let side): arrive(connections[connection], side)
    case .dialDone(let index, let outcome): dialDone(index, outcome)
    case .accepted(let connection): accepted(connections[connection])
    case .linkLost(let connection, let side, let failure): lose(connections[connection], side, .failed(failure))
    case .application(let index, let life, let step): ifAlive(index, life) { perform(step, of: $0) }
    case .hostile(let index): hostileActs(index)
    case .tunnelLate(let index, let life, let tunnel): ifAlive(index, life) { tunnelLate(tunnel, $0) }
    case .sighting(let observer, let observed, let source, let isSeen):
      reportSighting(of: observed, to: observer, source: source, isSeen: isSeen)
    case .weather(let weather): strike(weather)
    }
  }

  private func ifAlive(_ index: Int, _ life: Int, _ body: (SimulatedNode) -> Void) {
    let node = nodes[index]
    if node.isAlive && node.life == life { body(node) }
  }
}

/// The findings of a run.
struct Findings {
  var first: String?
  /// Set while only the existence of findings matters.
  var areDropped = false
  var isAny = false
}
