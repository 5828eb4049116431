import PiconetDBusValues
import PiconetDNSSD

/// Publishes and browses through Avahi on the system bus, where Avahi has the port of Multicast DNS to itself.
///
/// A value without a bus or a clock. Facts go in, effects come out; `now` must not go backwards. Call `handle(.time)`
/// at `nextDeadline`, which may change with every fact.
struct AvahiMachine: Sendable {
  enum Phase: Sendable, Hashable {
    /// There is nothing to do, or the next attempt is waited for.
    case idle
    /// The bus was asked for Avahi's unique name.
    case connecting
    /// Avahi is not on the bus. The bus reports when it comes.
    case absent
    /// Avahi has not settled its own name.
    case starting
    case running
  }

  /// How long the bus and Avahi may take to answer.
  static let patience = Duration.seconds(3)
  /// How long Avahi may take to probe and announce a service.
  static let probingPatience = Duration.seconds(15)
  /// How often failed steps are tried again.
  static let retryInterval = Duration.seconds(30)

  var errand = ResponderErrand()
  var phase = Phase.idle
  /// The number of the present run of Avahi on the bus.
  private(set) var life = 0
  var deadline: Duration?
  var publications: [Int: AvahiPublication] = [:]
  var browsers: [Bool: AvahiBrowsing] = [:]
  var instances = AvahiInstances()
  var lastNumber = 0
  private var failure: AvahiFailure?
  private var told = ResponderDaemonStatus.trying
  private var toldLabels: [Int: [UInt8]] = [:]
  /// The names that were reported.
  private var toldNames: Set<DomainName> = []
  var effects: [AvahiEffect] = []

  mutating func handle(_ fact: AvahiFact, at now: Duration) -> [AvahiEffect] {
    take(fact, at: now)
    resolveInstances(at: now)
    tellStatus()
    defer { effects = [] }
    return effects
  }

  var nextDeadline: Duration? {
    let all = [deadline, phase == .running ? instances.nextDeadline : nil] + publications.values.map(\.deadline)
    return all.compactMap { $0 }.min()
  }

  private mutating func take(_ fact: AvahiFact, at now: Duration) {
    switch fact {
    case .errand(let errand): change(to: errand, at: now)
    case .busFailed(let failure): fail(.noBus(Self.words(failure)), at: now)
    case .owner(let name): setOwner(name, at: now)
    case .answer(let call, let result):
      if call.life == life { take(result, for: call, at: now) }
    case .signal(let path, let interface, let member, let arguments):
      take(path: path, interface: interface, member: member, arguments, at: now)
    case .time: timeHasCome(at: now)
    }
  }

  private mutating func take(_ result: Result<[DBusValue], DBusFailure>, for call: AvahiCall, at now: Duration) {
    switch call.purpose {
    case .state:
      switch result {
      case .success(let values): serverChanged(values.first?.integer, at: now)
      case .failure(let failure): fail(Self.failure(failure), at: now)
      }
    case .group(let id): groupAnswered(id, result, at: now)
    case .entries(let id, let filling): entriesAnswered(id, filling, result, at: now)
    case .proof(let id, let filling, let isIPv6): proofAnswered(id, filling, isIPv6, result, at: now)
    case .browser(let isIPv6, let number): browserAnswered(isIPv6, number, result, at: now)
    case .resolver(let key, let number):
      instances.answered(key, number: number, path: try? result.get().first?.text, at: now)
    case .none: break
    }
  }

  private mutating func take(
    path: String, interface: String, member: String, _ arguments: [DBusValue], at now: Duration
  ) {
    switch (interface, member) {
    case (AvahiNames.server, "StateChanged"): serverChanged(arguments.first?.integer, at: now)
    case (AvahiNames.entryGroup, "StateChanged"): groupChanged(path, arguments, at: now)
    case (AvahiNames.browser, _): browserTold(path, member, arguments, at: now)
    case (AvahiNames.resolver, "Found"):
      instances.found(Self.finding(arguments), path: path, at: now)
    case (AvahiNames.resolver, "Failure"): instances.failed(path: path, at: now)
    default: break
    }
  }

  // MARK: Runs of Avahi

  private mutating func change(to errand: ResponderErrand, at now: Duration) {
    let wasIdle = self.errand.isIdle
    self.errand = errand
    if errand.isIdle {
      if !wasIdle { end() }
    } else if phase == .idle, deadline == nil {
      connect(at: now)
    } else if phase == .running {
      updatePublications(at: now)
      updateBrowsing()
    }
  }

  private mutating func connect(at now: Duration) {
    phase = .connecting
    deadline = now + Self.patience
    effects.append(.connect)
  }

  /// Ends the work.
  private mutating func end() {
    forgetAvahi()
    if phase != .idle { effects.append(.disconnect) }
    phase = .idle
    deadline = nil
    failure = nil
  }

  /// Notes a failure; everything is tried again later.
  mutating func fail(_ failure: AvahiFailure, at now: Duration) {
    guard phase != .idle else { return }
    forgetAvahi()
    effects.append(.disconnect)
    phase = .idle
    deadline = now + Self.retryInterval
    self.failure = failure
  }

  private mutating func setOwner(_ name: String?, at now: Duration) {
    guard phase != .idle else { return }
    let wasThere = phase == .running || phase == .starting
    forgetAvahi()
    guard name != nil else {
      phase = .absent
      // It may be restarting, which is no obstacle yet.
      deadline = wasThere ? now + Self.patience : nil
      failure = wasThere ? nil : .notOnBus
      return
    }
    phase = .starting
    deadline = now + Self.patience
    call(.state, AvahiNames.serverPath, AvahiNames.server, "GetState")
  }

  /// Forgets Avahi's state: our services went with it, or go with our connection.
  private mutating func forgetAvahi() {
    life += 1
    publications = [:]
    browsers = [:]
    instances.removeAll { _ in true }
    // The paths are no longer valid.
    _ = instances.takeSteps(at: .zero)
    tellInstances()
  }

  private mutating func serverChanged(_ state: Int64?, at now: Duration) {
    if state == AvahiNames.serverRunning, phase == .starting {
      phase = .running
      deadline = nil
      failure = nil
      updatePublications(at: now)
      updateBrowsing()
    } else if state != AvahiNames.serverRunning, phase == .running {
      // Its own name is taken: services are given again once it has another.
      phase = .starting
      deadline = now + Self.probingPatience
      emptyPublications()
    }
  }

  private mutating func timeHasCome(at now: Duration) {
    if let deadline, deadline <= now {
      self.deadline = nil
      switch phase {
      case .idle: if !errand.isIdle { connect(at: now) }
      case .connecting, .starting: fail(.silent, at: now)
      case .absent: failure = .notOnBus
      case .running: break
      }
    }
    publicationTimes(at: now)
  }

  // MARK: Reports

  private mutating func tellStatus() {
    let status: ResponderDaemonStatus
    if let failure {
      status = .failing(failure)
    } else if phase == .running || phase == .starting && told.isServing {
      status = .serving(lacking: lacking)
    } else {
      status = .trying
    }
    for id in Set(toldLabels.keys).union(publications.keys).sorted() {
      let publication = publications[id]
      let label = publication?.stage == .established && publication?.proven.isEmpty == false ? publication?.label : nil
      guard label != toldLabels[id] else { continue }
      toldLabels[id] = label
      effects.append(.report(.published(id, label: label)))
    }
    guard status != told else { return }
    told = status
    effects.append(.report(.status(status)))
  }

  private var lacking: [Bool: AvahiFailure] {
    publications.sorted { $0.key < $1.key }.reduce(into: [:]) { result, entry in
      result.merge(entry.value.failures) { first, _ in first }
    }
  }

  private mutating func resolveInstances(at now: Duration) {
    guard phase == .running || phase == .starting else { return }
    for step in instances.takeSteps(at: now) {
      switch step {
      case .free(let path): call(.none, path, AvahiNames.resolver, "Free")
      case .resolve(let key, let number): resolve(key, number)
      }
    }
    tellInstances()
  }

  private mutating func tellInstances() {
    for label in instances.takeChanged() {
      guard let name = ServiceType.piconet.name.prepending(label) else { continue }
      if let instance = instance(label, name) {
        effects.append(.report(.browsed(toldNames.insert(name).inserted ? .resolved(instance) : .updated(instance))))
      } else if toldNames.remove(name) != nil {
        effects.append(.report(.browsed(.removed(name))))
      }
    }
  }

  // MARK: calls

  mutating func call(
    _ purpose: AvahiCall.Purpose, _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = []
  ) {
    effects.append(
      .call(
        AvahiCall(
          life: life, purpose: purpose, path: path, interface: interface, member: member, arguments: arguments)))
  }

  static func failure(_ failure: DBusFailure) -> AvahiFailure {
    switch failure.name {
    case DBusFailure.disconnected: .noBus(words(failure))
    case DBusFailure.noReply, DBusFailure.timeout: .silent
    case DBusFailure.serviceUnknown: .notOnBus
    // The bus's own words for it take several lines.
    case DBusFailure.accessDenied: .refused("access denied")
    default: .refused(words(failure))
    }
  }

  /// Returns another program's words, safe for a terminal.
  static func words(_ failure: DBusFailure) -> String {
    InstanceLabel.displayable(failure.message.isEmpty ? failure.name : failure.message)
  }
}
