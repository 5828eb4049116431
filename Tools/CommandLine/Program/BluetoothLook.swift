import Piconet

/// Looks what is in the way of Bluetooth, for a run that depends on it: Bluetooth was asked for, or there is no network
/// that others could be reached over instead.
struct BluetoothLook: Sendable {
  private static let interval = Duration.seconds(3)
  /// So many looks may pass before bluetoothd is asked again though nothing has changed that can be seen without it.
  private static let patience = 10

  let options: TransportOptions
  let environment: ProgramEnvironment

  /// What is in the way, as a sentence with what to do; nil: nothing, or this run does not depend on Bluetooth.
  func obstacle(after glance: DoctorFacts? = nil) async -> String? {
    let obstacle = await onItsOwnThread {
      var facts = glance ?? DoctorFacts.glance(environment, where: depends)
      guard depends(facts) else { return nil as String? }
      facts.lookCloser()
      return sentence(facts)
    }
    return obstacle ?? nil
  }

  /// The obstacle behind what came of it.
  func explained(_ message: String) async -> String {
    guard let obstacle = await obstacle() else { return message }
    return "\(message); \(obstacle)"
  }

  /// Tells what comes in the way, and nil when nothing is any more, until the task is cancelled.
  /// - Parameter addresses: where the program has told that it listens; where Bluetooth was asked for and is missing
  ///   there, nil comes first, too, once nothing is in the way: an adapter is switched on by and by.
  func follow(from addresses: [TransportAddress]? = nil, _ tell: (String?) async -> Void) async {
    let isMissing = options.asksForBluetooth() && addresses?.allSatisfy { $0.kind == .tcp } ?? false
    var memory = ObstacleMemory(told: isMissing ? "" : nil)
    var before: (glance: DoctorFacts, obstacle: String?)?
    var looks = 0
    while !Task.isCancelled {
      looks += 1
      if let glance = await onItsOwnThread({ DoctorFacts.glance(environment, where: depends) }) {
        let isAsBefore = before?.glance == glance && memory.isSettled && looks % Self.patience != 0
        if !isAsBefore { before = (glance, await obstacle(after: glance)) }
      }
      if let before, let change = memory.see(before.obstacle) { await tell(change.obstacle) }
      try? await ContinuousClock().sleep(for: Self.interval)
    }
  }

  func depends(_ facts: DoctorFacts) -> Bool {
    options.asksForBluetooth()
      || !facts.hasNetwork && environment.transports(options).contains { [.l2cap, .rfcomm, .le].contains($0) }
  }

  func sentence(_ facts: DoctorFacts) -> String? {
    guard let finding = facts.bluetoothObstacle(of: options.adapter) else { return nil }
    let start = options.asksForBluetooth() ? "" : "there is no network to reach others over, and "
    let advice = finding.advice.map { ": \($0)" } ?? ""
    let words = "\(start)peers can't find each other over Bluetooth: \(finding.text)\(advice)"
    return displaySafe("\(words) ('piconet doctor' says more)")
  }
}

/// What was told of obstacles. What is seen once may pass, as an adapter that is just being switched on: only what is
/// seen twice in a row is told.
struct ObstacleMemory {
  struct Change: Hashable {
    /// nil: nothing is in the way any more.
    let obstacle: String?
  }

  private var seen: String??
  private var told: String?
  private(set) var isSettled = false

  /// - Parameter told: what is known to be in the way before the first look.
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
  /// The run goes on: what is in the way may go.
  func warn(of obstacle: String) {
    tell(.warning(Event.Warning(reason: "bluetooth", message: obstacle)))
    problem("warning: \(obstacle)")
  }
}
