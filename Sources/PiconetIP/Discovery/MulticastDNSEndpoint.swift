import PiconetDNSSD
import PiconetEngine

/// The sockets of Multicast DNS, the interfaces on which they are joined, and one browser, shared by all discoveries in
/// a process: however many nodes there are, the network hears each question once. Confined to the loop that it is made
/// for.
///
/// It is open as long as a discovery uses it.
public final class MulticastDNSEndpoint {
  public struct Options: Sendable {
    /// Names of the interfaces to use, such as `lo`; nil uses all that carry multicast.
    public var interfaces: Set<String>?
    /// The seed of the random delays that RFC 6762 requires; any value.
    public var seed: UInt64

    public init(interfaces: Set<String>? = nil, seed: UInt64) {
      self.interfaces = interfaces
      self.seed = seed
    }
  }

  /// Counts of the packets over the sockets.
  public struct Statistics: Sendable, Hashable {
    public var packetsSent = 0
    public var packetsReceived = 0
    public var sendFailures = 0
    /// Packets that did not come from the link, or were not DNS messages.
    public var packetsRefused = 0
  }

  public private(set) var statistics = Statistics()
  /// The names of the interfaces in use.
  public var interfaceNames: Set<String> { Set(interfaces.keys.compactMap { monitor?.table.name(of: $0.index) }) }

  private struct User {
    let id: ObjectIdentifier
    /// The number by which the daemon knows it.
    let number: Int
    weak var discovery: DNSServiceDiscovery?
  }

  private let loop: any DatagramLoop
  private let options: Options
  private var users: [User] = []
  private var lastNumber = 0
  private var monitor: InterfaceMonitor?
  private var sockets: MulticastSockets?
  private var interfaces: [InterfaceID: InterfaceTraits] = [:]
  private var browser: Browser?
  private var timer: (due: Duration, registration: any DatagramLoopRegistration)?
  private var seed: UInt64
  private var monitorFailure: LinkFailure?
  private var retry: (any DatagramLoopRegistration)?
  /// How often it tries again to get missing resources.
  private static let retryInterval = Duration.seconds(10)
  private var daemon: PortDaemon
  /// A daemon that restarts does not get the port back from us: until then this process does not take it.
  private var portIsLeftUntil: Instant?
  private static let grace = Duration.seconds(20)
  /// How long a daemon may take to withdraw the services that this process publishes from then on.
  private static let handover = Duration.seconds(2)
  private var isTakingOver = false
  /// The present obstacles, in the order of the cases.
  public private(set) var obstacles: [DiscoveryObstacle] = []
  /// Packets read in one turn of the loop; the rest waits for the next.
  private static let packetsPerTurn = 64

  /// Creates an endpoint without opening anything yet.
  /// - Parameter daemon: used for the families whose port it keeps to itself.
  public init(loop: any DatagramLoop, options: Options, daemon: (any ResponderDaemon)? = nil) {
    self.loop = loop
    self.options = options
    self.daemon = PortDaemon(daemon)
    seed = options.seed
    self.daemon.setHandler { [weak self] in self?.daemonTold($0) }
  }

  deinit {
    timer?.registration.cancel()
    retry?.cancel()
  }

  // MARK: Users

  func add(_ discovery: DNSServiceDiscovery) {
    if users.isEmpty { open() }
    lastNumber += 1
    users.append(User(id: ObjectIdentifier(discovery), number: lastNumber, discovery: discovery))
  }

  /// Idempotent.
  func remove(_ id: ObjectIdentifier) {
    guard let index = users.firstIndex(where: { $0.id == id }) else { return }
    users.remove(at: index)
    if users.isEmpty { return close() }
    if !isSearched { browser = nil }
    updateErrand()
    setTimer()
  }

  private var discoveries: [DNSServiceDiscovery] { users.compactMap(\.discovery) }

  private var isSearched: Bool { users.contains { $0.discovery?.isSearching == true } }

  private func open() {
    sockets = MulticastSockets(loop: loop) { [weak self] in self?.receive(on: $0) }
    watchInterfaces()
    interfacesChanged()
    tryAgainLater()
  }

  private func watchInterfaces() {
    do throws(LinkFailure) {
      monitor = try InterfaceMonitor(loop: loop) { [weak self] in self?.interfacesChanged() }
      monitorFailure = nil
    } catch {
      monitorFailure = error
    }
  }

  private func tryAgainLater() {
    guard monitor == nil || sockets?.isWorthATry == true else { return }
    retry = loop.setTimer(at: loop.now + Self.retryInterval) { [weak self] in self?.tryAgain() }
  }

  private func tryAgain() {
    retry = nil
    if monitor == nil { watchInterfaces() }
    let served = daemon.served(of: sockets?.taken ?? [])
    // If a socket replaces the port, its interfaces begin anew with the right one.
    if portIsLeftUntil.map({ $0 <= loop.now }) ?? true {
      for id in (sockets?.tryAgain() ?? []).sorted() { lose(id) }
    }
    if served.isSubset(of: sockets?.taken ?? []) { return goOn() }
    // While the daemon answers, our probes would find our own names taken.
    isTakingOver = true
    updateErrand()
    retry = loop.setTimer(at: loop.now + Self.handover) { [weak self] in self?.goOn() }
  }

  private func goOn() {
    retry = nil
    isTakingOver = false
    interfacesChanged()
    tryAgainLater()
  }

  private func close() {
    browser = nil
    timer?.registration.cancel()
    timer = nil
    retry?.cancel()
    retry = nil
    sockets = nil
    monitor = nil
    interfaces = [:]
    daemon.leave()
    portIsLeftUntil = nil
    isTakingOver = false
  }

  /// Notes that a discovery has begun, restarted or stopped searching. If it is the only one, the network is asked
  /// again; the instances that others have found already are reported to it at once.
  func searchChanged(of discovery: DNSServiceDiscovery) {
    guard users.contains(where: { $0.id == ObjectIdentifier(discovery) }) else { return }
    if !isSearched {
      browser = nil
    } else if discovery.isSearching {
      let isAlone = !discoveries.contains { $0 !== discovery && $0.isSearching }
      if isAlone || browser == nil { browse() }
      replay(to: discovery)
    }
    updateErrand()
    setTimer()
  }

  private func browse() {
    browser = Browser(random: nextRandom())
    for (id, traits) in sortedInterfaces { perform(browser?.interfaceAppeared(id, traits, at: now)) }
  }

  private func replay(to discovery: DNSServiceDiscovery) {
    for instance in daemon.all(with: browser) {
      if let table = monitor?.table { discovery.browsed(.resolved(instance), table) }
    }
  }

  /// Returns the label, or the first one derived from it that no sibling has: nodes of one device share a key and often
  /// a name, and would otherwise find out only by probing.
  func freeLabel(_ label: [UInt8]) -> [UInt8] {
    let taken = Set(discoveries.compactMap(\.label))
    return (1...taken.count + 1).lazy.map { InstanceLabel.renamed(label, attempt: $0) }.first { !taken.contains($0) }
      ?? label
  }

  // MARK: Facts

  var sortedInterfaces: [(key: InterfaceID, value: InterfaceTraits)] { interfaces.sorted { $0.key < $1.key } }

  /// The interfaces on which a service can be advertised.
  var answeringInterfaces: [(key: InterfaceID, value: InterfaceTraits)] {
    sortedInterfaces.filter { sockets?.mayAnswer(on: $0.key) ?? false }
  }

  private func interfacesChanged() {
    defer { noteObstacles() }
    guard let monitor, let sockets else { return }
    var usable = monitor.table.usable(names: options.interfaces) { sockets.receivesUnicast(isIPv6: $0) }
    sockets.join(Dictionary(uniqueKeysWithValues: usable.keys.map { ($0, monitor.table.rank(of: $0)) }))
    let used = sockets.usable
    let left = daemon.left(of: sockets.taken)
    usable = usable.filter { used.contains($0.key) && !left.contains($0.key.isIPv6) }
    for id in interfaces.keys.sorted() where usable[id] == nil { lose(id) }
    for (id, traits) in usable.sorted(by: { $0.key < $1.key }) where interfaces[id] != traits {
      interfaces[id] = traits
      if sockets.mayAnswer(on: id) { for discovery in discoveries { discovery.interfaceAppeared(id, traits) } }
      perform(browser?.interfaceAppeared(id, traits, at: now))
    }
    for discovery in discoveries { discovery.interfacesChanged(monitor.table) }
    updateErrand()
    setTimer()
  }

  private func lose(_ id: InterfaceID) {
    guard interfaces.removeValue(forKey: id) != nil else { return }
    for discovery in discoveries { discovery.interfaceDisappeared(id) }
    perform(browser?.interfaceDisappeared(id, at: now))
  }

  private func noteObstacles() {
    guard let sockets else { return }
    var found: [DiscoveryObstacle] = []
    if let obstacle = daemon.obstacle(sockets.taken) { found.append(obstacle) }
    let leftOut = Set(sockets.leftOut.compactMap { monitor?.table.name(of: $0.index) })
    if !leftOut.isEmpty { found.append(.interfacesLeftOut(leftOut.sorted())) }
    // A family that the system lacks is reported only if it lacks the other as well.
    let failures = sockets.failures.sorted { !$0.key && $1.key }.map(\.value).filter { $0.code != .busy }
    let serious =
      failures.filter { $0.code != .notAvailable || failures.count > 1 } + (monitorFailure.map { [$0] } ?? [])
    if !serious.isEmpty { found.append(.failed(serious.map(\.description).joined(separator: "; "))) }
    guard found != obstacles else { return }
    obstacles = found
    for discovery in discoveries { discovery.obstaclesChanged(found) }
  }

  private func receive(on socket: MulticastSockets.ID) {
    for _ in 0..<Self.packetsPerTurn {
      // Looked up each time: a handler may have closed the last discovery.
      guard let arrival = sockets?.receive(on: socket) else { break }
      statistics.packetsReceived += 1
      let id = InterfaceID(index: arrival.index, isIPv6: socket.isIPv6)
      guard interfaces[id] != nil else { continue }
      guard arrival.wasMulticast || monitor?.table.isOnLink(arrival.source.address, index: arrival.index) ?? false,
        let message = try? DNSMessage(decoding: arrival.bytes)
      else {
        statistics.packetsRefused += 1
        continue
      }
      for discovery in discoveries { discovery.received(message, from: arrival.source, on: id) }
      perform(browser?.received(message, from: arrival.source, on: id, at: now))
    }
    setTimer()
  }

  private func deadlineReached() {
    timer = nil
    for discovery in discoveries { discovery.deadlineReached() }
    perform(browser?.deadlineReached(at: now))
    setTimer()
  }

  // MARK: The daemon that has the port

  /// Whether the daemon publishes and browses over a family.
  var isServedByDaemon: Bool { sockets.map { !daemon.served(of: $0.taken).isEmpty } ?? false }

  /// Returns the label under which the daemon publishes a service; nil if it does not.
  func daemonLabel(of discovery: DNSServiceDiscovery) -> [UInt8]? {
    users.first { $0.discovery === discovery }.flatMap { daemon.labels[$0.number] }
  }

  /// Updates the daemon's errand to the wishes of the users, and to the families whose port it has.
  func updateErrand() {
    guard let sockets else { return }
    var errand = ResponderErrand(families: sockets.taken, searches: isSearched)
    for user in users { errand.services[user.number] = user.discovery?.registration }
    if options.interfaces != nil {
      let usable = monitor?.table.usable(names: options.interfaces) { _ in false } ?? [:]
      errand.interfaces = Set(usable.keys.map(\.index))
    }
    daemon.serve(errand)
  }

  private func daemonTold(_ report: ResponderDaemonReport) {
    guard sockets != nil else { return }
    let wasServing = daemon.status.isServing
    let isNewStatus = daemon.take(report)
    if case .browsed(let change) = report { tell(daemon.joined(change, with: browser)) }
    guard isNewStatus else { return }
    if daemon.status.isServing { portIsLeftUntil = nil } else if wasServing { portIsLeftUntil = loop.now + Self.grace }
    if !isTakingOver { interfacesChanged() }
  }

  // MARK: Effects

  private func perform(_ output: BrowserOutput?) {
    guard let output else { return }
    send(output.transmissions)
    for change in output.reports { tell(daemon.joined(change)) }
  }

  private func tell(_ change: BrowserReport) {
    for discovery in discoveries {
      if let table = monitor?.table { discovery.browsed(change, table) }
    }
  }

  func send(_ transmissions: [Transmission]) {
    for transmission in transmissions {
      guard let sockets else { return }
      if sockets.send(transmission) { statistics.packetsSent += 1 } else { statistics.sendFailures += 1 }
    }
  }

  func setTimer() {
    let due = (discoveries.map(\.nextDeadline) + [browser?.nextDeadline]).compactMap { $0 }.min()
    if due == timer?.due { return }
    timer?.registration.cancel()
    timer = due.map { due in
      let deadline = Instant(nanoseconds: UInt64(clamping: max(0, due.wholeNanoseconds)))
      return (due, loop.setTimer(at: deadline) { [weak self] in self?.deadlineReached() })
    }
  }

  /// The machines' clock: the loop's time since its origin.
  var now: Duration { .nanoseconds(Int64(clamping: loop.now.nanoseconds)) }

  /// The random numbers of the next machine.
  func nextRandom() -> SeededRandom {
    seed &+= 0x9E37_79B9_7F4A_7C15
    return SeededRandom(seed: seed)
  }
}
