import PiconetDNSSD

/// The daemon that publishes and browses over the families whose port it has, with its errand and its reports. Confined
/// to the loop.
struct PortDaemon {
  /// Nil: this build has no daemon.
  private let daemon: (any ResponderDaemon)?
  private(set) var status = ResponderDaemonStatus.trying
  private var errand = ResponderErrand()
  private var instances: [DomainName: ResolvedInstance] = [:]
  /// The labels under which it publishes, by the numbers of the services.
  private(set) var labels: [Int: [UInt8]] = [:]

  init(_ daemon: (any ResponderDaemon)?) { self.daemon = daemon }

  func setHandler(_ handler: @escaping (ResponderDaemonReport) -> Void) { daemon?.setHandler(handler) }

  /// Sets the errand; the daemon is told only changes.
  mutating func serve(_ errand: ResponderErrand) {
    let errand = errand.isIdle ? ResponderErrand() : errand
    guard errand != self.errand else { return }
    self.errand = errand
    daemon?.serve(errand)
  }

  /// Ends the daemon's work, and forgets its reports.
  mutating func leave() {
    serve(ResponderErrand())
    status = .trying
    instances = [:]
    labels = [:]
  }

  /// - Returns: whether the status is a new one.
  mutating func take(_ report: ResponderDaemonReport) -> Bool {
    switch report {
    case .published(let number, let label): labels[number] = label
    case .browsed(.resolved(let instance)), .browsed(.updated(let instance)): instances[instance.name] = instance
    case .browsed(.removed(let name)): instances[name] = nil
    case .status(let status):
      defer { self.status = status }
      return status != self.status
    }
    return false
  }

  /// Returns the families that it serves of those whose port is taken.
  func served(of taken: Set<Bool>) -> Set<Bool> { status.isServing ? taken : [] }

  /// Returns the families over which this process does not browse itself: those that the daemon serves, or may serve in
  /// a moment.
  func left(of taken: Set<Bool>) -> Set<Bool> {
    if case .failing = status { return [] }
    return daemon == nil ? [] : taken
  }

  // MARK: Found instances

  /// Returns all instances known to it and to our own browser.
  func all(with own: Browser?) -> [ResolvedInstance] {
    let others = instances.filter { own?.instance(named: $0.key) == nil }.sorted { $0.key < $1.key }
    return (own?.instances ?? []).map(joined) + others.map(\.value)
  }

  /// Returns a report of our own browser, joined with the daemon's knowledge of the same name.
  func joined(_ change: BrowserReport) -> BrowserReport {
    switch change {
    case .resolved(let own), .updated(let own): instances[own.name] == nil ? change : .updated(joined(own))
    case .removed(let name): instances[name].map { .updated($0) } ?? change
    }
  }

  /// Returns a report of the daemon, joined with our own browser's knowledge of the same name.
  func joined(_ change: BrowserReport, with browser: Browser?) -> BrowserReport {
    let name =
      switch change {
      case .resolved(let instance), .updated(let instance): instance.name
      case .removed(let name): name
      }
    return browser?.instance(named: name).map { .updated(joined($0)) } ?? change
  }

  private func joined(_ own: ResolvedInstance) -> ResolvedInstance {
    instances[own.name].map { own.joined(with: $0) } ?? own
  }

  // MARK: Obstacles

  /// Returns nil as long as it publishes for us, was not asked, or has not answered.
  func obstacle(_ taken: Set<Bool>) -> DiscoveryObstacle? {
    var failures: [Bool: AvahiFailure] = [:]
    for isIPv6 in taken { failures[isIPv6] = daemon == nil ? .notBuilt : status.failure(isIPv6: isIPv6) }
    guard let failure = failures[false] ?? failures[true] else { return nil }
    return .portTaken(ipv4: failures[false] != nil, ipv6: failures[true] != nil, avahi: failure)
  }
}
