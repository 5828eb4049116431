/// Publishes one service by Multicast DNS (RFC 6762 and 6763): probes its names, announces, answers, says goodbye.
///
/// A value without a clock, randomness or sockets. Facts go in as calls, messages to send come out; `now` is the time
/// since an origin that the caller chooses, and must not go backwards. Call `deadlineReached` at `nextDeadline`, which
/// may change with every call.
public struct Responder: Sendable {
  public private(set) var registration: ServiceRegistration
  var interfaces: [InterfaceID: ResponderInterface] = [:]
  /// Records that were ours a moment ago: an old packet of our own that comes back is not a conflict.
  var retired: [(record: ResourceRecord, until: Duration)] = []
  var recentConflicts: [Duration] = []
  /// When we have yielded in a tie of probes.
  var recentTies: [Duration] = []
  var jitter: Jitter
  /// Our records on each interface, rebuilt after every change of names, addresses, port or text.
  private var current: [InterfaceID: ServiceRecords] = [:]
  private var instanceAttempt = 1
  private var hostAttempt = 1
  private(set) var instanceName = DomainName()
  private(set) var hostName = DomainName()
  private var isStopped = false

  /// - Returns: nil if a label is empty or too long, or the port is 0.
  public init?(_ registration: ServiceRegistration, random: any RandomNumberGenerator & Sendable) {
    guard registration.port != 0, registration.text.allSatisfy({ $0.count <= 255 }) else { return nil }
    self.registration = registration
    jitter = Jitter(random)
    guard updateNames() else { return nil }
  }

  /// The first label of the instance's name as it is now, after conflicts.
  public var label: [UInt8] { instanceName.firstLabel }

  /// True once every interface has announced the names as ours.
  public var isPublished: Bool { !interfaces.isEmpty && interfaces.values.allSatisfy(\.hasAnnounced) }

  public var nextDeadline: Duration? { interfaces.values.compactMap(\.nextDeadline).min() }

  /// Notes that an interface came up, or that its addresses changed.
  public mutating func interfaceAppeared(
    _ id: InterfaceID, _ traits: InterfaceTraits, at now: Duration
  ) -> [Transmission] {
    guard !isStopped else { return [] }
    guard var interface = interfaces[id] else {
      guard interfaces.count < MulticastDNS.interfaces else { return [] }
      interfaces[id] = ResponderInterface(traits: traits, phase: .probing(sent: 0, due: firstProbe(at: now)))
      current[id] = records(addresses: traits.addresses)
      return deadlineReached(at: now)
    }
    guard interface.traits != traits else { return [] }
    let gone = records(on: id).host.filter { record in !traits.addresses.contains { .address($0) == record.data } }
    retire(gone, at: now)
    interface.traits = traits
    interfaces[id] = interface
    current[id] = records(addresses: traits.addresses)
    var output: [Transmission] = []
    if interface.hasAnnounced, !gone.isEmpty {
      output += responses(to: .multicast, on: id, answers: gone.map { $0.with(timeToLive: 0) })
    }
    announceAgain(on: id, at: now)
    return output + deadlineReached(at: now)
  }

  public mutating func interfaceDisappeared(_ id: InterfaceID, at now: Duration) {
    guard interfaces[id] != nil else { return }
    retire(records(on: id).host, at: now)
    interfaces[id] = nil
    current[id] = nil
  }

  /// Changes port and text; the names stay.
  public mutating func update(port: UInt16, text: [[UInt8]], at now: Duration) -> [Transmission] {
    guard !isStopped, port != 0, text.allSatisfy({ $0.count <= 255 }) else { return [] }
    guard port != registration.port || text != registration.text else { return [] }
    if let id = interfaces.keys.min() { retire(records(on: id).instance, at: now) }
    registration.port = port
    registration.text = text
    updateRecords()
    for (id, var interface) in interfaces.sorted(by: { $0.key < $1.key }) {
      interface.pending = []
      interfaces[id] = interface
      announceAgain(on: id, at: now)
    }
    return deadlineReached(at: now)
  }

  /// Takes a message. The caller has checked that it comes from the link (RFC 6762, section 11).
  public mutating func received(
    _ message: DNSMessage, from source: MessageSource, on id: InterfaceID, at now: Duration
  ) -> [Transmission] {
    guard !isStopped, message.isStandard, interfaces[id] != nil else { return [] }
    if !message.isResponse {
      return handleQuery(message, from: source, on: id, at: now) + deadlineReached(at: now)
    }
    // Section 6: a response from any other port is ignored.
    guard source.port == MulticastDNS.port else { return [] }
    suppressDuplicates(of: message, on: id)
    detectConflicts(in: message, on: id, at: now)
    return deadlineReached(at: now)
  }

  public mutating func deadlineReached(at now: Duration) -> [Transmission] {
    var output: [Transmission] = []
    for id in interfaces.keys.sorted() {
      output += advance(id, at: now)
      output += answerPending(on: id, at: now)
    }
    return output
  }

  /// Says goodbye wherever the service was announced. Nothing is sent afterwards.
  public mutating func stop() -> [Transmission] {
    guard !isStopped else { return [] }
    isStopped = true
    var output: [Transmission] = []
    for id in interfaces.keys.sorted() where interfaces[id]?.hasAnnounced == true {
      let records = records(on: id)
      // The pointer to the type stays: others may offer the same type.
      let leaving = [records.shared[0]] + records.unique
      output += responses(to: .multicast, on: id, answers: leaving.map { $0.with(timeToLive: 0) })
    }
    interfaces = [:]
    return output
  }

  // MARK: Names

  /// - Returns: false if the names can't be formed; they then stay as they were.
  @discardableResult private mutating func updateNames() -> Bool {
    let label = InstanceLabel.renamed(registration.label, attempt: instanceAttempt)
    let suffix = hostAttempt < 2 ? [] : Array("-\(hostAttempt)".utf8)
    let host = registration.host.prefix(MulticastDNS.labelLength - suffix.count) + suffix
    guard let instance = registration.type.name.prepending(label),
      let hostName = DomainName(labels: [Array(host), Array("local".utf8)])
    else { return false }
    instanceName = instance
    self.hostName = hostName
    updateRecords()
    return true
  }

  mutating func renameInstance() {
    instanceAttempt += 1
    updateNames()
  }

  mutating func renameHost() {
    hostAttempt += 1
    updateNames()
  }

  private mutating func updateRecords() {
    current = interfaces.mapValues { records(addresses: $0.traits.addresses) }
  }

  private func records(addresses: [IPAddress]) -> ServiceRecords {
    ServiceRecords(registration, instanceName: instanceName, hostName: hostName, addresses: addresses)
  }

  func records(on id: InterfaceID) -> ServiceRecords { current[id] ?? records(addresses: []) }
}
