import Piconet
import PiconetTerminal

/// Looks for obstacles to Bluetooth, for a run that depends on it because Bluetooth was requested, or because no
/// network is available over which others could be reached instead.
struct BluetoothLook: Sendable {
  private static let interval = Duration.seconds(3)
  /// When nothing has changed for this many looks, they become rarer: a receiver may wait for weeks.
  private static let closeLooks = 20
  private static let restInterval = Duration.seconds(30)
  /// After this many looks bluetoothd is asked again even if nothing has changed that can be seen without it.
  private static let patience = 10

  let options: TransportOptions
  let environment: ProgramEnvironment

  /// Returns the obstacle, as a sentence with what to do; nil: there is no obstacle, or this run does not depend on
  /// Bluetooth.
  func obstacle(after glance: DoctorFacts? = nil) async -> String? {
    let obstacle = await onItsOwnThread {
      var facts = glance ?? DoctorFacts.glance(environment, where: depends)
      guard depends(facts) else { return nil as String? }
      facts.lookCloser()
      return sentence(facts)
    }
    return obstacle ?? nil
  }

  /// Returns the obstacle that exists when a run begins, and does not pass by itself, as a sentence with what to do.
  func obstacleAtStart() async -> String? {
    let obstacle = await onItsOwnThread {
      var facts = DoctorFacts.glance(environment, where: depends)
      guard depends(facts) else { return nil as String? }
      facts.lookCloser()
      return sentenceAtStart(facts)
    }
    return obstacle ?? nil
  }

  /// A message about a failure, with the obstacle that explains it.
  func explained(_ message: String) async -> String {
    guard let obstacle = await obstacle() else { return message }
    return "\(message); \(obstacle)"
  }

  /// Reports obstacles, and nil once all have gone, until the task is cancelled.
  /// - Parameters:
  ///   - addresses: where the program has said that it listens; if Bluetooth was asked for but is missing there, nil
  ///     may come first, once nothing is in the way: switching an adapter on takes a while.
  ///   - told: what was told of the start; nil: the start is looked at first.
  func follow(
    from addresses: [TransportAddress]? = nil, told: ObstacleMemory.Change? = nil, _ tell: (String?) async -> Void
  ) async {
    // Whatever happens, this run would not care.
    guard environment.transports(options).contains(where: \.usesBluetooth) else { return }
    let isMissing = options.asksForBluetooth() && addresses?.contains(where: \.kind.usesBluetooth) == false
    let atStart = if let told { told.obstacle } else { await obstacleAtStart() }
    if told == nil, let atStart { await tell(atStart) }
    var memory = ObstacleMemory(told: atStart ?? (isMissing ? "" : nil))
    var before: (glance: DoctorFacts, obstacle: String?)?
    var (looks, unchanged) = (0, 0)
    while !Task.isCancelled {
      looks += 1
      if let glance = await onItsOwnThread({ DoctorFacts.glance(environment, where: depends) }) {
        let isAsBefore = before?.glance == glance && memory.isSettled && looks % Self.patience != 0
        unchanged = before?.glance == glance ? unchanged + 1 : 0
        if !isAsBefore { before = (glance, await obstacle(after: glance)) }
      }
      if let before, let change = memory.see(before.obstacle) { await tell(change.obstacle) }
      try? await ContinuousClock().sleep(for: unchanged < Self.closeLooks ? Self.interval : Self.restInterval)
    }
  }

  /// Why no peer can be found over a network at the moment; nil: a network is available, or none should be used.
  var networkLack: String? {
    guard !environment.isLoopbackOnly, environment.transports(options).contains(.tcp) else { return nil }
    return lack(DoctorFacts.glance(environment) { _ in false })
  }

  /// Whether an obstacle's sentence also says that no network is available.
  var obstacleTellsLack: Bool { !options.asksForBluetooth() }

  /// Whether peers are looked for over a network.
  var usesNetwork: Bool { environment.transports(options).contains(.tcp) }

  /// Whether Bluetooth may do if there is no network.
  var hasRadio: Bool {
    let isUsed = environment.transports(options).contains(where: \.usesBluetooth)
    return isUsed && !BluetoothHere.current.adapters.isEmpty
  }

  func lack(_ facts: DoctorFacts) -> String? {
    guard !facts.hasNetwork else { return nil }
    let chosen = facts.chosenInterfaces.map { " on \($0.joined(separator: ", "))" } ?? ""
    return displaySafe("\(Self.noNetwork)\(chosen) to reach others over ('piconet doctor' says more)")
  }

  private static let noNetwork = "there is no network here"

  func depends(_ facts: DoctorFacts) -> Bool {
    options.asksForBluetooth()
      || !facts.hasNetwork && environment.transports(options).contains(where: \.usesBluetooth)
  }

  func sentence(_ facts: DoctorFacts) -> String? {
    facts.bluetoothObstacle(of: options.adapter).map(sentence)
  }

  /// nil also for what may pass by itself.
  func sentenceAtStart(_ facts: DoctorFacts) -> String? {
    guard let finding = facts.bluetoothObstacle(of: options.adapter),
      !DoctorFacts.passingObstacles.contains(finding.word)
    else { return nil }
    return sentence(finding)
  }

  private func sentence(_ finding: Finding) -> String {
    let start = obstacleTellsLack ? "\(Self.noNetwork) to reach others over, and " : ""
    let advice = finding.advice.map { ": \($0)" } ?? ""
    let words = "\(start)peers can't find each other over Bluetooth: \(finding.text)\(advice)"
    return displaySafe("\(words) ('piconet doctor' says more)")
  }
}

/// What has been reported about obstacles. Something seen once may pass, like an adapter that is just being switched
/// on: only what is seen twice in a row is reported.
struct ObstacleMemory {
  struct Change: Hashable {
    /// nil: nothing is in the way any more.
    let obstacle: String?
  }

  private var seen: String??
  private var told: String?
  private(set) var isSettled = false

  /// - Parameter told: what is already known to be in the way before the first look.
  init(told: String? = nil) { self.told = told }

  mutating func see(_ obstacle: String?) -> Change? {
    isSettled = seen == .some(obstacle)
    seen = .some(obstacle)
    guard isSettled, told != obstacle else { return nil }
    told = obstacle
    return Change(obstacle: obstacle)
  }
}

extension Console {
  /// The run goes on: the obstacle may go away.
  func warn(of obstacle: String, reason: String = "bluetooth") {
    tell(.warning(ProgramEvent.Warning(reason: reason, message: obstacle)))
    problem("warning: \(obstacle)")
  }
}
